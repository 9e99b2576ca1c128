//! A console on a fake cluster, with a clock that follows tokio's and an audit trail that can be read back.

use std::sync::Arc;

use millrace_broker::fake::FakeCluster;
use millrace_broker::{Cluster, MessageType, Perm, TopicConfig};
use millrace_console::Console;
use millrace_console::snapshot::{KeeperOptions, keep};
use millrace_core::name::QueueRef;
use millrace_core::time::{Clock, Millis};
use millrace_store::fake::FakeMeta;
use tokio::task::JoinHandle;
use tokio::time::{Duration, Instant};
use tokio_util::sync::{CancellationToken, DropGuard};

pub(crate) const START: i64 = 1_800_000_000_000;

#[derive(Debug)]
pub(crate) struct TokioClock {
    at: Millis,
    since: Instant,
}

impl TokioClock {
    pub(crate) fn starting(at: Millis) -> Self {
        Self { at, since: Instant::now() }
    }
}

impl Clock for TokioClock {
    fn now(&self) -> Millis {
        self.at.plus(i64::try_from(self.since.elapsed().as_millis()).unwrap())
    }
}

pub(crate) struct World {
    pub(crate) console: Console,
    pub(crate) audit: Arc<FakeMeta>,
    _stop: DropGuard,
    _keeper: JoinHandle<()>,
}

impl World {
    /// Waits for the first complete round.
    pub(crate) async fn of(fake: &FakeCluster) -> Self {
        Self::with(fake.cluster(), KeeperOptions::default()).await
    }

    pub(crate) async fn with(cluster: Cluster, options: KeeperOptions) -> Self {
        let world = Self::starting(cluster, options);
        world.refresh().await;
        world
    }

    pub(crate) fn starting(cluster: Cluster, options: KeeperOptions) -> Self {
        let clock: Arc<dyn Clock> = Arc::new(TokioClock::starting(Millis(START)));
        let stop = CancellationToken::new();
        let (source, keeper) = keep(&cluster, Arc::clone(&clock), options, stop.clone());
        let audit = Arc::new(FakeMeta::default());
        let console = Console::new(cluster, source, Arc::<FakeMeta>::clone(&audit), clock);
        Self { console, audit, _stop: stop.drop_guard(), _keeper: tokio::spawn(keeper) }
    }

    pub(crate) async fn refresh(&self) {
        assert!(self.console.snapshots().refresh(Duration::from_mins(1)).await, "no round came to an end");
    }
}

pub(crate) fn queue(topic: &str, broker: &str, queue: i32) -> QueueRef {
    QueueRef { topic: topic.to_owned(), broker: broker.to_owned(), queue }
}

pub(crate) fn config(name: &str, queues: u32, message_type: MessageType) -> TopicConfig {
    TopicConfig {
        name: name.to_owned(),
        read_queues: queues,
        write_queues: queues,
        perm: Perm::READ_WRITE,
        message_type,
        order: false,
        attributes: std::collections::BTreeMap::new(),
    }
}
