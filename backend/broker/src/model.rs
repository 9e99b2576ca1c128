//! A cluster's things as RocketMQ describes them.

use std::collections::BTreeMap;

use millrace_core::name::QueueRef;
use millrace_core::time::Millis;
use serde::{Deserialize, Serialize};

/// What the name servers know.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Topology {
    pub brokers: Vec<Broker>,
}

impl Topology {
    /// Whether brokers make the topic for themselves: each makes one of its own name and one of its cluster's.
    pub fn is_own_topic(&self, topic: &str) -> bool {
        self.brokers.iter().any(|broker| broker.name == topic || broker.cluster == topic)
    }
}

/// A broker name with its replicas.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Broker {
    pub name: String,
    pub cluster: String,
    pub replicas: Vec<Replica>,
}

impl Broker {
    /// The master's address; where there is none, the lowest replica's.
    pub fn address(&self) -> Option<&str> {
        self.replicas.iter().min_by_key(|replica| replica.id).map(|replica| replica.address.as_str())
    }
}

/// `id` 0 is the master.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Replica {
    pub id: i64,
    pub address: String,
}

/// The broker's own figures. What it does not tell is absent.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct BrokerRuntime {
    pub version: Option<String>,
    /// Messages put a second, over the last ten seconds.
    pub put_per_second: Option<f64>,
    /// Messages got a second, over the last ten seconds.
    pub get_per_second: Option<f64>,
    pub boot: Option<Millis>,
    /// Share of the commit log's disk in use, 0 to 1.
    pub disk_used: Option<f64>,
    /// The broker's clock less ours, read half-way through the call.
    pub clock_offset_ms: Option<i64>,
    /// Everything it told, as it told it.
    pub raw: BTreeMap<String, String>,
}

/// Read and write permission of a topic: RocketMQ's 4 and 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Perm(pub u32);

impl Perm {
    pub const READ_WRITE: Self = Self(6);
    pub const READ: Self = Self(4);
    pub const WRITE: Self = Self(2);

    pub fn readable(self) -> bool {
        self.0 & 4 != 0
    }

    pub fn writable(self) -> bool {
        self.0 & 2 != 0
    }
}

/// The attribute `message.type` of RocketMQ 5.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageType {
    Normal,
    Fifo,
    Delay,
    Transaction,
    Mixed,
    /// The broker did not say.
    Unspecified,
}

impl MessageType {
    /// As in the attribute.
    pub fn attribute(self) -> Option<&'static str> {
        match self {
            Self::Normal => Some("NORMAL"),
            Self::Fifo => Some("FIFO"),
            Self::Delay => Some("DELAY"),
            Self::Transaction => Some("TRANSACTION"),
            Self::Mixed => Some("MIXED"),
            Self::Unspecified => None,
        }
    }

    pub fn from_attribute(text: Option<&str>) -> Self {
        match text {
            Some("NORMAL") => Self::Normal,
            Some("FIFO") => Self::Fifo,
            Some("DELAY") => Self::Delay,
            Some("TRANSACTION") => Self::Transaction,
            Some("MIXED") => Self::Mixed,
            _ => Self::Unspecified,
        }
    }
}

/// A topic on one broker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopicConfig {
    pub name: String,
    pub read_queues: u32,
    pub write_queues: u32,
    pub perm: Perm,
    pub message_type: MessageType,
    pub order: bool,
    /// Attributes as the broker tells them, without the sign of a change.
    pub attributes: BTreeMap<String, String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TopicRoute {
    pub queues: Vec<QueueRoute>,
    pub brokers: Vec<Broker>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct QueueRoute {
    pub broker: String,
    pub read_queues: u32,
    pub write_queues: u32,
    pub perm: Perm,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct QueueStats {
    pub queue: QueueRef,
    pub min: i64,
    /// One past the highest.
    pub max: i64,
    /// Store time of the newest message; `None` for an empty queue.
    pub last_update: Option<Millis>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GroupConfig {
    pub name: String,
    pub consume_enable: bool,
    pub broadcast_enable: bool,
    pub orderly: bool,
    pub retry_queues: i32,
    pub retry_max_times: i32,
}

/// Committed offsets of one group on one topic of one broker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GroupOffsets {
    pub group: String,
    pub topic: String,
    pub offsets: BTreeMap<i32, i64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct QueueLag {
    pub queue: QueueRef,
    pub broker_offset: i64,
    /// `None`: the group never committed here.
    pub consumer_offset: Option<i64>,
    /// Store time of the last message that the group passed.
    pub last_consumed: Option<Millis>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConsumerConnection {
    pub clients: Vec<ClientConnection>,
    /// `CONSUME_ACTIVELY` (pull) or `CONSUME_PASSIVELY` (push).
    pub consume_type: String,
    /// `CLUSTERING` or `BROADCASTING`.
    pub message_model: String,
    /// Topic and expression.
    pub subscriptions: BTreeMap<String, String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ClientConnection {
    pub client_id: String,
    pub address: String,
    pub language: String,
    pub version: String,
}

/// What a client tells of itself.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ClientRunning {
    /// Its settings and state, as it told them.
    pub properties: BTreeMap<String, String>,
    /// What it asked the broker for, topic by topic.
    pub subscriptions: Vec<Subscription>,
    /// Queues that it reads, by pull or by POP.
    pub queues: Vec<QueueRef>,
    /// The stacks of its threads, where they were asked for.
    pub stacks: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Subscription {
    pub topic: String,
    pub expression: String,
    /// `TAG` or `SQL92`.
    pub expression_type: String,
}
