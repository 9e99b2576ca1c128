//! A cluster at a glance: brokers, rates, and what needs a person's attention, worst first. Pure over a snapshot.

mod attention;
mod version;

use millrace_core::coverage::{Coverage, Known, Why};
use millrace_core::name::TopicKind;
use millrace_core::time::Millis;
use serde::Serialize;

use crate::snapshot::{BrokerState, Failure, Snapshot};
use crate::tally::Tally;

pub use attention::{Attention, Severity, attention};
pub use version::Version;

#[derive(Debug, Clone, Serialize)]
pub struct Overview {
    pub brokers: Vec<BrokerLine>,
    /// Each name server, and why it does not answer.
    pub name_servers: Vec<(String, Option<Why>)>,
    /// People's own topics.
    pub topics: usize,
    pub groups: usize,
    /// Messages put a second into people's own topics.
    pub put_per_second: Tally<f64>,
    pub attention: Vec<Attention>,
    pub coverage: Coverage,
}

/// A broker in the overview. What it did not tell is unknown with the reason.
#[derive(Debug, Clone, Serialize)]
pub struct BrokerLine {
    pub name: String,
    pub address: Option<String>,
    pub replicas: usize,
    pub has_master: bool,
    pub version: Known<String>,
    pub put_per_second: Known<f64>,
    pub get_per_second: Known<f64>,
    /// Share of the disk in use, 0 to 1.
    pub disk_used: Known<f64>,
    pub up_since: Known<Millis>,
    pub topics: Known<usize>,
    pub groups: Known<usize>,
    pub failure: Option<Failure>,
    /// When the oldest of its readings was taken.
    pub read_at: Option<Millis>,
}

impl BrokerLine {
    fn of(state: &BrokerState) -> Self {
        let failure = state.failure().or_else(|| state.runtime.failure()).cloned();
        Self {
            name: state.broker.name.clone(),
            address: state.broker.address().map(str::to_owned),
            replicas: state.broker.replicas.len(),
            has_master: state.broker.replicas.iter().any(|replica| replica.id == 0),
            version: told(state, |runtime| runtime.version.clone()),
            put_per_second: now(state, |runtime| runtime.put_per_second),
            get_per_second: now(state, |runtime| runtime.get_per_second),
            disk_used: told(state, |runtime| runtime.disk_used),
            up_since: told(state, |runtime| runtime.boot),
            topics: state.topics.value().map_or_else(|| unknown(state.topics.why()), |t| Known::Known(t.len())),
            groups: state.groups.value().map_or_else(|| unknown(state.groups.why()), |g| Known::Known(g.len())),
            failure,
            read_at: state.at(),
        }
    }
}

fn unknown<T>(why: Why) -> Known<T> {
    Known::Unknown(why)
}

/// As last told, however old.
fn told<T>(state: &BrokerState, figure: impl Fn(&millrace_broker::BrokerRuntime) -> Option<T>) -> Known<T> {
    match state.runtime.value() {
        None => unknown(state.runtime.why()),
        Some(runtime) => figure(runtime).map_or_else(|| unknown(Why::NotTold), Known::Known),
    }
}

/// A rate is about now: of a broker that does not answer now there is none.
fn now<T>(state: &BrokerState, figure: impl Fn(&millrace_broker::BrokerRuntime) -> Option<T>) -> Known<T> {
    match state.runtime.failure() {
        Some(failure) => unknown(failure.why.clone()),
        None => told(state, figure),
    }
}

pub fn overview(snapshot: &Snapshot, custom_trace_topics: &[String]) -> Overview {
    let own = snapshot.topics.values().filter(|topic| topic.kind == TopicKind::User);
    let mut put_per_second = Tally::default();
    for topic in own.clone() {
        for missed in topic.per_second.missing() {
            put_per_second.miss(&missed.what, &missed.why);
        }
        if let Some(at) = topic.per_second.as_of() {
            put_per_second.add(topic.per_second.at_least(), at);
        }
    }
    for missed in snapshot.coverage().missed {
        put_per_second.miss(missed.what, missed.why);
    }
    Overview {
        brokers: snapshot.brokers.iter().map(|state| BrokerLine::of(state)).collect(),
        name_servers: snapshot.name_servers.clone(),
        topics: own.count(),
        groups: snapshot.groups.values().filter(|group| !group.system && !group.left_over).count(),
        put_per_second,
        attention: attention(snapshot, custom_trace_topics),
        coverage: snapshot.coverage(),
    }
}
