//! What goes wrong between Millrace and a broker, told so that a person knows what to do.

pub type Result<T> = std::result::Result<T, BrokerError>;

#[derive(Debug, thiserror::Error, Clone)]
pub enum BrokerError {
    /// No name server answered.
    #[error("no name server answered ({0})")]
    NoNameServer(String),
    /// The address could not be dialled, or the connection broke.
    #[error("{address} is unreachable: {why}")]
    Unreachable { address: String, why: String },
    #[error("{address} did not answer within {millis} ms")]
    TimedOut { address: String, millis: u64 },
    /// The broker's name is not in the name servers' answer.
    #[error("no broker {0} in this cluster")]
    NoSuchBroker(String),
    /// The thing asked for is not there. Not a fault.
    #[error("{0} is not there")]
    NotFound(String),
    /// ACL: the account lacks a right.
    #[error("{address} refused: {remark}")]
    NotPermitted { address: String, remark: String },
    /// The broker answered with an error of its own.
    #[error("{address} answered with code {code}: {remark}")]
    Answered { address: String, code: i32, remark: String },
    /// Something came back that is not the protocol.
    #[error("{address} sent something that is not understood: {why}")]
    Protocol { address: String, why: String },
    /// The request was refused before it was sent.
    #[error("{0}")]
    Invalid(String),
}

impl BrokerError {
    /// Whether the same call may succeed later without anybody changing anything.
    pub fn transient(&self) -> bool {
        matches!(self, Self::NoNameServer(_) | Self::Unreachable { .. } | Self::TimedOut { .. })
    }
}
