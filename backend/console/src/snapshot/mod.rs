//! What a cluster looks like: read once a tick, a fixed number of calls a broker, served to every page from memory.
//!
//! A broker that fails keeps its last good readings, with their age and the reason; the snapshot names it in its
//! coverage.

mod broker;
mod derive;
mod group;
mod history;
mod keeper;
mod kept;
mod lag;
mod memory;
mod rate;
mod topic;
mod trend;
mod turns;

use std::collections::BTreeMap;
use std::sync::Arc;

use millrace_broker::Topology;
use millrace_core::coverage::{Coverage, Why};
use millrace_core::time::Millis;

pub use broker::{BrokerState, StatsReading};
pub use group::{GroupAtBroker, GroupClients, GroupState};
pub use history::Points;
pub use keeper::{KeeperOptions, SnapshotSource, keep};
pub use kept::{Failure, Kept};
pub use lag::{QueueLag, queue_lag};
pub use topic::{GroupOnTopic, TopicAtBroker, TopicState};
pub use trend::Trend;

pub(crate) use broker::within;
pub(crate) use topic::{Committed, group_on_topic};

/// The cluster at one moment.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    pub cluster: String,
    /// When it was put together; `None` before the first.
    pub at: Option<Millis>,
    /// Complete rounds so far.
    pub rounds: u64,
    /// Each name server, and why it does not answer.
    pub name_servers: Vec<(String, Option<Why>)>,
    pub topology: Kept<Topology>,
    pub brokers: Vec<Arc<BrokerState>>,
    pub topics: BTreeMap<String, Arc<TopicState>>,
    pub groups: BTreeMap<String, Arc<GroupState>>,
    /// The highest request for a fresh reading that this one answers.
    answers: u64,
}

impl Snapshot {
    /// Which brokers answered in the last round, and when the oldest part was read.
    pub fn coverage(&self) -> Coverage {
        let mut coverage = Coverage::default();
        for state in &self.brokers {
            match state.failure() {
                Some(failure) => coverage.miss(&state.broker.name, &failure.why),
                None if state.at().is_none() => coverage.miss(&state.broker.name, Why::NotReadYet),
                None => coverage.answer(),
            }
        }
        if let Some(failure) = self.topology.failure() {
            coverage.miss("name servers", &failure.why);
        } else if self.brokers.is_empty() && self.rounds == 0 {
            coverage.miss("name servers", Why::NotReadYet);
        }
        coverage.as_of = self.brokers.iter().filter_map(|state| state.at()).min();
        coverage
    }

    pub fn broker(&self, name: &str) -> Option<&Arc<BrokerState>> {
        self.brokers.iter().find(|state| state.broker.name == name)
    }

    pub fn topic(&self, name: &str) -> Option<&Arc<TopicState>> {
        self.topics.get(name)
    }

    pub fn group(&self, name: &str) -> Option<&Arc<GroupState>> {
        self.groups.get(name)
    }
}
