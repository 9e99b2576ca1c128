//! An in-memory cluster for tests: brokers that can be slow, dead or answer errors, with topics, groups, offsets,
//! messages and group members. It keeps the limits that matter to callers: 32 messages a pull, 64 a key look-up.
//!
//! Invariant: what one port call changes, every other port call of the same fake sees at once.

mod client;
mod fault;
mod message;
mod read;
mod state;
mod write;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use millrace_core::name::QueueRef;
use millrace_core::time::Millis;

pub use client::FakeClient;
pub use fault::{Call, Fault, Forwarded};
pub use message::FakeMessage;

use crate::{BrokerError, ClientConnection, Cluster, Message, MessageType, Perm, Result, TopicConfig};
use state::{Membership, State};

/// Messages that a broker answers to one pull.
pub const PULL_CAP: usize = 32;
/// Messages that a broker answers to one key look-up.
pub const KEY_CAP: usize = 64;

/// The cluster; clones share it. Builder methods take and give the fake, so that a test's cluster is one expression;
/// methods by reference change it while it runs.
///
/// ```
/// use millrace_broker::fake::{FakeCluster, FakeMessage};
///
/// let fake = FakeCluster::new()
///     .broker("broker-a")
///     .topic("orders", 4)
///     .message(FakeMessage::to("orders").key("order-17").body("{}"));
/// let cluster = fake.cluster();
/// # let _ = cluster;
/// ```
#[derive(Debug, Clone, Default)]
pub struct FakeCluster {
    state: Arc<Mutex<State>>,
    /// Wakes those who wait at a queue's end.
    arrived: Arc<tokio::sync::Notify>,
}

impl FakeCluster {
    pub fn new() -> Self {
        Self::default()
    }

    /// Everything allowed.
    pub fn cluster(&self) -> Cluster {
        Cluster { write: Some(Arc::new(self.clone())), send: Some(Arc::new(self.clone())), ..self.read_only() }
    }

    /// Without the handles that change anything.
    pub fn read_only(&self) -> Cluster {
        Cluster {
            name: "fake".to_owned(),
            read: Arc::new(self.clone()),
            tail: Arc::new(self.clone()),
            write: None,
            send: None,
        }
    }

    /// Adds a master at 192.0.2.n:10911.
    #[must_use]
    pub fn broker(self, name: &str) -> Self {
        self.lock().add_broker(name, &[0]);
        self
    }

    /// Adds a master and a slave.
    #[must_use]
    pub fn replicated_broker(self, name: &str) -> Self {
        self.lock().add_broker(name, &[0, 1]);
        self
    }

    /// Adds `topic` with as many read and write queues to every broker there is so far.
    #[must_use]
    pub fn topic(self, topic: &str, queues: u32) -> Self {
        for broker in self.broker_names() {
            self.put(&broker, plain_topic(topic, queues));
        }
        self
    }

    /// Adds or changes a topic on one broker.
    #[must_use]
    pub fn topic_on(self, broker: &str, topic: TopicConfig) -> Self {
        self.put(broker, topic);
        self
    }

    /// Adds a group to every broker there is so far.
    #[must_use]
    pub fn group(self, group: &str) -> Self {
        self.lock().add_group(group);
        self
    }

    /// Adds a group that has committed `offset` on a queue.
    #[must_use]
    pub fn committed_at(self, group: &str, queue: &QueueRef, offset: i64) -> Self {
        self.lock().add_group(group);
        self.lock().commit(group, queue, offset);
        self
    }

    /// Adds an online client of `group`, subscribed to `topic`, on every broker there is so far.
    #[must_use]
    pub fn client(self, group: &str, client: &str, topic: &str) -> Self {
        self.online(&FakeClient::of(group, client).subscribed(topic, "*"))
    }

    /// Adds an online client on every broker there is so far.
    #[must_use]
    pub fn online(self, client: &FakeClient) -> Self {
        self.join(client);
        self
    }

    /// Stores a message; see [`FakeMessage`] for where it goes.
    #[must_use]
    pub fn message(self, message: FakeMessage) -> Self {
        self.append(message);
        self
    }

    /// Sets one entry of a broker's configuration.
    #[must_use]
    pub fn config_entry(self, broker: &str, key: &str, value: &str) -> Self {
        if let Some(broker) = self.lock().brokers.get_mut(broker) {
            broker.config.insert(key.to_owned(), value.to_owned());
        }
        self
    }

    /// Sets one figure of a broker's runtime table.
    #[must_use]
    pub fn runtime_entry(self, broker: &str, key: &str, value: &str) -> Self {
        if let Some(broker) = self.lock().brokers.get_mut(broker) {
            broker.runtime.insert(key.to_owned(), value.to_owned());
        }
        self
    }

    /// Stores a message now and tells what became of it.
    ///
    /// # Panics
    /// If no broker has the topic or the queue: a test's mistake.
    pub fn append(&self, message: FakeMessage) -> Message {
        let stored = self.lock().append(message);
        self.arrived.notify_waiters();
        stored
    }

    /// Sets what the fake's next messages are stored at; each message moves it on by one millisecond.
    pub fn set_now(&self, now: Millis) {
        self.lock().now = now;
    }

    /// Every call to `broker` meets `fault` from now on.
    pub fn fail(&self, broker: &str, fault: Fault) {
        self.lock().faults.insert((broker.to_owned(), None), fault);
    }

    /// Calls of one kind to `broker` meet `fault` from now on.
    pub fn fail_call(&self, broker: &str, call: Call, fault: Fault) {
        self.lock().faults.insert((broker.to_owned(), Some(call)), fault);
    }

    /// What becomes of the next messages that are forwarded, one after the other.
    pub fn next_forwards(&self, forwards: impl IntoIterator<Item = Forwarded>) {
        self.lock().forwards.extend(forwards);
    }

    /// `broker` registers at `address` from now on; what it stored keeps the ids of its old one.
    pub fn move_broker(&self, broker: &str, address: &str) {
        if let Ok(moved) = self.lock().broker_mut(broker) {
            for replica in &mut moved.described.replicas {
                address.clone_into(&mut replica.address);
            }
        }
    }

    /// The name servers meet `fault` from now on.
    pub fn fail_name_servers(&self, fault: Fault) {
        self.lock().name_server_fault = Some(fault);
    }

    /// `broker` and the name servers are well again.
    pub fn heal(&self, broker: &str) {
        let mut state = self.lock();
        state.faults.retain(|(name, _), _| name != broker);
        state.name_server_fault = None;
    }

    /// Drops a queue's messages below `min`, as retention does.
    pub fn expire(&self, queue: &QueueRef, min: i64) {
        self.lock().expire(queue, min);
    }

    /// How often a call was made, failed ones too.
    pub fn calls(&self, call: Call) -> usize {
        self.lock().calls.get(&call).copied().unwrap_or_default()
    }

    /// Forgets the counts of calls.
    pub fn forget_calls(&self) {
        self.lock().calls.clear();
    }

    /// The highest offset that `group` committed on `queue`.
    pub fn committed_offset(&self, group: &str, queue: &QueueRef) -> Option<i64> {
        self.lock().committed(group, queue)
    }

    /// Clients of `group` that are members at `broker`.
    pub fn members_at(&self, broker: &str, group: &str) -> Vec<String> {
        self.lock().members(broker, group)
    }

    /// Routes that were deleted: name server and topic.
    pub fn deleted_routes(&self) -> Vec<(String, String)> {
        self.lock().deleted_routes.clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A test that panicked while it held the lock has failed already; the others may go on.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn broker_names(&self) -> Vec<String> {
        self.lock().brokers.keys().cloned().collect()
    }

    fn put(&self, broker: &str, topic: TopicConfig) {
        if let Some(broker) = self.lock().brokers.get_mut(broker) {
            broker.put_topic(topic);
        }
    }

    fn join(&self, client: &FakeClient) {
        let mut state = self.lock();
        for broker in state.brokers.values_mut() {
            let membership = Membership {
                subscriptions: client.subscriptions.clone(),
                consume_type: client.consume_type.clone(),
                message_model: client.message_model.clone(),
                connection: ClientConnection {
                    client_id: client.id.clone(),
                    address: "192.0.2.100:40000".to_owned(),
                    language: "RUST".to_owned(),
                    version: "V5_5_0".to_owned(),
                },
            };
            broker.members.entry(client.group.clone()).or_default().insert(client.id.clone(), membership);
        }
    }

    /// Counts the call, lives through the broker's fault and says whether the broker exists.
    async fn enter(&self, broker: &str, call: Call) -> Result<()> {
        let (address, fault) = {
            let mut state = self.lock();
            *state.calls.entry(call).or_default() += 1;
            let Some(known) = state.brokers.get(broker) else {
                return Err(BrokerError::NoSuchBroker(broker.to_owned()));
            };
            let address = known.address();
            let of_call = state.faults.get(&(broker.to_owned(), Some(call)));
            (address, of_call.or_else(|| state.faults.get(&(broker.to_owned(), None))).cloned())
        };
        match fault {
            Some(fault) => fault.meet(&address).await,
            None => Ok(()),
        }
    }

    async fn enter_name_server(&self, call: Call) -> Result<()> {
        let fault = {
            let mut state = self.lock();
            *state.calls.entry(call).or_default() += 1;
            state.name_server_fault.clone()
        };
        match fault {
            Some(fault) => {
                fault.meet(state::NAME_SERVER).await.map_err(|error| BrokerError::NoNameServer(error.to_string()))
            }
            None => Ok(()),
        }
    }
}

/// A readable and writable topic of no particular type.
fn plain_topic(name: &str, queues: u32) -> TopicConfig {
    TopicConfig {
        name: name.to_owned(),
        read_queues: queues,
        write_queues: queues,
        perm: Perm::READ_WRITE,
        message_type: MessageType::Normal,
        order: false,
        attributes: std::collections::BTreeMap::from([("message.type".to_owned(), "NORMAL".to_owned())]),
    }
}

#[cfg(test)]
mod tests;
