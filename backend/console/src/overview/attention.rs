//! What a person should look at. Each entry names the thing, the figure and since when.

use millrace_core::coverage::Why;
use millrace_core::name::{TRACE_TOPIC, TopicKind, is_trace_topic};
use millrace_core::time::Millis;
use serde::Serialize;

use super::version::Version;
use crate::snapshot::{BrokerState, Snapshot, TopicState, Trend};

/// Share of a disk from which it is worth a word; and from which RocketMQ refuses writes (its own default is 0.9).
const DISK_WARN: f64 = 0.75;
const DISK_BAD: f64 = 0.88;
/// A clock further off than this confuses times in traces and searches, in milliseconds.
const CLOCK_WARN: i64 = 1_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    Bad,
    Warn,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Attention {
    /// No name server told which brokers there are.
    ClusterUnreachable {
        why: Why,
        since: Millis,
    },
    NameServerDown {
        address: String,
        why: Why,
    },
    /// The name servers answer, and know of no broker.
    NoBroker,
    BrokerDown {
        broker: String,
        why: Why,
        since: Millis,
    },
    /// Only slaves are left: nothing can be written there.
    NoMaster {
        broker: String,
    },
    /// CVE-2023-33246.
    BrokerRunsForeignCommands {
        broker: String,
        version: String,
    },
    /// CVE-2023-37582.
    NameServerRunsForeignCommands {
        broker: String,
        version: String,
    },
    /// `used`: share of the disk, 0 to 1.
    DiskFilling {
        broker: String,
        used: f64,
        bad: bool,
    },
    /// `ahead`: the broker's clock less ours, in milliseconds.
    ClockOff {
        broker: String,
        ahead: i64,
    },
    GroupStuck {
        group: String,
        topic: String,
        lag: i64,
        since: Millis,
    },
    LagGrowing {
        group: String,
        topic: String,
        lag: i64,
        by: i64,
        since: Millis,
    },
    /// Its offsets lie beyond the queues' ends: the topic was made anew, or offsets were copied.
    OffsetBeyondEnd {
        group: String,
        topic: String,
        by: i64,
    },
    /// Retention removed messages before the group read them.
    ExpiredUnread {
        group: String,
        topic: String,
        messages: i64,
    },
    DeadLetters {
        topic: String,
        messages: i64,
    },
    /// Without it no client's message trace is kept.
    TraceTopicMissing {
        topic: String,
    },
    /// A topic has different configurations on its brokers.
    TopicDiffers {
        topic: String,
    },
}

impl Attention {
    pub fn severity(&self) -> Severity {
        match self {
            Self::ClusterUnreachable { .. }
            | Self::NoBroker
            | Self::BrokerDown { .. }
            | Self::NoMaster { .. }
            | Self::BrokerRunsForeignCommands { .. }
            | Self::GroupStuck { .. }
            | Self::DiskFilling { bad: true, .. } => Severity::Bad,
            _ => Severity::Warn,
        }
    }
}

/// Worst first, then in the order of the variants.
pub fn attention(snapshot: &Snapshot, custom_trace_topics: &[String]) -> Vec<Attention> {
    let mut out = Vec::new();
    if let Some(failure) = snapshot.topology.failure() {
        out.push(Attention::ClusterUnreachable { why: failure.why.clone(), since: failure.since });
    }
    for (address, why) in &snapshot.name_servers {
        if let Some(why) = why {
            out.push(Attention::NameServerDown { address: address.clone(), why: why.clone() });
        }
    }
    if snapshot.topology.value().is_some_and(|topology| topology.brokers.is_empty()) {
        out.push(Attention::NoBroker);
    }
    for state in &snapshot.brokers {
        of_broker(state, &mut out);
    }
    for topic in snapshot.topics.values() {
        of_topic(topic, &mut out);
    }
    let all_read = snapshot.rounds > 0 && !snapshot.brokers.is_empty() && snapshot.coverage().complete();
    if all_read && !snapshot.topics.keys().any(|topic| is_trace_topic(topic, custom_trace_topics)) {
        let topic = custom_trace_topics.first().map_or(TRACE_TOPIC, String::as_str).to_owned();
        out.push(Attention::TraceTopicMissing { topic });
    }
    out.sort_by_key(Attention::severity);
    out
}

fn of_broker(state: &BrokerState, out: &mut Vec<Attention>) {
    let broker = state.broker.name.clone();
    if let Some(failure) = state.failure() {
        out.push(Attention::BrokerDown { broker: broker.clone(), why: failure.why.clone(), since: failure.since });
    } else if state.broker.replicas.iter().all(|replica| replica.id != 0) {
        out.push(Attention::NoMaster { broker: broker.clone() });
    }
    let Some(runtime) = state.runtime.value() else { return };
    if let Some((text, version)) = runtime.version.as_ref().and_then(|text| Some((text, Version::parse(text)?))) {
        if version.runs_foreign_commands() {
            out.push(Attention::BrokerRunsForeignCommands { broker: broker.clone(), version: text.clone() });
        } else if version.name_server_runs_foreign_commands() {
            out.push(Attention::NameServerRunsForeignCommands { broker: broker.clone(), version: text.clone() });
        }
    }
    if let Some(used) = runtime.disk_used.filter(|used| *used >= DISK_WARN) {
        out.push(Attention::DiskFilling { broker: broker.clone(), used, bad: used >= DISK_BAD });
    }
    if let Some(ahead) = runtime.clock_offset_ms.filter(|ahead| ahead.abs() >= CLOCK_WARN) {
        out.push(Attention::ClockOff { broker, ahead });
    }
}

fn of_topic(topic: &TopicState, out: &mut Vec<Attention>) {
    let name = || topic.name.clone();
    if topic.kind == TopicKind::User && topic.differs {
        out.push(Attention::TopicDiffers { topic: name() });
    }
    if topic.kind == TopicKind::DeadLetter && topic.span.at_least() > 0 {
        out.push(Attention::DeadLetters { topic: name(), messages: topic.span.at_least() });
    }
    for group in topic.groups.iter().filter(|group| !group.left_over) {
        let who = || group.group.clone();
        let lag = group.lag.at_least();
        match group.trend {
            Trend::Stuck { since } => out.push(Attention::GroupStuck { group: who(), topic: name(), lag, since }),
            Trend::Growing { since, by } => {
                out.push(Attention::LagGrowing { group: who(), topic: name(), lag, by, since });
            }
            Trend::Steady => {}
        }
        if group.beyond_end > 0 {
            out.push(Attention::OffsetBeyondEnd { group: who(), topic: name(), by: group.beyond_end });
        }
        if group.expired_unread > 0 {
            out.push(Attention::ExpiredUnread { group: who(), topic: name(), messages: group.expired_unread });
        }
    }
}
