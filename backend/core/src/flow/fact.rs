//! What a reconstruction is given beside trace records: what the broker says, and the question's frame.

use serde::Serialize;

use crate::name::QueueRef;
use crate::time::Millis;

/// How the clients of a group take messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ConsumeModel {
    /// Each message once in the group; a committed offset says that all below is done.
    Clustering,
    /// Each message once a client, which keeps its own offsets.
    Broadcasting,
    /// Acknowledged one by one: a committed offset says that all below was handed out, not that it was done.
    Pop,
}

/// Something that was read from a broker. Order and repetition of facts do not matter.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(tag = "fact", rename_all = "snake_case")]
pub enum Fact {
    /// A copy of the message lies in the dead-letter topic of `group`.
    DeadLetter {
        group: String,
        /// The unique id that the copy kept; the original's offset id where it has none.
        message_id: String,
        topic: String,
        stored: Option<Millis>,
        /// Offset id of the copy.
        offset_id: Option<String>,
        /// Offset id of the original (property `ORIGIN_MESSAGE_ID`).
        origin_id: Option<String>,
        /// Deliveries before it, as the copy counts them.
        tries: Option<i64>,
    },
    /// The message itself, found in a queue of its topic.
    Stored {
        topic: String,
        message_id: String,
        offset_id: Option<String>,
        queue: QueueRef,
        offset: i64,
        stored: Millis,
        keys: Vec<String>,
        tags: Option<String>,
        reconsume_times: i32,
    },
    /// The offset that `group` committed on `queue`: it is done with everything below. Joined with [`Fact::Stored`]
    /// by queue.
    Committed { group: String, queue: QueueRef, committed: i64 },
    /// `group` subscribes to `topic`, so it is expected to get its messages.
    Subscribed {
        topic: String,
        group: String,
        /// Tag expression: `*`, or tags joined by `||`. `None` when it is not known; then nothing is called filtered.
        expression: Option<String>,
        /// Clients online; `None` when it could not be asked.
        clients: Option<usize>,
        /// `None` when no client is online to tell.
        model: Option<ConsumeModel>,
    },
    /// Every message that `group` takes leads to one in `topic`: nothing after a success is a drop.
    Produces { group: String, topic: String },
    /// `group` was seen consuming from `topic`: decides where one id lies in several topics. Its deliveries that were
    /// looked at began from `first` to `last`: in between it is known to trace.
    Consumes { group: String, topic: String, first: Option<Millis>, last: Option<Millis> },
    /// A group's own configuration. `max_retries` is the broker's default for it; clients may set less.
    Group { group: String, max_retries: Option<i64>, orderly: Option<bool> },
}

/// The frame of a reconstruction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Options {
    /// The key, message id or offset id that is looked for.
    pub subject: String,
    /// Limits the flow to what hangs together with this message id, when one key is used by several records.
    pub root: Option<String>,
    pub now: Millis,
    /// Every trace message that was stored before this was read: least store time over the queues of the trace topics.
    /// `None`: not known, so nothing is called missing.
    pub watermark: Option<Millis>,
    /// The records are all that the clients traced (whole files), not what was found by terms.
    pub whole: bool,
    /// Retries before the dead-letter topic where no fact says otherwise: RocketMQ's 16.
    pub max_retries: i64,
    /// RocketMQ's consumeTimeout: a delivery that works for longer is stuck.
    pub consume_timeout_ms: i64,
    /// How long after it became visible a message may go undelivered without being called missing.
    pub grace_ms: i64,
    /// The whole flow should take no longer; `None`: nobody said.
    pub limit_ms: Option<i64>,
}

impl Options {
    pub fn of(subject: impl Into<String>, now: Millis) -> Self {
        Self {
            subject: subject.into(),
            root: None,
            now,
            watermark: None,
            whole: false,
            max_retries: 16,
            consume_timeout_ms: 15 * 60_000,
            grace_ms: 10_000,
            limit_ms: None,
        }
    }
}
