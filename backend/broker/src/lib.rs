//! The port: what Millrace needs of a RocketMQ cluster.
//!
//! Reading, writing, tailing and sending are different traits, so a read-only cluster has no write handle to forget
//! a check on. Calls go to one broker at a time: whoever asks several brokers sums up the coverage.

mod error;
pub mod fake;
mod locate;
mod message;
mod model;

use async_trait::async_trait;
use millrace_core::name::QueueRef;
use millrace_core::time::Millis;

pub use error::{BrokerError, Result};
pub use locate::{Located, locate};
pub use message::{
    Body, KeyHits, Message, MessageToForward, MessageToSend, Properties, PulledBatch, SendReceipt, StoreStatus,
};
pub use model::{
    Broker, BrokerRuntime, ClientConnection, ClientRunning, ConsumerConnection, GroupConfig, GroupOffsets, MessageType,
    Perm, QueueLag, QueueRoute, QueueStats, Replica, Subscription, TopicConfig, TopicRoute, Topology,
};

/// What can be asked of a cluster. `broker` is a broker *name*; the adapter picks the address (its master).
#[async_trait]
pub trait BrokerRead: Send + Sync + std::fmt::Debug {
    /// Brokers as the name servers know them.
    async fn topology(&self) -> Result<Topology>;
    /// Each configured name server and whether it answers.
    async fn name_servers(&self) -> Vec<(String, Result<()>)>;
    /// Whether a TCP connection to `address` opens within the deadline. Only addresses of the topology are dialled.
    async fn reachable(&self, address: &str) -> Result<()>;
    async fn runtime(&self, broker: &str) -> Result<BrokerRuntime>;
    /// The broker's configuration as key and value.
    async fn config(&self, broker: &str) -> Result<std::collections::BTreeMap<String, String>>;

    /// All topics of one broker, in one call.
    async fn topics(&self, broker: &str) -> Result<Vec<TopicConfig>>;
    /// `NotFound` when no broker has the topic.
    async fn route(&self, topic: &str) -> Result<TopicRoute>;
    /// Offsets of every queue of `topic` on `broker`.
    async fn topic_stats(&self, broker: &str, topic: &str) -> Result<Vec<QueueStats>>;
    /// Groups with offsets on, or clients at, `topic`.
    async fn groups_of_topic(&self, broker: &str, topic: &str) -> Result<Vec<String>>;

    /// All groups of one broker, in one call.
    async fn groups(&self, broker: &str) -> Result<Vec<GroupConfig>>;
    /// Committed offsets of every group on every queue of one broker, in one call.
    async fn group_offsets(&self, broker: &str) -> Result<Vec<GroupOffsets>>;
    /// Lag of one group on one broker, with the store time of the last consumed message.
    async fn lag(&self, broker: &str, group: &str, topic: Option<&str>) -> Result<Vec<QueueLag>>;
    /// `NotFound` when no client of the group is online at `broker`.
    async fn consumers(&self, broker: &str, group: &str) -> Result<ConsumerConnection>;
    /// What a client of the group says of itself, through a broker that it is connected to. Clients of gRPC do not
    /// answer.
    async fn running(&self, broker: &str, group: &str, client: &str, stacks: bool) -> Result<ClientRunning>;

    /// Messages whose KEYS contain `key`; a broker answers no more than 64 at once.
    async fn messages_by_key(&self, broker: &str, topic: &str, key: &str, from: Millis, to: Millis) -> Result<KeyHits>;
    /// By a client's unique id.
    async fn messages_by_uniq_id(
        &self,
        broker: &str,
        topic: &str,
        id: &str,
        from: Millis,
        to: Millis,
    ) -> Result<Vec<Message>>;
    /// By commit-log offset, the second half of an offset message id.
    async fn message_at(&self, broker: &str, commit_log_offset: i64) -> Result<Message>;
    /// First offset stored at or after `time`.
    async fn offset_at(&self, queue: &QueueRef, time: Millis) -> Result<i64>;
    /// Lowest and one past the highest offset.
    async fn bounds(&self, queue: &QueueRef) -> Result<(i64, i64)>;
    /// Messages from `offset` on, at once: never waits for new ones. A broker answers at most 32.
    async fn pull(&self, queue: &QueueRef, offset: i64, max: u32) -> Result<PulledBatch>;
}

/// Changes. Absent for a read-only cluster.
#[async_trait]
pub trait BrokerWrite: Send + Sync + std::fmt::Debug {
    /// Creates the topic on one broker, or changes it there.
    async fn put_topic(&self, broker: &str, topic: &TopicConfig) -> Result<()>;
    async fn delete_topic(&self, broker: &str, topic: &str) -> Result<()>;
    /// Removes the route from one name server, after the brokers.
    async fn delete_route(&self, name_server: &str, topic: &str) -> Result<()>;
    /// Creates the group on one broker, or changes it there; what a [`GroupConfig`] does not name stays as it is.
    async fn put_group(&self, broker: &str, group: &GroupConfig) -> Result<()>;
    /// Its committed offsets go with it.
    async fn delete_group(&self, broker: &str, group: &str) -> Result<()>;
    /// Sets where the group goes on reading the queue. Clients that are online go on from there, too.
    async fn reset_offset(&self, group: &str, queue: &QueueRef, offset: i64) -> Result<()>;
}

/// Reading as a member of a consumer group: RocketMQ's own membership, our own positions.
#[async_trait]
pub trait BrokerTail: Send + Sync + std::fmt::Debug {
    /// Announces `client` as a member of `group` with subscriptions to `topics`, to every broker. Call every 20 s.
    async fn heartbeat(&self, group: &str, client: &str, topics: &[String]) -> Result<()>;
    /// Client ids of the group's members, sorted, from the brokers that have `topic`.
    async fn members(&self, group: &str, topic: &str) -> Result<Vec<String>>;
    /// Leaves the group at once instead of at the broker's time-out.
    async fn leave(&self, group: &str, client: &str) -> Result<()>;
    /// Messages from `offset` on; waits at the broker up to `wait` for new ones.
    async fn tail(&self, group: &str, queue: &QueueRef, offset: i64, wait: std::time::Duration) -> Result<PulledBatch>;
    /// The group's committed offset, where there is one.
    async fn committed(&self, group: &str, queue: &QueueRef) -> Result<Option<i64>>;
    /// Tells the broker how far the group is, so that every RocketMQ tool shows our lag.
    async fn commit(&self, group: &str, queue: &QueueRef, offset: i64) -> Result<()>;
}

/// Sending with message trace on.
#[async_trait]
pub trait BrokerSend: Send + Sync + std::fmt::Debug {
    async fn send(&self, message: MessageToSend) -> Result<SendReceipt>;
    /// Stores a message at `broker` with its properties as they are, and without a trace of it. Asked once: after an
    /// error that is not [`BrokerError::refused`] it may be stored.
    async fn forward(&self, broker: &str, message: MessageToForward) -> Result<SendReceipt>;
}

/// One cluster's handles.
#[derive(Debug, Clone)]
pub struct Cluster {
    pub name: String,
    pub read: std::sync::Arc<dyn BrokerRead>,
    pub tail: std::sync::Arc<dyn BrokerTail>,
    /// `None`: the cluster is read-only here.
    pub write: Option<std::sync::Arc<dyn BrokerWrite>>,
    pub send: Option<std::sync::Arc<dyn BrokerSend>>,
}
