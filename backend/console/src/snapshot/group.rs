//! A group over all brokers: what it reads, how far it is behind, and who of it is online.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use millrace_broker::{ConsumerConnection, GroupConfig};
use millrace_core::coverage::{Known, Why};
use millrace_core::name::{DLQ_PREFIX, is_system_group};
use millrace_core::time::Millis;

use super::broker::{BrokerState, first_unread};
use super::memory::Memory;
use super::topic::{GroupOnTopic, TopicState};
use super::trend::Trend;
use crate::tally::Tally;

#[derive(Debug, Clone)]
pub struct GroupState {
    pub name: String,
    /// RocketMQ's own, or one of its tools'.
    pub system: bool,
    /// Brokers that know it.
    pub brokers: Vec<GroupAtBroker>,
    /// The brokers have different configurations of it.
    pub differs: bool,
    /// No broker knows it: its offsets are left over.
    pub left_over: bool,
    /// Every topic that it committed offsets on, its retry topic among them.
    pub topics: Vec<Arc<GroupOnTopic>>,
    /// Over all its topics; `None`: it committed no offset.
    pub lag: Option<Tally<i64>>,
    /// Messages passed a second, over all its topics.
    pub per_second: Known<f64>,
    /// The worst of its topics'.
    pub trend: Trend,
    pub clients: GroupClients,
    /// When the oldest message that it has not passed was stored; `None` inside: it passed all of them.
    pub oldest_unread: Known<Option<Millis>>,
    /// From the lowest offset to the end of its dead-letter topic; `None`: it has none.
    pub dead: Option<Tally<i64>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupAtBroker {
    pub broker: String,
    pub config: GroupConfig,
}

/// Who of a group is online, as the brokers tell.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GroupClients {
    /// Different client ids. A client is connected to every broker that has its topics.
    pub online: Tally<i64>,
    /// `CONSUME_PASSIVELY` (push), `CONSUME_ACTIVELY` (pull) or `CONSUME_POP`; empty while nobody is online.
    pub consume_type: String,
    /// `CLUSTERING` or `BROADCASTING`; empty while nobody is online.
    pub message_model: String,
}

impl GroupClients {
    pub fn broadcasting(&self) -> bool {
        self.message_model == "BROADCASTING"
    }
}

/// Every group that some broker knows or keeps offsets of.
pub(crate) fn groups(
    memory: &Memory,
    topics: &BTreeMap<String, Arc<TopicState>>,
    now: Millis,
) -> BTreeMap<String, Arc<GroupState>> {
    let mut places: BTreeMap<&str, Vec<GroupAtBroker>> = BTreeMap::new();
    for state in memory.brokers.values() {
        for (name, config) in state.groups.value().into_iter().flat_map(|groups| groups.iter()) {
            let place = GroupAtBroker { broker: state.broker.name.clone(), config: config.clone() };
            places.entry(name).or_default().push(place);
        }
    }
    let mut on_topics: BTreeMap<&str, Vec<Arc<GroupOnTopic>>> = BTreeMap::new();
    for on in topics.values().flat_map(|topic| &topic.groups) {
        on_topics.entry(&on.group).or_default().push(Arc::clone(on));
    }
    let oldest = oldest_unread(memory);
    let unread = |state: &&Arc<BrokerState>| state.offsets.value().is_none();
    let offsets_unread = memory.brokers.values().find(unread).map(|state| state.offsets.why());
    let names: BTreeSet<&str> = places.keys().chain(on_topics.keys()).copied().collect();
    let built = names.into_iter().map(|name| {
        let brokers = places.remove(name).unwrap_or_default();
        let topics_of = on_topics.remove(name).unwrap_or_default();
        let first = brokers.first().map(|place| &place.config);
        let state = GroupState {
            name: name.to_owned(),
            system: is_system_group(name),
            differs: brokers.iter().any(|place| Some(&place.config) != first),
            left_over: brokers.is_empty() && memory.groups_known() && !is_system_group(name),
            lag: lag(&topics_of),
            per_second: per_second(memory, name, &topics_of),
            trend: worst(&topics_of),
            clients: clients(memory, name, &brokers, now),
            oldest_unread: match (oldest.get(name), &offsets_unread) {
                (Some(known), None) => known.clone(),
                (None, None) => Known::Known(None),
                (_, Some(why)) => Known::Unknown(why.clone()),
            },
            dead: topics.get(&format!("{DLQ_PREFIX}{name}")).map(|topic| topic.span.clone()),
            topics: topics_of,
            brokers,
        };
        (name.to_owned(), Arc::new(state))
    });
    built.collect()
}

fn lag(topics: &[Arc<GroupOnTopic>]) -> Option<Tally<i64>> {
    let mut all = topics.iter();
    let mut lag = all.next()?.lag.clone();
    for on in all {
        lag.take_in(&on.lag);
    }
    Some(lag)
}

/// A topic whose rate is not known makes the sum unknown.
fn per_second(memory: &Memory, group: &str, topics: &[Arc<GroupOnTopic>]) -> Known<f64> {
    let rates = topics.iter().map(|on| memory.trends.per_second(group, &on.topic));
    rates.sum::<Option<f64>>().map_or(Known::Unknown(Why::OneReading), Known::Known)
}

fn worst(topics: &[Arc<GroupOnTopic>]) -> Trend {
    let rank = |trend: &Trend| match trend {
        Trend::Steady => 0,
        Trend::Growing { .. } => 1,
        Trend::Stuck { .. } => 2,
    };
    topics.iter().map(|on| on.trend).max_by_key(rank).unwrap_or(Trend::Steady)
}

fn clients(memory: &Memory, group: &str, brokers: &[GroupAtBroker], now: Millis) -> GroupClients {
    let mut answers = Vec::new();
    let mut clients = GroupClients::default();
    for state in brokers.iter().filter_map(|place| memory.brokers.get(&place.broker)) {
        let name = &state.broker.name;
        let kept = state.clients.get(group);
        match (kept.and_then(super::Kept::value), kept.and_then(super::Kept::failure)) {
            (Some(_), None) if state.failure().is_some() => clients.online.miss(name, state.topics.why()),
            (Some(answer), None) => answers.push((answer.as_ref().as_ref(), kept.and_then(super::Kept::at))),
            (_, Some(failure)) => clients.online.miss(name, &failure.why),
            (None, None) => clients.online.miss(name, Why::NotReadYet),
        }
    }
    let at = answers.iter().filter_map(|(_, at)| *at).min();
    let online: Vec<&ConsumerConnection> = answers.iter().filter_map(|(answer, _)| *answer).collect();
    let ids: BTreeSet<&str> =
        online.iter().flat_map(|answer| &answer.clients).map(|client| client.client_id.as_str()).collect();
    if !answers.is_empty() {
        clients.online.add(i64::try_from(ids.len()).unwrap_or(i64::MAX), at.unwrap_or(now));
    }
    if let Some(first) = online.first() {
        clients.consume_type.clone_from(&first.consume_type);
        clients.message_model.clone_from(&first.message_model);
    }
    clients
}

/// By group; absent where a group has passed every message.
fn oldest_unread(memory: &Memory) -> BTreeMap<&str, Known<Option<Millis>>> {
    let mut oldest: BTreeMap<&str, Known<Option<Millis>>> = BTreeMap::new();
    for state in memory.brokers.values() {
        for entry in state.offsets.value().into_iter().flat_map(|offsets| offsets.iter()) {
            let stats = state.stats.get(&entry.topic).and_then(super::Kept::value);
            for queue in stats.into_iter().flat_map(|reading| &reading.queues) {
                let committed = entry.offsets.get(&queue.queue.queue).filter(|offset| **offset >= 0);
                let Some(place) = committed.and_then(|offset| first_unread(queue, *offset)) else { continue };
                let here = state.unread.get(&place).cloned().unwrap_or(Known::Unknown(Why::NotReadYet));
                let known = oldest.entry(&entry.group).or_insert(Known::Known(None));
                *known = match (known.clone(), here) {
                    (Known::Unknown(why), _) | (_, Known::Unknown(why)) => Known::Unknown(why),
                    (Known::Known(so_far), Known::Known(at)) => {
                        Known::Known(Some(so_far.map_or(at, |so_far| so_far.min(at))))
                    }
                };
            }
        }
    }
    oldest
}
