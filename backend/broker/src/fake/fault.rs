//! What can be wrong with a broker of the fake, and the names of its calls.

use std::time::Duration;

use crate::{BrokerError, Result, StoreStatus};

/// How a broker misbehaves.
#[derive(Debug, Clone)]
pub enum Fault {
    /// Connections are refused.
    Dead,
    /// It answers late.
    Slow(Duration),
    /// It never answers: the caller's deadline of so many milliseconds passes.
    Silent(u64),
    /// It answers an error.
    Answers(BrokerError),
}

impl Fault {
    pub(super) async fn meet(self, address: &str) -> Result<()> {
        match self {
            Self::Dead => {
                Err(BrokerError::Unreachable { address: address.to_owned(), why: "connection refused".to_owned() })
            }
            Self::Slow(delay) => {
                tokio::time::sleep(delay).await;
                Ok(())
            }
            Self::Silent(millis) => {
                tokio::time::sleep(Duration::from_millis(millis)).await;
                Err(BrokerError::TimedOut { address: address.to_owned(), millis })
            }
            Self::Answers(error) => Err(error),
        }
    }
}

/// A call of the port, to count it or to make it fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Call {
    Topology,
    NameServers,
    Reachable,
    Runtime,
    Config,
    Topics,
    Route,
    TopicStats,
    GroupsOfTopic,
    Groups,
    GroupOffsets,
    Lag,
    Consumers,
    Running,
    MessagesByKey,
    MessagesByUniqId,
    MessageAt,
    OffsetAt,
    Bounds,
    Pull,
    PutTopic,
    DeleteTopic,
    DeleteRoute,
    PutGroup,
    DeleteGroup,
    ResetOffset,
    Heartbeat,
    Members,
    Leave,
    Tail,
    Committed,
    Commit,
    Send,
    Forward,
}

/// How a forwarded message fares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forwarded {
    /// Stored, with this said of it.
    As(StoreStatus),
    /// Stored, and the answer does not arrive.
    AnswerLost,
    /// Put among the group's dead letters instead, and answered as if it were not.
    DeadAgain,
}
