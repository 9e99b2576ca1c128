//! What goes wrong between Millrace and a broker, told so that a person knows what to do.

use millrace_core::coverage::Why;

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

/// What pages say of it where a part of them could not be read.
impl From<&BrokerError> for Why {
    fn from(error: &BrokerError) -> Self {
        match error.clone() {
            BrokerError::NoNameServer(detail) => Self::NoNameServer(detail),
            BrokerError::Unreachable { address, why } => Self::Unreachable { address, detail: why },
            BrokerError::TimedOut { address, millis } => Self::TimedOut { address, millis },
            BrokerError::NoSuchBroker(name) => Self::NoSuchBroker(name),
            BrokerError::NotFound(what) => Self::NotThere(what),
            BrokerError::NotPermitted { address, remark } => Self::NotPermitted { address, remark },
            BrokerError::Answered { address, code, remark } => Self::Answered { address, code, remark },
            other => Self::Said(other.to_string()),
        }
    }
}

impl From<BrokerError> for Why {
    fn from(error: BrokerError) -> Self {
        Self::from(&error)
    }
}

impl BrokerError {
    /// Whether what was asked for was certainly not done.
    pub fn refused(&self) -> bool {
        !matches!(self, Self::Unreachable { .. } | Self::TimedOut { .. } | Self::Protocol { .. })
    }

    /// Whether the same call may succeed later without anybody changing anything.
    pub fn transient(&self) -> bool {
        matches!(self, Self::NoNameServer(_) | Self::Unreachable { .. } | Self::TimedOut { .. })
    }
}
