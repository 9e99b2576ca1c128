//! The task that reads a cluster once a tick and hands out the newest snapshot.
//!
//! It never gives up: a cluster that is down is read again at the next tick, and a snapshot that says so is served
//! meanwhile.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use millrace_broker::{BrokerRead, Cluster};
use millrace_core::time::Clock;
use tokio::sync::watch;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use super::broker::{read_broker, within};
use super::memory::Memory;
use super::{Snapshot, derive};

/// How often and how hard a cluster is read.
#[derive(Debug, Clone, Copy)]
pub struct KeeperOptions {
    pub tick: Duration,
    /// For one call to one broker.
    pub broker_deadline: Duration,
    /// For all calls to one broker that take turns, in one round.
    pub turns_deadline: Duration,
    /// Brokers read at once.
    pub brokers_at_once: usize,
    /// How many of them are under way at once.
    pub turns_at_once: usize,
    /// Topic statistics asked of one broker in one round.
    pub stats_per_tick: usize,
    /// Groups whose clients are asked for at one broker in one round.
    pub groups_per_tick: usize,
    /// Messages that a group has not passed yet, whose age is asked of one broker in one round.
    pub unread_per_tick: usize,
}

impl Default for KeeperOptions {
    fn default() -> Self {
        Self {
            tick: Duration::from_secs(5),
            broker_deadline: Duration::from_secs(3),
            turns_deadline: Duration::from_secs(4),
            brokers_at_once: 32,
            turns_at_once: 32,
            stats_per_tick: 500,
            groups_per_tick: 250,
            unread_per_tick: 250,
        }
    }
}

/// While a round runs, what came in so far is shown this often.
const SHOW_EVERY: Duration = Duration::from_millis(500);

/// Where the newest snapshot is had.
#[derive(Debug, Clone)]
pub struct SnapshotSource {
    newest: watch::Receiver<Arc<Snapshot>>,
    requests: Arc<watch::Sender<u64>>,
}

impl SnapshotSource {
    pub fn current(&self) -> Arc<Snapshot> {
        Arc::clone(&self.newest.borrow())
    }

    /// Tells of every new snapshot.
    pub fn watch(&self) -> watch::Receiver<Arc<Snapshot>> {
        self.newest.clone()
    }

    /// Waits for a round that began after this call, but no longer than `at_most`. Says whether it came.
    pub async fn refresh(&self, at_most: Duration) -> bool {
        let mut request = 0;
        self.requests.send_modify(|count| {
            *count += 1;
            request = *count;
        });
        let mut newest = self.newest.clone();
        let fresh = newest.wait_for(|snapshot| snapshot.answers >= request);
        matches!(tokio::time::timeout(at_most, fresh).await, Ok(Ok(_)))
    }
}

/// Gives the source, and the task that feeds it until `stop`. The caller owns the task.
pub fn keep(
    cluster: &Cluster,
    clock: Arc<dyn Clock>,
    options: KeeperOptions,
    stop: CancellationToken,
) -> (SnapshotSource, impl Future<Output = ()> + Send + 'static) {
    let memory = Memory { cluster: cluster.name.clone(), ..Memory::default() };
    let first = Snapshot { cluster: cluster.name.clone(), ..Snapshot::default() };
    let (shown, newest) = watch::channel(Arc::new(first));
    let (requests, requested) = watch::channel(0);
    let source = SnapshotSource { newest, requests: Arc::new(requests) };
    let keeper = Keeper { read: Arc::clone(&cluster.read), clock, options, shown, requested };
    let task = async move {
        stop.run_until_cancelled(keeper.run(memory)).await;
    };
    (source, task)
}

struct Keeper {
    read: Arc<dyn BrokerRead>,
    clock: Arc<dyn Clock>,
    options: KeeperOptions,
    shown: watch::Sender<Arc<Snapshot>>,
    requested: watch::Receiver<u64>,
}

impl Keeper {
    async fn run(mut self, mut memory: Memory) {
        let mut ticks = tokio::time::interval(self.options.tick);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut asking = true;
        loop {
            tokio::select! {
                _ = ticks.tick() => {}
                changed = self.requested.changed(), if asking => {
                    // No source is left to ask for more: the tick goes on.
                    asking = changed.is_ok();
                    if !asking {
                        continue;
                    }
                }
            }
            memory = self.round(memory).await;
            // A round that was asked for stands in for the next tick's.
            ticks.reset();
        }
    }

    /// Reads everything once.
    async fn round(&mut self, mut memory: Memory) -> Memory {
        let request = *self.requested.borrow_and_update();
        let deadline = self.options.broker_deadline;
        let (topology, name_servers) = tokio::join!(
            within(deadline, "the name servers", self.read.topology()),
            tokio::time::timeout(deadline, self.read.name_servers()),
        );
        if let Ok(name_servers) = name_servers {
            memory.name_servers =
                name_servers.into_iter().map(|(address, result)| (address, result.err().map(Into::into))).collect();
        }
        memory.put_topology(topology, self.clock.now());

        let mut waiting = memory.listed().into_iter();
        let mut readings = FuturesUnordered::new();
        let mut show = tokio::time::interval_at(tokio::time::Instant::now() + SHOW_EVERY, SHOW_EVERY);
        let mut unseen = true;
        loop {
            while readings.len() < self.options.brokers_at_once.max(1)
                && let Some(state) = waiting.next()
            {
                readings.push(read_broker(Arc::clone(&self.read), Arc::clone(&self.clock), state, self.options));
            }
            tokio::select! {
                state = readings.next() => {
                    let Some(state) = state else { break };
                    memory.brokers.insert(state.broker.name.clone(), Arc::new(state));
                    unseen = true;
                }
                _ = show.tick(), if unseen => {
                    memory = self.show(memory, false).await;
                    unseen = false;
                }
            }
        }
        memory.rounds += 1;
        memory.answers = request;
        self.show(memory, true).await
    }

    /// Puts the snapshot together away from the tasks that answer requests: with ten thousand topics it takes a while.
    async fn show(&self, mut memory: Memory, complete: bool) -> Memory {
        let now = self.clock.now();
        let cluster = memory.cluster.clone();
        let built = tokio::task::spawn_blocking(move || {
            let snapshot = derive::snapshot(&memory, now);
            if complete {
                memory.learn(&snapshot, now);
            }
            (memory, snapshot)
        })
        .await;
        match built {
            Ok((memory, snapshot)) => {
                self.shown.send_replace(Arc::new(snapshot));
                memory
            }
            Err(error) => {
                tracing::error!(%error, cluster, "the snapshot could not be put together; beginning afresh");
                Memory { cluster, ..Memory::default() }
            }
        }
    }
}
