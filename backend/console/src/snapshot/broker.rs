//! What is known of one broker, and one round of reading it: a fixed number of calls and a bounded number of topic
//! statistics, whatever the number of groups.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use millrace_broker::{
    Broker, BrokerError, BrokerRead, BrokerRuntime, GroupConfig, GroupOffsets, QueueStats, TopicConfig,
};
use millrace_core::coverage::{Known, Why};
use millrace_core::name::TopicKind;
use millrace_core::time::{Clock, Millis};

use super::keeper::KeeperOptions;
use super::kept::{Failure, Kept};
use super::rate::put_per_second;

/// Offsets of a topic's queues on one broker.
#[derive(Debug, Clone, PartialEq)]
pub struct StatsReading {
    pub at: Millis,
    pub queues: Vec<QueueStats>,
    /// Messages put a second since the reading before.
    pub per_second: Known<f64>,
}

/// One broker: its last good readings with their age.
#[derive(Debug, Clone)]
pub struct BrokerState {
    pub broker: Broker,
    pub topics: Kept<HashMap<String, TopicConfig>>,
    pub groups: Kept<BTreeMap<String, GroupConfig>>,
    pub offsets: Kept<Vec<GroupOffsets>>,
    pub runtime: Kept<BrokerRuntime>,
    pub stats: HashMap<String, Kept<StatsReading>>,
    /// Since when no name server lists it.
    pub vanished: Option<Millis>,
    tried: HashMap<String, Millis>,
}

impl BrokerState {
    pub(crate) fn new(broker: Broker) -> Self {
        Self {
            broker,
            topics: Kept::default(),
            groups: Kept::default(),
            offsets: Kept::default(),
            runtime: Kept::default(),
            stats: HashMap::new(),
            vanished: None,
            tried: HashMap::new(),
        }
    }

    /// Why the last round did not bring what lists need: its topics and committed offsets.
    pub fn failure(&self) -> Option<&Failure> {
        self.topics.failure().or_else(|| self.offsets.failure()).or_else(|| self.groups.failure())
    }

    /// When the oldest of these was read.
    pub fn at(&self) -> Option<Millis> {
        [self.topics.at(), self.offsets.at(), self.groups.at()].into_iter().flatten().min()
    }

    /// All its parts fail with the same reason, as when it left the name servers.
    pub(crate) fn fail(&mut self, why: &Why, now: Millis) {
        self.topics.fail(why.clone(), now);
        self.groups.fail(why.clone(), now);
        self.offsets.fail(why.clone(), now);
        self.runtime.fail(why.clone(), now);
    }

    /// The topics whose statistics are read in this round: those that waited longest, people's own before
    /// RocketMQ's.
    fn next_stats(&self, now: Millis, limit: usize) -> Vec<String> {
        let Some(topics) = self.topics.value() else { return Vec::new() };
        let mut due: Vec<(Reverse<i64>, &String)> = topics
            .keys()
            .map(|topic| {
                let weight = if TopicKind::of(topic) == TopicKind::User { 4 } else { 1 };
                let waited =
                    self.tried.get(topic).map_or(i64::MAX, |tried| now.since(*tried).max(1).saturating_mul(weight));
                (Reverse(waited), topic)
            })
            .collect();
        due.sort_unstable();
        due.into_iter().take(limit).map(|(_, topic)| topic.clone()).collect()
    }
}

/// Reads one broker. Committed offsets come before the queues' ends, so that a group that keeps up never looks as if
/// it were beyond the end.
pub(crate) async fn read_broker(
    read: Arc<dyn BrokerRead>,
    clock: Arc<dyn Clock>,
    mut state: BrokerState,
    options: KeeperOptions,
) -> BrokerState {
    let name = state.broker.name.clone();
    let deadline = options.broker_deadline;
    let (topics, groups, offsets, runtime) = tokio::join!(
        within(deadline, &name, read.topics(&name)),
        within(deadline, &name, read.groups(&name)),
        within(deadline, &name, read.group_offsets(&name)),
        within(deadline, &name, read.runtime(&name)),
    );
    let now = clock.now();
    let answers = topics.is_ok();
    state.topics.put(topics.map(|list| list.into_iter().map(|topic| (topic.name.clone(), topic)).collect()), now);
    state.groups.put(groups.map(|list| list.into_iter().map(|group| (group.name.clone(), group)).collect()), now);
    state.offsets.put(offsets, now);
    state.runtime.put(runtime, now);
    if answers {
        read_stats(read.as_ref(), clock.as_ref(), &mut state, options).await;
    }
    state
}

async fn read_stats(read: &dyn BrokerRead, clock: &dyn Clock, state: &mut BrokerState, options: KeeperOptions) {
    if let Some(topics) = state.topics.value().cloned() {
        state.stats.retain(|topic, _| topics.contains_key(topic));
        state.tried.retain(|topic, _| topics.contains_key(topic));
    }
    let name = state.broker.name.clone();
    let due = state.next_stats(clock.now(), options.stats_per_tick);
    let broker = name.as_str();
    let mut readings = futures::stream::iter(due)
        .map(|topic| async move {
            let result = within(options.broker_deadline, broker, read.topic_stats(broker, &topic)).await;
            (topic, result, clock.now())
        })
        .buffer_unordered(options.stats_concurrency);
    let deadline = tokio::time::Instant::now() + options.stats_deadline;
    // What is not read by the deadline has waited longest in the next round.
    while let Ok(Some((topic, result, now))) = tokio::time::timeout_at(deadline, readings.next()).await {
        state.tried.insert(topic.clone(), now);
        let kept = state.stats.entry(topic).or_default();
        let reading = result.map(|queues| StatsReading {
            at: now,
            per_second: put_per_second(kept.value().map(AsRef::as_ref), &queues, now),
            queues,
        });
        kept.put(reading, now);
    }
}

/// A call that ends by the deadline, whatever the broker does.
pub(crate) async fn within<T>(
    deadline: Duration,
    broker: &str,
    call: impl Future<Output = millrace_broker::Result<T>>,
) -> millrace_broker::Result<T> {
    tokio::time::timeout(deadline, call).await.unwrap_or_else(|_| {
        Err(BrokerError::TimedOut {
            address: broker.to_owned(),
            millis: u64::try_from(deadline.as_millis()).unwrap_or(u64::MAX),
        })
    })
}
