//! Sends that must not happen twice: who sends a stored message again claims it first.

use async_trait::async_trait;
use millrace_core::name::QueueRef;
use millrace_core::time::Millis;

use crate::Result;

/// One stored message in one attempt to send it again. The attempt is one filled-in form: pressed twice, it is the same.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Resend {
    pub cluster: String,
    pub attempt: String,
    pub queue: QueueRef,
    pub offset: i64,
}

/// What a claim finds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// Nobody had it: it is the caller's to send.
    Ours,
    /// It was begun and did not end: it may have been sent.
    Begun {
        at: Millis,
    },
    Sent {
        at: Millis,
        message_id: String,
    },
}

/// A message that was sent again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resent {
    pub queue: QueueRef,
    pub offset: i64,
    pub at: Millis,
    pub who: String,
    /// The id that it was sent as.
    pub message_id: String,
}

#[async_trait]
pub trait ResendStore: Send + Sync + std::fmt::Debug {
    async fn claim(&self, resend: &Resend, who: &str, at: Millis) -> Result<Claim>;
    /// It was sent.
    async fn sent(&self, resend: &Resend, message_id: &str) -> Result<()>;
    /// It was certainly not sent.
    async fn release(&self, resend: &Resend) -> Result<()>;
    /// What was sent again of one queue's messages from `from` to `to`, both included; newest first.
    async fn resent(&self, cluster: &str, queue: &QueueRef, from: i64, to: i64) -> Result<Vec<Resent>>;
}
