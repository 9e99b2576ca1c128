//! One topic in full: its configuration on each broker, its route, its queues now, and who reads it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use millrace_broker::{BrokerError, QueueStats, TopicRoute};
use millrace_core::coverage::{Coverage, Known, Why};
use millrace_core::name::TopicKind;
use millrace_core::time::Millis;
use serde::Serialize;

use crate::console::Console;
use crate::error::{ConsoleError, Result};
use crate::snapshot::{
    BrokerState, Committed, GroupOnTopic, StatsReading, TopicAtBroker, TopicState, Trend, group_on_topic, within,
};

/// For each call that the page makes.
const DEADLINE: Duration = Duration::from_secs(3);

#[derive(Debug, Clone)]
pub struct TopicDetail {
    pub name: String,
    pub kind: TopicKind,
    /// As the last snapshot has it; absent for a topic that is younger.
    pub state: Option<Arc<TopicState>>,
    /// With statistics read now where the broker answered, else the last good ones.
    pub brokers: Vec<TopicAtBroker>,
    /// What clients are told.
    pub route: Known<TopicRoute>,
    pub readers: Vec<Reader>,
    /// Why the list of readers may lack some.
    pub coverage: Coverage,
}

/// A queue on its broker.
#[derive(Debug, Clone, Copy)]
pub struct QueueAt<'a> {
    pub broker: &'a str,
    pub stats: &'a QueueStats,
    pub read_at: Millis,
}

/// A group that reads the topic.
#[derive(Debug, Clone, Serialize)]
pub struct Reader {
    pub group: String,
    /// `None`: it is subscribed and has committed no offset (it broadcasts, or has not consumed yet).
    pub lag: Option<GroupOnTopic>,
    /// Committed offsets by broker and queue.
    pub committed: Vec<(String, i32, i64)>,
}

impl TopicDetail {
    /// All queues that were read, by broker and number.
    pub fn queues(&self) -> impl Iterator<Item = QueueAt<'_>> {
        self.brokers.iter().flat_map(|place| {
            place.stats.iter().flat_map(|reading| {
                reading.queues.iter().map(|stats| QueueAt { broker: &place.broker, stats, read_at: reading.at })
            })
        })
    }
}

impl Console {
    /// # Errors
    /// `NotFound` when neither the snapshot nor a name server knows the topic.
    pub async fn topic(&self, name: &str) -> Result<TopicDetail> {
        let snapshot = self.snapshot();
        let state = snapshot.topic(name).cloned();
        let route = within(DEADLINE, "the name servers", self.read().route(name)).await;
        if let (None, Err(error)) = (&state, &route) {
            return Err(match error {
                BrokerError::NotFound(_) if snapshot.coverage().complete() => {
                    ConsoleError::NotFound(format!("topic {name}"))
                }
                BrokerError::NotFound(_) => {
                    ConsoleError::NotFound(format!("topic {name} (brokers that did not answer may have it)"))
                }
                other => other.clone().into(),
            });
        }
        let names = self.brokers_of(name, state.as_deref(), route.as_ref().ok());
        let state_here = state.as_deref();
        let asked = join_all(names.iter().map(|broker| self.read_place(broker, name, state_here))).await;
        let mut coverage = Coverage::default();
        let mut brokers = Vec::new();
        let mut subscribed = BTreeSet::new();
        for (broker, answer) in names.iter().zip(asked) {
            let groups = answer.and_then(|(place, groups)| {
                brokers.push(place);
                groups
            });
            match groups {
                Ok(groups) => {
                    subscribed.extend(groups);
                    coverage.answer();
                }
                Err(error) => coverage.miss(broker, &error),
            }
        }
        for missed in snapshot.coverage().missed {
            if !names.contains(&missed.what) {
                coverage.miss(missed.what, missed.why);
            }
        }
        coverage.as_of = brokers.iter().filter_map(|place| place.stats.as_ref()).map(|reading| reading.at).min();
        let readers = readers(name, &snapshot.brokers, &brokers, subscribed, state.as_deref());
        Ok(TopicDetail {
            name: name.to_owned(),
            kind: state.as_ref().map_or_else(|| TopicKind::of(name), |state| state.kind),
            state,
            brokers,
            route: route.into(),
            readers,
            coverage,
        })
    }

    /// Brokers that have the topic, by the snapshot or by the route.
    pub(crate) fn brokers_of(
        &self,
        topic: &str,
        state: Option<&TopicState>,
        route: Option<&TopicRoute>,
    ) -> BTreeSet<String> {
        let snapshot = self.snapshot();
        let known = state.or_else(|| snapshot.topic(topic).map(AsRef::as_ref));
        let of_snapshot = known.into_iter().flat_map(|state| state.brokers.iter().map(|place| place.broker.clone()));
        let of_route = route.into_iter().flat_map(|route| route.queues.iter().map(|queue| queue.broker.clone()));
        of_snapshot.chain(of_route).collect()
    }

    async fn read_place(
        &self,
        broker: &str,
        topic: &str,
        state: Option<&TopicState>,
    ) -> millrace_broker::Result<(TopicAtBroker, millrace_broker::Result<Vec<String>>)> {
        let (stats, groups) = tokio::join!(
            within(DEADLINE, broker, self.read().topic_stats(broker, topic)),
            within(DEADLINE, broker, self.read().groups_of_topic(broker, topic)),
        );
        let mut place = match state.and_then(|state| state.brokers.iter().find(|place| place.broker == broker)) {
            Some(place) => place.clone(),
            None => self.read_config(broker, topic).await?,
        };
        let now = self.now();
        match stats {
            Ok(queues) => {
                let per_second = place
                    .stats
                    .as_ref()
                    .map_or_else(|| Known::Unknown(Why::OneReading), |reading| reading.per_second.clone());
                place.stats = Some(Arc::new(StatsReading { at: now, queues, per_second }));
                place.failure = None;
            }
            Err(error) => {
                place.failure = Some(crate::snapshot::Failure { why: error.into(), since: now });
            }
        }
        // No such group is no fault.
        let groups = match groups {
            Err(BrokerError::NotFound(_)) => Ok(Vec::new()),
            other => other,
        };
        Ok((place, groups))
    }

    /// A topic younger than the snapshot: its configuration is asked for.
    async fn read_config(&self, broker: &str, topic: &str) -> millrace_broker::Result<TopicAtBroker> {
        let topics = within(DEADLINE, broker, self.read().topics(broker)).await?;
        let config = topics
            .into_iter()
            .find(|config| config.name == topic)
            .ok_or_else(|| BrokerError::NotFound(format!("topic {topic} on {broker}")))?;
        Ok(TopicAtBroker { broker: broker.to_owned(), config, stats: None, failure: None, read_at: Some(self.now()) })
    }
}

fn readers(
    topic: &str,
    states: &[Arc<BrokerState>],
    places: &[TopicAtBroker],
    subscribed: BTreeSet<String>,
    state: Option<&TopicState>,
) -> Vec<Reader> {
    let mut committed: BTreeMap<&str, Vec<Committed<'_>>> = BTreeMap::new();
    let mut unread = Vec::new();
    for broker in states {
        let name = &broker.broker.name;
        match (broker.offsets.value(), broker.offsets.at()) {
            (Some(offsets), Some(at)) => {
                for entry in offsets.iter().filter(|entry| entry.topic == topic) {
                    let here = Committed { broker: name, offsets: &entry.offsets, at };
                    committed.entry(&entry.group).or_default().push(here);
                }
            }
            _ if places.iter().any(|place| place.broker == *name) => {
                unread.push((name.clone(), broker.offsets.why()));
            }
            _ => {}
        }
    }
    let trend = |group: &str| {
        let known = state.and_then(|state| state.groups.iter().find(|on| on.group == group));
        known.map_or((Trend::Steady, false), |on| (on.trend, on.left_over))
    };
    let mut readers: Vec<Reader> = committed
        .iter()
        .map(|(group, offsets)| {
            let mut lag = group_on_topic(group, topic, places, offsets, &unread);
            (lag.trend, lag.left_over) = trend(group);
            let each = offsets
                .iter()
                .flat_map(|at| at.offsets.iter().map(|(queue, offset)| (at.broker.to_owned(), *queue, *offset)));
            Reader { group: (*group).to_owned(), lag: Some(lag), committed: each.collect() }
        })
        .collect();
    for group in subscribed {
        if !committed.contains_key(group.as_str()) {
            readers.push(Reader { group, lag: None, committed: Vec::new() });
        }
    }
    readers.sort_by(|a, b| a.group.cmp(&b.group));
    readers
}
