//! One cluster as the console sees it: the ports, the snapshot, the audit trail and the clock.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use millrace_broker::{BrokerRead, BrokerSend, BrokerTail, BrokerWrite, Cluster};
use millrace_core::time::{Clock, Millis};
use millrace_store::{AuditEntry, AuditOutcome, HistoryStore, MetaStore, ResendStore};

use crate::error::{ConsoleError, Result};
use crate::snapshot::{Snapshot, SnapshotSource};

#[derive(Debug, Clone)]
pub struct Console {
    cluster: Cluster,
    snapshots: SnapshotSource,
    meta: Arc<dyn MetaStore>,
    clock: Arc<dyn Clock>,
}

impl Console {
    pub fn new(cluster: Cluster, snapshots: SnapshotSource, meta: Arc<dyn MetaStore>, clock: Arc<dyn Clock>) -> Self {
        Self { cluster, snapshots, meta, clock }
    }

    /// The cluster's name in the configuration.
    pub fn name(&self) -> &str {
        &self.cluster.name
    }

    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.snapshots.current()
    }

    pub fn snapshots(&self) -> &SnapshotSource {
        &self.snapshots
    }

    /// A name for one filled-in form, that no other has: what is sent with it is sent once.
    pub fn new_attempt(&self) -> String {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        // Every state hashes otherwise.
        let own = RandomState::new().hash_one(COUNT.fetch_add(1, Ordering::Relaxed));
        format!("{:x}-{own:016x}", self.now().0)
    }

    pub fn now(&self) -> Millis {
        self.clock.now()
    }

    /// Whether topics can be created and deleted here.
    pub fn writable(&self) -> bool {
        self.cluster.write.is_some()
    }

    /// Whether messages can be sent here.
    pub fn sendable(&self) -> bool {
        self.cluster.send.is_some()
    }

    pub(crate) fn read(&self) -> &dyn BrokerRead {
        self.cluster.read.as_ref()
    }

    pub(crate) fn tail(&self) -> &dyn BrokerTail {
        self.cluster.tail.as_ref()
    }

    pub(crate) fn write(&self) -> Result<&dyn BrokerWrite> {
        self.cluster.write.as_deref().ok_or_else(|| ConsoleError::ReadOnly(self.cluster.name.clone()))
    }

    /// What was sent again, and must not be by accident.
    pub(crate) fn resends(&self) -> &dyn ResendStore {
        self.meta.as_ref()
    }

    /// What the cluster looked like before.
    pub(crate) fn history(&self) -> &dyn HistoryStore {
        self.meta.as_ref()
    }

    pub(crate) fn sender(&self) -> Result<&dyn BrokerSend> {
        self.cluster.send.as_deref().ok_or_else(|| ConsoleError::ReadOnly(self.cluster.name.clone()))
    }

    /// Writes down what was done. The act is done by then, so a failing audit is told and does not undo it.
    pub(crate) async fn audit(&self, act: Act<'_>, outcomes: &[Outcome]) -> Option<String> {
        let entry = AuditEntry {
            at: self.now(),
            who: act.who.to_owned(),
            cluster: self.cluster.name.clone(),
            action: act.action.to_owned(),
            target: act.target.to_owned(),
            detail: act.detail.to_string(),
            outcomes: outcomes
                .iter()
                .map(|outcome| AuditOutcome { at: outcome.at.clone(), error: outcome.error.clone() })
                .collect(),
        };
        let error = self.meta.audit(&entry).await.err()?;
        tracing::error!(%error, action = act.action, target = act.target, "an act could not be written to the audit trail");
        Some(error.to_string())
    }
}

/// What is written to the audit trail.
#[derive(Debug)]
pub(crate) struct Act<'a> {
    pub(crate) who: &'a str,
    pub(crate) action: &'a str,
    pub(crate) target: &'a str,
    pub(crate) detail: serde_json::Value,
}

/// What came of an act at one place.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Outcome {
    /// The broker's or name server's name.
    pub at: String,
    /// `None`: it worked.
    pub error: Option<String>,
}

/// What came of an act at every place that it was for.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Outcomes {
    pub each: Vec<Outcome>,
    /// Why the audit trail does not have it.
    pub audit_error: Option<String>,
}

impl Outcomes {
    pub fn failed(&self) -> usize {
        self.each.iter().filter(|outcome| outcome.error.is_some()).count()
    }

    pub fn succeeded(&self) -> usize {
        self.each.len() - self.failed()
    }
}
