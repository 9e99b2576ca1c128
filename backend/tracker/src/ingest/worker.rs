//! A member of the ingest group: announces itself, agrees on queues, and keeps a reader on each of its own.

use std::collections::HashMap;
use std::sync::Arc;

use millrace_broker::{BrokerError, Cluster};
use millrace_core::name::QueueRef;
use millrace_core::time::{Clock, Millis};
use millrace_store::TraceStore;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::IngestSettings;
use super::allocation::allocate;
use super::metrics::Metrics;
use super::reader::{Reader, Stretch};
use super::state::{IngestState, WorkerHealth};
use super::topics::discover;
use super::writer::Writer;

/// Stretches between readers and writer; a full channel makes the readers wait.
const CHANNEL: usize = 64;
/// How often old segments are looked for.
const RETAIN_EVERY_MS: i64 = 60_000;

pub(super) async fn run(
    cluster: Cluster,
    store: Arc<dyn TraceStore>,
    settings: IngestSettings,
    clock: Arc<dyn Clock>,
    state: Arc<IngestState>,
    stop: CancellationToken,
) {
    let (out, input) = mpsc::channel(CHANNEL);
    let (restart, mut restarts) = mpsc::channel(CHANNEL);
    let writer = Writer {
        store: Arc::clone(&store),
        tail: Arc::clone(&cluster.tail),
        settings: settings.clone(),
        clock: Arc::clone(&clock),
        state: Arc::clone(&state),
        metrics: Metrics::register(&cluster.name, &state, &clock),
        input,
        restart,
        stop: stop.clone(),
    };
    let writing = tokio::spawn(writer.run());
    let mut worker = Worker {
        cluster,
        store,
        settings,
        state: Arc::clone(&state),
        clock: Arc::clone(&clock),
        out,
        readers: HashMap::new(),
    };
    let mut tick = tokio::time::interval(worker.settings.rebalance_every);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut retained = Millis(i64::MIN);
    loop {
        tokio::select! {
            () = stop.cancelled() => break,
            Some(queue) = restarts.recv() => worker.stop_reader(&queue).await,
            _ = tick.tick() => {}
        }
        if let Err(why) = worker.rebalance().await {
            tracing::warn!(why, "the trace queues cannot be shared out, trying again");
            state.health(WorkerHealth::Degraded { why });
        }
        let now = clock.now();
        if now.since(retained) >= RETAIN_EVERY_MS {
            retained = now;
            worker.retain(now).await;
        }
    }
    worker.leave().await;
    if let Err(error) = writing.await {
        tracing::error!(%error, "the trace writer ended by a panic");
    }
    state.health(WorkerHealth::Stopped);
}

struct Running {
    stop: CancellationToken,
    task: JoinHandle<()>,
}

struct Worker {
    cluster: Cluster,
    store: Arc<dyn TraceStore>,
    settings: IngestSettings,
    state: Arc<IngestState>,
    clock: Arc<dyn Clock>,
    out: mpsc::Sender<Stretch>,
    readers: HashMap<QueueRef, Running>,
}

impl Worker {
    /// One round: say that we live, hear who else does, and read exactly our share.
    async fn rebalance(&mut self) -> Result<(), String> {
        let found = discover(&*self.cluster.read, &self.settings.custom_topics).await.map_err(told)?;
        let topics: Vec<String> = found.by_topic.keys().cloned().collect();
        let (group, client) = (&self.settings.group, &self.settings.client);
        self.cluster.tail.heartbeat(group, client, &topics).await.map_err(told)?;
        let mut mine = Vec::new();
        let mut everybody = Vec::new();
        for (topic, queues) in &found.by_topic {
            let members = self.cluster.tail.members(group, topic).await.map_err(told)?;
            mine.extend(allocate(client, &members, queues));
            everybody.extend(members);
        }
        everybody.sort_unstable();
        everybody.dedup();
        // A broker that did not answer keeps its readers: they wait for it.
        let silent: Vec<&str> = found.coverage.missed.iter().map(|missed| missed.what.as_str()).collect();
        let gone: Vec<QueueRef> = self
            .readers
            .iter()
            .filter(|(queue, running)| {
                running.task.is_finished() || (!mine.contains(queue) && !silent.contains(&queue.broker.as_str()))
            })
            .map(|(queue, _)| queue.clone())
            .collect();
        for queue in gone {
            self.stop_reader(&queue).await;
        }
        self.start_readers(mine).await?;
        self.state.rebalanced(everybody, topics, found.coverage, found.unreadable);
        Ok(())
    }

    async fn start_readers(&mut self, queues: Vec<QueueRef>) -> Result<(), String> {
        let new: Vec<QueueRef> = queues.into_iter().filter(|queue| !self.readers.contains_key(queue)).collect();
        if new.is_empty() {
            return Ok(());
        }
        let positions = self.store.positions().await.map_err(|error| error.to_string())?;
        for queue in new {
            let start = positions.iter().find(|p| p.queue == queue).map(|p| (p.next, p.stored));
            let stop = CancellationToken::new();
            let reader = Reader {
                read: Arc::clone(&self.cluster.read),
                tail: Arc::clone(&self.cluster.tail),
                group: self.settings.group.clone(),
                queue: queue.clone(),
                start,
                state: Arc::clone(&self.state),
                clock: Arc::clone(&self.clock),
                out: self.out.clone(),
                stop: stop.clone(),
            };
            self.readers.insert(queue, Running { stop, task: tokio::spawn(reader.run()) });
        }
        Ok(())
    }

    async fn stop_reader(&mut self, queue: &QueueRef) {
        if let Some(running) = self.readers.remove(queue) {
            running.stop.cancel();
            let _ = running.task.await;
        }
    }

    async fn retain(&self, now: Millis) {
        match self.store.retain(self.settings.retention, now).await {
            Ok(dropped) => {
                for drop in dropped {
                    tracing::info!(
                        segment = drop.segment.id,
                        records = drop.segment.records,
                        bytes = drop.segment.bytes,
                        why = drop.why,
                        "dropped a trace segment"
                    );
                }
            }
            Err(error) => tracing::error!(%error, "old trace segments could not be dropped"),
        }
    }

    /// Stops every reader, closes the writer's input, and leaves the group.
    async fn leave(self) {
        for running in self.readers.values() {
            running.stop.cancel();
        }
        for (_, running) in self.readers {
            let _ = running.task.await;
        }
        if let Err(error) = self.cluster.tail.leave(&self.settings.group, &self.settings.client).await {
            tracing::debug!(%error, "the broker was not told that this worker leaves");
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "shaped for map_err")]
fn told(error: BrokerError) -> String {
    error.to_string()
}
