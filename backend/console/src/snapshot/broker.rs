//! What is known of one broker, and one round of reading it: a fixed number of calls, and a bounded number of those that
//! each topic and each group needs, which take turns over the rounds.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use millrace_broker::{
    Broker, BrokerError, BrokerRead, BrokerRuntime, ConsumerConnection, GroupConfig, GroupOffsets, QueueStats,
    TopicConfig,
};
use millrace_core::coverage::{Known, Why};
use millrace_core::name::{QueueRef, TopicKind, is_system_group};
use millrace_core::time::{Clock, Millis};

use super::keeper::KeeperOptions;
use super::kept::{Failure, Kept};
use super::rate::put_per_second;
use super::turns::Turns;

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
    /// By group; `None` inside: no client of it is online here.
    pub clients: HashMap<String, Kept<Option<ConsumerConnection>>>,
    /// When the message that a group has not passed yet was stored.
    pub(crate) unread: HashMap<Place, Known<Millis>>,
    /// Since when no name server lists it.
    pub vanished: Option<Millis>,
    topic_turns: Turns,
    group_turns: Turns,
}

/// A message's place on a broker.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Place {
    pub(crate) topic: String,
    pub(crate) queue: i32,
    pub(crate) offset: i64,
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
            clients: HashMap::new(),
            unread: HashMap::new(),
            vanished: None,
            topic_turns: Turns::default(),
            group_turns: Turns::default(),
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

    /// What takes its turn in this round. People's own topics and groups come round before RocketMQ's.
    fn due(&self, now: Millis, options: KeeperOptions) -> Vec<Due> {
        let own_first = |own: bool| if own { 4 } else { 1 };
        let topics = self.topics.value().into_iter().flat_map(|topics| topics.keys());
        let topics = topics.map(|topic| (topic, own_first(TopicKind::of(topic) == TopicKind::User)));
        let groups = self.groups.value().into_iter().flat_map(|groups| groups.keys());
        let groups = groups.map(|group| (group, own_first(!is_system_group(group))));
        let stats = self.topic_turns.next(topics, now, options.stats_per_tick).into_iter().map(Due::Stats);
        let clients = self.group_turns.next(groups, now, options.groups_per_tick).into_iter().map(Due::Clients);
        stats.chain(clients).collect()
    }

    /// Which of the messages that groups have not passed are asked for in this round, once the queues' ends are read.
    fn unread_due(&self, options: KeeperOptions) -> Vec<Due> {
        let mut unread: Vec<Place> = self.first_unread().filter(|place| !self.is_known(place)).collect();
        unread.sort();
        unread.dedup();
        // Those that were never asked before those that failed.
        unread.sort_by_key(|place| self.unread.contains_key(place));
        unread.into_iter().take(options.unread_per_tick).map(Due::Unread).collect()
    }

    fn is_known(&self, place: &Place) -> bool {
        matches!(self.unread.get(place), Some(Known::Known(_)))
    }

    /// The first message that each group has not passed, on every queue where there is one.
    fn first_unread(&self) -> impl Iterator<Item = Place> + '_ {
        let committed = self.offsets.value().into_iter().flat_map(|offsets| offsets.iter());
        committed.filter(|entry| TopicKind::of(&entry.topic) != TopicKind::System).flat_map(|entry| {
            let stats = self.stats.get(&entry.topic).and_then(Kept::value);
            stats.into_iter().flat_map(|reading| &reading.queues).filter_map(|queue| {
                let committed = entry.offsets.get(&queue.queue.queue).filter(|offset| **offset >= 0)?;
                first_unread(queue, *committed)
            })
        })
    }

    /// Forgets what is told of topics, groups and places that are no more.
    fn forget(&mut self) {
        if let Some(topics) = self.topics.value().cloned() {
            self.stats.retain(|topic, _| topics.contains_key(topic));
            self.topic_turns.retain(|topic| topics.contains_key(topic));
        }
        if let Some(groups) = self.groups.value().cloned() {
            self.clients.retain(|group, _| groups.contains_key(group));
            self.group_turns.retain(|group| groups.contains_key(group));
        }
        let places: std::collections::HashSet<Place> = self.first_unread().collect();
        self.unread.retain(|place, _| places.contains(place));
    }

    fn take(&mut self, answer: Answer, now: Millis) {
        match answer {
            Answer::Stats(topic, result) => {
                self.topic_turns.had(&topic, now);
                let kept = self.stats.entry(topic).or_default();
                let reading = result.map(|queues| StatsReading {
                    at: now,
                    per_second: put_per_second(kept.value().map(AsRef::as_ref), &queues, now),
                    queues,
                });
                kept.put(reading, now);
            }
            Answer::Clients(group, result) => {
                self.group_turns.had(&group, now);
                self.clients.entry(group).or_default().put(result, now);
            }
            Answer::Unread(place, result) => {
                self.unread.insert(place, result.into());
            }
        }
    }
}

/// The first message of a queue that is there and that a group with this offset has not passed.
pub(crate) fn first_unread(queue: &QueueStats, committed: i64) -> Option<Place> {
    let offset = committed.max(queue.min);
    (offset < queue.max).then(|| Place { topic: queue.queue.topic.clone(), queue: queue.queue.queue, offset })
}

/// One call of those that take turns.
enum Due {
    Stats(String),
    Clients(String),
    Unread(Place),
}

enum Answer {
    Stats(String, millrace_broker::Result<Vec<QueueStats>>),
    Clients(String, millrace_broker::Result<Option<ConsumerConnection>>),
    Unread(Place, millrace_broker::Result<Millis>),
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
        take_turns(read.as_ref(), clock.as_ref(), &mut state, options).await;
    }
    state
}

async fn take_turns(read: &dyn BrokerRead, clock: &dyn Clock, state: &mut BrokerState, options: KeeperOptions) {
    let deadline = tokio::time::Instant::now() + options.turns_deadline;
    let due = state.due(clock.now(), options);
    ask_all(read, clock, state, due, deadline, options).await;
    // A group that reads has come to other messages by now.
    state.forget();
    let due = state.unread_due(options);
    ask_all(read, clock, state, due, deadline, options).await;
}

/// What is not read by the deadline has waited longest in the next round.
async fn ask_all(
    read: &dyn BrokerRead,
    clock: &dyn Clock,
    state: &mut BrokerState,
    due: Vec<Due>,
    deadline: tokio::time::Instant,
    options: KeeperOptions,
) {
    let name = state.broker.name.clone();
    let broker = name.as_str();
    let mut answers = futures::stream::iter(due)
        .map(|due| async move { (ask(read, broker, due, options.broker_deadline).await, clock.now()) })
        .buffer_unordered(options.turns_at_once);
    while let Ok(Some((answer, now))) = tokio::time::timeout_at(deadline, answers.next()).await {
        state.take(answer, now);
    }
}

async fn ask(read: &dyn BrokerRead, broker: &str, due: Due, deadline: Duration) -> Answer {
    match due {
        Due::Stats(topic) => {
            let result = within(deadline, broker, read.topic_stats(broker, &topic)).await;
            Answer::Stats(topic, result)
        }
        Due::Clients(group) => {
            let result = match within(deadline, broker, read.consumers(broker, &group)).await {
                Ok(connection) => Ok(Some(connection)),
                Err(BrokerError::NotFound(_)) => Ok(None),
                Err(error) => Err(error),
            };
            Answer::Clients(group, result)
        }
        Due::Unread(place) => {
            let queue = QueueRef { topic: place.topic.clone(), broker: broker.to_owned(), queue: place.queue };
            let result = within(deadline, broker, read.pull(&queue, place.offset, 1)).await.and_then(|batch| {
                let first = batch.messages.into_iter().next();
                first.map(|message| message.stored).ok_or_else(|| BrokerError::NotFound(queue.to_string()))
            });
            Answer::Unread(place, result)
        }
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
