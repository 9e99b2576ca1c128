//! Reading the trace topics into the trace store.
//!
//! Workers of one consumer group share the queues by RocketMQ's own membership and allocation; each worker runs a
//! [`reader`] for every queue it owns, and all readers feed one [`writer`]. Invariant: a queue's position moves in the
//! same transaction as the messages before it, so a crash at any point neither loses nor doubles one.

mod allocation;
mod metrics;
mod reader;
mod state;
mod topics;
mod worker;
mod writer;

use std::sync::Arc;
use std::time::Duration;

use millrace_broker::Cluster;
use millrace_core::time::Clock;
use millrace_store::{Retention, TraceStore};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub use state::{IngestState, IngestStatus, QueueProgress, WorkerHealth};

/// How ingest runs on one cluster.
#[derive(Debug, Clone)]
pub struct IngestSettings {
    /// The consumer group that all Millrace workers of this cluster share.
    pub group: String,
    /// This worker's client id; distinct among the group's members.
    pub client: String,
    /// Trace topics beside the system's and the CLOUD channel's.
    pub custom_topics: Vec<String>,
    /// Records a transaction at most.
    pub batch_records: usize,
    /// How long a record waits for others to share its transaction.
    pub batch_wait: Duration,
    /// How often membership, topics and queues are looked at again.
    pub rebalance_every: Duration,
    pub retention: Retention,
}

impl IngestSettings {
    pub fn new(client: impl Into<String>) -> Self {
        Self {
            group: "millrace_trace_ingest".to_owned(),
            client: client.into(),
            custom_topics: Vec::new(),
            batch_records: 8_000,
            batch_wait: Duration::from_millis(200),
            rebalance_every: Duration::from_secs(5),
            retention: Retention { max_age_ms: 3 * 24 * 3_600_000, max_bytes: 50 << 30 },
        }
    }
}

/// A running ingest: its state for pages and its task for the shutdown.
#[derive(Debug)]
pub struct Ingest {
    pub state: Arc<IngestState>,
    task: JoinHandle<()>,
}

impl Ingest {
    /// Starts reading. Faults of the cluster or the store are shown in the state and retried; they never end the task.
    pub fn start(
        cluster: Cluster,
        store: Arc<dyn TraceStore>,
        settings: IngestSettings,
        clock: Arc<dyn Clock>,
        stop: CancellationToken,
    ) -> Self {
        let state = Arc::new(IngestState::new(&cluster.name, &settings));
        let task = tokio::spawn(worker::run(cluster, store, settings, clock, Arc::clone(&state), stop));
        Self { state, task }
    }

    /// Waits until everything that was read is written, after `stop` was cancelled.
    pub async fn finished(self) {
        if let Err(error) = self.task.await {
            tracing::error!(%error, "ingest ended by a panic");
        }
    }
}
