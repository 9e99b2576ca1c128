//! A trace message as it lies in a queue, and the records that are in it.

use serde::{Deserialize, Serialize};

use crate::name::QueueRef;
use crate::time::Millis;

/// A message of a trace topic, whole. It is what the trace store keeps, so that a better decoder sees the same bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceMessage {
    pub queue: QueueRef,
    pub offset: i64,
    /// The broker's clock.
    pub stored: Millis,
    /// The client's clock when the trace was sent.
    pub born: Millis,
    /// The client's address as the broker saw it, without port.
    pub born_host: String,
    /// The producer group of the trace message (`_INNER_TRACE_PRODUCER-<group>-…`), where known.
    pub producer_group: Option<String>,
    pub body: Vec<u8>,
}

/// One entry of a trace message with the place where it lies. `(origin.queue, origin.offset, origin.index)` is its identity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceRecord {
    pub event: TraceEvent,
    pub origin: Origin,
    /// Fields beyond those that any known client version writes, kept as they came.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extra: Vec<String>,
}

/// Where a trace record comes from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Origin {
    pub queue: QueueRef,
    pub offset: i64,
    /// Place of the entry in its trace message, from 0; rejected entries take a place too.
    pub index: u32,
    pub stored: Millis,
    pub born: Millis,
    pub born_host: String,
    /// The group that owns the client, from the trace message's producer group name.
    pub owner_group: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TraceEvent {
    Pub(Pub),
    SubBefore(SubBefore),
    SubAfter(SubAfter),
    EndTransaction(EndTransaction),
    Recall(Recall),
}

/// A send that got a result. A send that threw leaves no record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pub {
    /// Start of the send in Java and C++, end of it in Go.
    pub time: Millis,
    pub region: String,
    pub producer_group: String,
    pub topic: String,
    /// One id, or all ids of a batch send.
    pub message_ids: Vec<String>,
    pub tags: Option<String>,
    /// Distinct, in the order written.
    pub keys: Vec<String>,
    /// The broker's address as the client addresses it.
    pub store_host: String,
    pub body_length: i64,
    /// Milliseconds the send took.
    pub cost: i64,
    pub message_type: PubType,
    /// Offset message ids, the first that of the first of `message_ids` and so on, as far as the client wrote them.
    pub offset_ids: Vec<String>,
    /// `false` says only that a flush or a slave timed out: the message is stored.
    pub success: bool,
    pub client_host: Option<String>,
}

/// The `msgType` ordinal. Clients 5.0.0 and 5.1.0 number differently (apache/rocketmq#6157).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PubType {
    Normal,
    TransactionHalf,
    TransactionCommit,
    Delay,
    Order,
    /// Ordinal 1: half in all releases but 5.0.0 and 5.1.0, where it is an ordered message.
    HalfOrOrder,
    Other(i64),
}

/// A delivery begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubBefore {
    pub time: Millis,
    pub region: String,
    pub group: String,
    pub request_id: String,
    pub message_id: String,
    pub retry: i64,
    pub keys: Vec<String>,
    pub client_host: Option<String>,
}

/// A delivery ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubAfter {
    pub request_id: String,
    pub message_id: String,
    /// Milliseconds; Java divides the batch's time by its size.
    pub cost: i64,
    pub success: bool,
    pub keys: Vec<String>,
    /// Absent in C++ records.
    pub outcome: Option<Outcome>,
    /// Absent before 4.8.0, in 4.9.1 and on the CLOUD channel.
    pub time: Option<Millis>,
    /// As written; where absent, `Origin::owner_group` usually knows it.
    pub group: Option<String>,
}

/// `contextCode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Success,
    /// Ran past consumeTimeout; `success` may still be true.
    TimeOut,
    Exception,
    ReturnNull,
    Failed,
    Other(i64),
}

/// The producer's side of the end of a transaction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndTransaction {
    pub time: Millis,
    pub region: String,
    pub producer_group: String,
    pub topic: String,
    pub message_id: String,
    pub tags: Option<String>,
    pub keys: Vec<String>,
    pub store_host: String,
    pub transaction_id: String,
    pub state: TransactionState,
    pub from_check: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TransactionState {
    Commit,
    Rollback,
    /// RocketMQ spells it `UNKNOW`.
    Unknown,
    Other(String),
}

/// A delayed message was called back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recall {
    pub time: Millis,
    pub region: String,
    pub producer_group: String,
    pub topic: String,
    pub message_id: String,
    pub success: bool,
}

impl TraceEvent {
    /// Keys of the record, distinct.
    pub fn keys(&self) -> &[String] {
        match self {
            Self::Pub(e) => &e.keys,
            Self::SubBefore(e) => &e.keys,
            Self::SubAfter(e) => &e.keys,
            Self::EndTransaction(e) => &e.keys,
            Self::Recall(_) => &[],
        }
    }

    /// Message ids of the record: several for a batch send.
    pub fn message_ids(&self) -> &[String] {
        match self {
            Self::Pub(e) => &e.message_ids,
            Self::SubBefore(e) => std::slice::from_ref(&e.message_id),
            Self::SubAfter(e) => std::slice::from_ref(&e.message_id),
            Self::EndTransaction(e) => std::slice::from_ref(&e.message_id),
            Self::Recall(e) => std::slice::from_ref(&e.message_id),
        }
    }

    /// The record's own time, on the client's clock, where it has one.
    pub fn time(&self) -> Option<Millis> {
        match self {
            Self::Pub(e) => Some(e.time),
            Self::SubBefore(e) => Some(e.time),
            Self::SubAfter(e) => e.time,
            Self::EndTransaction(e) => Some(e.time),
            Self::Recall(e) => Some(e.time),
        }
    }
}
