//! What the keeper remembers between two rounds.

use millrace_core::coverage::Why;
use std::collections::BTreeMap;
use std::sync::Arc;

use millrace_broker::{Result, Topology};
use millrace_core::time::Millis;

use super::Snapshot;
use super::broker::BrokerState;
use super::history::History;
use super::kept::Kept;
use super::trend::Trends;

/// How long a broker that left the name servers is still told about, in milliseconds.
const FORGET_AFTER: i64 = 3_600_000;

#[derive(Debug, Default)]
pub(crate) struct Memory {
    pub(crate) cluster: String,
    pub(crate) rounds: u64,
    pub(crate) answers: u64,
    pub(crate) name_servers: Vec<(String, Option<Why>)>,
    pub(crate) topology: Kept<Topology>,
    pub(crate) brokers: BTreeMap<String, Arc<BrokerState>>,
    pub(crate) trends: Trends,
    pub(crate) history: History,
}

impl Memory {
    /// Takes in what the name servers say. A broker that vanished stays for a while, as failing: its topics did not
    /// cease to exist.
    pub(crate) fn put_topology(&mut self, topology: Result<Topology>, now: Millis) {
        let listed = topology.as_ref().ok().cloned();
        self.topology.put(topology, now);
        let Some(listed) = listed else { return };
        self.brokers.retain(|name, state| {
            if listed.brokers.iter().any(|broker| broker.name == *name) {
                return true;
            }
            let gone = Arc::make_mut(state);
            let since = *gone.vanished.get_or_insert(now);
            gone.fail(&Why::NotListed, now);
            now.since(since) < FORGET_AFTER
        });
        for broker in listed.brokers {
            let state =
                self.brokers.entry(broker.name.clone()).or_insert_with(|| Arc::new(BrokerState::new(broker.clone())));
            if state.broker != broker || state.vanished.is_some() {
                let state = Arc::make_mut(state);
                state.broker = broker;
                state.vanished = None;
            }
        }
    }

    /// Brokers to read in this round.
    pub(crate) fn listed(&self) -> Vec<BrokerState> {
        self.brokers.values().filter(|state| state.vanished.is_none()).map(|state| state.as_ref().clone()).collect()
    }

    pub(crate) fn groups_known(&self) -> bool {
        self.brokers.values().all(|state| state.groups.value().is_some())
    }

    pub(crate) fn knows_group(&self, group: &str) -> bool {
        millrace_core::name::is_system_group(group)
            || self.brokers.values().filter_map(|state| state.groups.value()).any(|groups| groups.contains_key(group))
    }

    /// At the end of a round: what the next one's trends and history stand on.
    pub(crate) fn learn(&mut self, snapshot: &Snapshot, now: Millis) {
        self.trends.begin();
        self.history.begin();
        for topic in snapshot.topics.values() {
            self.history.observe(&topic.name, topic.per_second.value(), now);
            for group in &topic.groups {
                // A lag that is not known, or old, says nothing about growth.
                if let (Some(lag), true) = (group.lag.value(), group.lag.stale_parts().is_empty()) {
                    self.trends.observe(&group.group, &topic.name, lag, group.committed, now);
                }
            }
        }
        self.trends.end();
        self.history.end();
    }
}
