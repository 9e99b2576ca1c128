//! What people did: the audit trail, and what was sent again; beside it what clusters looked like.

use async_trait::async_trait;
use millrace_core::time::Millis;
use serde::{Deserialize, Serialize};

use crate::{HistoryStore, ResendStore, Result};

/// One act of a person or a program on a cluster, with what came of it, failures too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    pub at: Millis,
    pub who: String,
    pub cluster: String,
    /// `topic.create`, `topic.delete`, `message.send`.
    pub action: String,
    /// What it was done to.
    pub target: String,
    /// The request, as JSON.
    pub detail: String,
    /// One for each broker that was asked.
    pub outcomes: Vec<AuditOutcome>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditOutcome {
    /// A broker's or name server's name.
    pub at: String,
    /// `None`: it worked.
    pub error: Option<String>,
}

#[async_trait]
pub trait MetaStore: ResendStore + HistoryStore {
    async fn audit(&self, entry: &AuditEntry) -> Result<()>;
    /// Newest first.
    async fn audit_trail(&self, cluster: &str, limit: u32) -> Result<Vec<AuditEntry>>;
    /// Whether the database answers and can be written.
    async fn check(&self) -> Result<()>;
}
