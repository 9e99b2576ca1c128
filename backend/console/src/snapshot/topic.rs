//! One topic over all brokers: where it lies, how fast it grows, who reads it and how far behind they are.

use std::collections::BTreeMap;
use std::sync::Arc;

use millrace_broker::{MessageType, TopicConfig};
use millrace_core::coverage::{Known, Why};
use millrace_core::name::TopicKind;
use millrace_core::time::Millis;
use serde::Serialize;

use super::broker::StatsReading;
use super::history::Points;
use super::kept::Failure;
use super::lag::queue_lag;
use super::trend::Trend;
use crate::tally::Tally;

#[derive(Debug, Clone)]
pub struct TopicState {
    pub name: String,
    pub kind: TopicKind,
    /// As the brokers say; the first broker's where they differ.
    pub message_type: MessageType,
    /// Brokers have different configurations of this topic.
    pub differs: bool,
    pub brokers: Vec<TopicAtBroker>,
    /// Write queues over all brokers.
    pub queues: Tally<i64>,
    pub per_second: Tally<f64>,
    /// Offsets from the lowest to the end over all queues: no count, as offsets may have holes.
    pub span: Tally<i64>,
    /// The newest message's store time; `None`: every queue is empty.
    pub last_write: Known<Option<Millis>>,
    /// By name. Groups with committed offsets on this topic.
    pub groups: Vec<Arc<GroupOnTopic>>,
    /// The lag of the group that is furthest behind; `None`: no group reads it.
    pub lag: Option<Tally<i64>>,
    pub history: Points,
}

/// A topic on one broker.
#[derive(Debug, Clone)]
pub struct TopicAtBroker {
    pub broker: String,
    pub config: TopicConfig,
    pub stats: Option<Arc<StatsReading>>,
    /// Why the configuration or the statistics are old or absent.
    pub failure: Option<Failure>,
    /// When the configuration was read.
    pub read_at: Option<Millis>,
}

/// A group on a topic.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupOnTopic {
    pub group: String,
    #[serde(skip)]
    pub topic: String,
    pub lag: Tally<i64>,
    /// Messages that retention removed before the group read them.
    pub expired_unread: i64,
    /// How far its offsets lie beyond the queues' ends.
    pub beyond_end: i64,
    pub trend: Trend,
    /// No broker knows such a group: its offsets are left over.
    pub left_over: bool,
    /// Sum of committed offsets, to see whether they move.
    #[serde(skip)]
    pub committed: i64,
}

/// A group's committed offsets on one topic of one broker.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Committed<'a> {
    pub(crate) broker: &'a str,
    pub(crate) offsets: &'a BTreeMap<i32, i64>,
    pub(crate) at: Millis,
}

/// Sums a group's lag over the brokers of a topic. `unread`: brokers that may have more of either, and why they did
/// not say.
pub(crate) fn group_on_topic(
    group: &str,
    topic: &str,
    brokers: &[TopicAtBroker],
    committed: &[Committed<'_>],
    unread: &[(String, Why)],
) -> GroupOnTopic {
    let mut out = GroupOnTopic {
        group: group.to_owned(),
        topic: topic.to_owned(),
        lag: Tally::default(),
        expired_unread: 0,
        beyond_end: 0,
        trend: Trend::Steady,
        left_over: false,
        committed: 0,
    };
    for (broker, why) in unread {
        out.lag.miss(broker, why);
    }
    for place in brokers {
        let here = committed.iter().find(|committed| committed.broker == place.broker);
        if unread.iter().any(|(broker, _)| *broker == place.broker) {
            continue;
        }
        let Some(stats) = &place.stats else {
            let why = Failure::why(place.failure.as_ref());
            out.lag.miss(&place.broker, why);
            continue;
        };
        if let Some(failure) = &place.failure {
            out.lag.stale(&place.broker, &failure.why);
        }
        for queue in &stats.queues {
            let offset = here.and_then(|committed| committed.offsets.get(&queue.queue.queue)).copied();
            let offsets_at = here.map_or(stats.at, |committed| committed.at);
            out.committed = out.committed.saturating_add(offset.unwrap_or(0));
            match queue_lag(queue, stats.at, offset, offsets_at) {
                Known::Known(lag) => {
                    out.lag.add(lag.messages, stats.at.min(offsets_at));
                    out.expired_unread = out.expired_unread.saturating_add(lag.expired_unread);
                    out.beyond_end = out.beyond_end.saturating_add(lag.beyond_end);
                    if lag.approximate {
                        out.lag.approximate();
                    }
                }
                Known::Unknown(why) => {
                    out.lag.miss(format!("{} queue {}", place.broker, queue.queue.queue), why);
                }
            }
        }
    }
    out
}

/// The lag of the group furthest behind. Unknown as soon as one group's is: it might be that one.
pub(crate) fn slowest(groups: &[Arc<GroupOnTopic>], unread: &[(String, Why)]) -> Option<Tally<i64>> {
    if groups.is_empty() && unread.is_empty() {
        return None;
    }
    let mut slowest = Tally::<i64>::default();
    let worst = groups.iter().filter(|group| group.lag.as_of().is_some()).max_by_key(|group| group.lag.at_least());
    if let Some(group) = worst {
        slowest = group.lag.clone();
    }
    for missed in groups.iter().flat_map(|group| group.lag.missing()) {
        slowest.miss(&missed.what, &missed.why);
    }
    for (broker, why) in unread {
        slowest.miss(broker, why);
    }
    Some(slowest)
}
