//! What keeps the console from doing what was asked.

use millrace_broker::BrokerError;
use millrace_store::StoreError;

use crate::form::FieldErrors;

pub type Result<T> = std::result::Result<T, ConsoleError>;

#[derive(Debug, thiserror::Error)]
pub enum ConsoleError {
    /// What was typed is not what the act needs: each field with its error.
    #[error("{0}")]
    Invalid(FieldErrors),
    #[error("cluster {0} is read-only here")]
    ReadOnly(String),
    /// Nothing was sent to a broker: RocketMQ itself needs this topic.
    #[error("topic {0} belongs to RocketMQ itself")]
    SystemTopic(String),
    /// Nothing was sent to a broker: RocketMQ itself needs this group.
    #[error("group {0} belongs to RocketMQ itself")]
    SystemGroup(String),
    /// The cluster was asked and has no such thing.
    #[error("{0} is not there")]
    NotFound(String),
    #[error(transparent)]
    Broker(BrokerError),
    /// Millrace's own database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<BrokerError> for ConsoleError {
    fn from(error: BrokerError) -> Self {
        match error {
            BrokerError::NotFound(what) => Self::NotFound(what),
            other => Self::Broker(other),
        }
    }
}

impl From<FieldErrors> for ConsoleError {
    fn from(errors: FieldErrors) -> Self {
        Self::Invalid(errors)
    }
}
