//! From what is remembered of each broker to topics over all of them. Pure.

use std::collections::BTreeMap;
use std::sync::Arc;

use millrace_broker::MessageType;
use millrace_core::coverage::{Known, Why};
use millrace_core::name::TopicKind;
use millrace_core::time::Millis;

use super::broker::BrokerState;
use super::group;
use super::memory::Memory;
use super::topic::{Committed, GroupOnTopic, TopicAtBroker, TopicState, group_on_topic, slowest};
use super::{Failure, Snapshot};
use crate::tally::Tally;

/// By topic, then by group.
type Offsets<'a> = BTreeMap<&'a str, BTreeMap<&'a str, Vec<Committed<'a>>>>;

/// Brokers whose offsets were never read, or whose topics: what they have is not known.
#[derive(Debug, Default)]
struct Unread {
    topics: Vec<(String, Why)>,
    offsets: Vec<(String, Why)>,
}

pub(crate) fn snapshot(memory: &Memory, now: Millis) -> Snapshot {
    let mut places: BTreeMap<&str, Vec<TopicAtBroker>> = BTreeMap::new();
    let mut offsets = Offsets::new();
    let mut unread = Unread::default();
    for state in memory.brokers.values() {
        collect(state, &mut places, &mut offsets, &mut unread);
    }
    let topics: BTreeMap<String, Arc<TopicState>> = places
        .into_iter()
        .map(|(name, places)| {
            let readers = offsets.get(name);
            (name.to_owned(), Arc::new(topic(memory, name, places, readers, &unread, now)))
        })
        .collect();
    Snapshot {
        cluster: memory.cluster.clone(),
        at: Some(now),
        rounds: memory.rounds,
        name_servers: memory.name_servers.clone(),
        topology: memory.topology.clone(),
        brokers: memory.brokers.values().cloned().collect(),
        groups: group::groups(memory, &topics, now),
        topics,
        answers: memory.answers,
    }
}

fn collect<'a>(
    state: &'a BrokerState,
    places: &mut BTreeMap<&'a str, Vec<TopicAtBroker>>,
    offsets: &mut Offsets<'a>,
    unread: &mut Unread,
) {
    let name = &state.broker.name;
    if let Some(topics) = state.topics.value() {
        for (topic, config) in topics.iter() {
            let stats = state.stats.get(topic);
            let failure = state.topics.failure().or_else(|| stats.and_then(|kept| kept.failure())).cloned();
            places.entry(topic).or_default().push(TopicAtBroker {
                broker: name.clone(),
                config: config.clone(),
                stats: stats.and_then(|kept| kept.value()).cloned(),
                failure,
                read_at: state.topics.at(),
            });
        }
    } else {
        unread.topics.push((name.clone(), state.topics.why()));
    }
    match (state.offsets.value(), state.offsets.at()) {
        (Some(committed), Some(at)) => {
            for entry in committed.iter() {
                let place = Committed { broker: name, offsets: &entry.offsets, at };
                offsets.entry(&entry.topic).or_default().entry(&entry.group).or_default().push(place);
            }
        }
        _ => unread.offsets.push((name.clone(), state.offsets.why())),
    }
}

fn topic(
    memory: &Memory,
    name: &str,
    places: Vec<TopicAtBroker>,
    readers: Option<&BTreeMap<&str, Vec<Committed<'_>>>>,
    unread: &Unread,
    now: Millis,
) -> TopicState {
    // A broker whose topics are known matters only where it has this one.
    let missing: Vec<(String, Why)> = unread
        .offsets
        .iter()
        .filter(|(broker, _)| {
            places.iter().any(|place| place.broker == *broker) || unread.topics.iter().any(|(name, _)| name == broker)
        })
        .cloned()
        .collect();
    let groups: Vec<Arc<GroupOnTopic>> = readers
        .into_iter()
        .flatten()
        .map(|(group, committed)| {
            let mut on = group_on_topic(group, name, &places, committed, &missing);
            on.trend = memory.trends.of(group, name, now);
            on.left_over = memory.groups_known() && !memory.knows_group(group);
            Arc::new(on)
        })
        .collect();
    let first = places.first().map(|place| &place.config);
    TopicState {
        name: name.to_owned(),
        kind: match memory.topology.value() {
            Some(topology) if topology.is_own_topic(name) => TopicKind::System,
            _ => TopicKind::of(name),
        },
        message_type: first.map_or(MessageType::Unspecified, |config| config.message_type),
        differs: places.iter().any(|place| Some(&place.config) != first),
        queues: queues(&places, &unread.topics),
        per_second: per_second(&places, &unread.topics),
        span: span(&places, &unread.topics),
        last_write: last_write(&places, &unread.topics),
        lag: slowest(&groups, &missing),
        groups,
        history: memory.history.of(name),
        brokers: places,
    }
}

fn begin<T: Copy + Default + std::ops::AddAssign>(unread: &[(String, Why)]) -> Tally<T> {
    let mut tally = Tally::default();
    for (broker, why) in unread {
        tally.miss(broker, why);
    }
    tally
}

fn queues(places: &[TopicAtBroker], unread: &[(String, Why)]) -> Tally<i64> {
    let mut tally = begin(unread);
    for place in places {
        tally.add(i64::from(place.config.write_queues), place.read_at.unwrap_or_default());
        if let Some(failure) = &place.failure {
            tally.stale(&place.broker, &failure.why);
        }
    }
    tally
}

/// A rate is about now: a broker that does not answer now has none.
fn per_second(places: &[TopicAtBroker], unread: &[(String, Why)]) -> Tally<f64> {
    let mut tally = begin(unread);
    for place in places {
        match (&place.failure, &place.stats) {
            (Some(Failure { why, .. }), _) => tally.miss(&place.broker, why),
            (None, None) => tally.miss(&place.broker, Why::NotReadYet),
            (None, Some(stats)) => match &stats.per_second {
                Known::Known(rate) => tally.add(*rate, stats.at),
                Known::Unknown(why) => tally.miss(&place.broker, why),
            },
        }
    }
    tally
}

fn span(places: &[TopicAtBroker], unread: &[(String, Why)]) -> Tally<i64> {
    let mut tally = begin(unread);
    for place in places {
        let Some(stats) = &place.stats else {
            tally.miss(&place.broker, Failure::why(place.failure.as_ref()));
            continue;
        };
        if let Some(failure) = &place.failure {
            tally.stale(&place.broker, &failure.why);
        }
        let here = stats.queues.iter().map(|queue| queue.max.saturating_sub(queue.min)).sum();
        tally.add(here, stats.at);
    }
    tally
}

/// Known when some queue has a message, even if another broker might have a newer one that its age shows; unknown when
/// nothing was read.
fn last_write(places: &[TopicAtBroker], unread: &[(String, Why)]) -> Known<Option<Millis>> {
    let read = places.iter().filter_map(|place| place.stats.as_ref());
    let newest = read.flat_map(|stats| stats.queues.iter()).filter_map(|queue| queue.last_update).max();
    let missing = places.iter().find(|place| place.stats.is_none());
    match (newest, missing, unread.first()) {
        (Some(newest), ..) => Known::Known(Some(newest)),
        (None, Some(place), _) => {
            let why = Failure::why(place.failure.as_ref());
            Known::Unknown(why)
        }
        (None, None, Some((_, why))) => Known::Unknown(why.clone()),
        (None, None, None) => Known::Known(None),
    }
}
