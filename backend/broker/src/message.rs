//! Messages as they lie in a queue, and messages to send.

use bytes::Bytes;
use millrace_core::name::QueueRef;
use millrace_core::time::Millis;

/// Properties in the order of the wire.
pub type Properties = Vec<(String, String)>;

/// A stored message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub queue: QueueRef,
    pub offset: i64,
    pub commit_log_offset: i64,
    /// The offset message id.
    pub offset_id: String,
    /// The client's unique id (property UNIQ_KEY), where there is one.
    pub uniq_id: Option<String>,
    pub born: Millis,
    pub born_host: String,
    pub stored: Millis,
    pub store_host: String,
    pub sys_flag: i32,
    /// As written by the producer.
    pub flag: i32,
    pub reconsume_times: i32,
    pub properties: Properties,
    pub body: Body,
    /// Bytes of the stored message.
    pub store_size: i32,
}

/// A body as stored and, where it was compressed, as it was before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body {
    /// The producer's bytes: inflated where the sys flag says compressed and that worked.
    pub bytes: Bytes,
    /// Why a compressed body could not be inflated; `bytes` is then as stored.
    pub inflate_error: Option<String>,
}

impl Message {
    pub fn property(&self, name: &str) -> Option<&str> {
        self.properties.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    pub fn tags(&self) -> Option<&str> {
        self.property("TAGS").filter(|tags| !tags.is_empty())
    }

    /// Keys of the message: KEYS is split at blanks.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.property("KEYS").unwrap_or_default().split_ascii_whitespace()
    }

    /// The id that people know: the unique id, else the offset id.
    pub fn id(&self) -> &str {
        self.uniq_id.as_deref().unwrap_or(&self.offset_id)
    }
}

/// What a pull found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PulledBatch {
    pub messages: Vec<Message>,
    /// Where to go on.
    pub next: i64,
    pub min: i64,
    pub max: i64,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MessageToSend {
    pub topic: String,
    pub tags: Option<String>,
    pub keys: Vec<String>,
    pub properties: Properties,
    pub body: Bytes,
    /// A given queue instead of the client's choice.
    pub queue: Option<(String, i32)>,
}

/// A message that was stored before, for the queues of another topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageToForward {
    pub topic: String,
    /// As written by the producer.
    pub flag: i32,
    /// Its own id among them.
    pub properties: Properties,
    /// Not compressed.
    pub body: Bytes,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SendReceipt {
    pub status: StoreStatus,
    pub message_id: String,
    pub offset_id: Option<String>,
    pub queue: QueueRef,
    pub offset: i64,
}

/// In every case the message is stored; the others say what did not follow in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreStatus {
    Ok,
    FlushDiskTimeout,
    FlushSlaveTimeout,
    SlaveNotAvailable,
}

impl StoreStatus {
    /// As answers of the API name it.
    pub fn code(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::FlushDiskTimeout => "flush_disk_timeout",
            Self::FlushSlaveTimeout => "flush_slave_timeout",
            Self::SlaveNotAvailable => "slave_not_available",
        }
    }
}

/// What a broker's index has for a key.
#[derive(Debug, Clone, Default)]
pub struct KeyHits {
    /// Newest first.
    pub messages: Vec<Message>,
    /// The broker answered as many as it ever does: it may have more, stored before `oldest`.
    pub capped: bool,
    /// Of all that it answered, what was not asked for included: its index goes by hashes, and by whole seconds.
    pub oldest: Option<Millis>,
}
