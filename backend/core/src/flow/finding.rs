//! What is wrong with a flow, and the one sentence about it, as codes and numbers.

use serde::Serialize;

use super::model::{HopRef, MessageRef, Why};
use crate::time::Millis;
use crate::trace::Outcome;

/// One thing that is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub severity: Severity,
    pub hop: Option<HopRef>,
    pub message: Option<MessageRef>,
    /// The group or, where no group is concerned, the topic.
    pub about: Option<String>,
    #[serde(flatten)]
    pub kind: FindingKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The record is not where it should be.
    Bad,
    /// It may be, or came there by a detour.
    Warn,
    /// Worth knowing when reading the flow.
    Note,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "finding", rename_all = "snake_case")]
pub enum FindingKind {
    /// Everything was looked at, the time is over, and the group did not get the message.
    Missing {
        since: Millis,
    },
    /// The last attempt failed and no further one is known to follow.
    Failed {
        tries: i64,
        outcome: Option<Outcome>,
    },
    Retrying {
        tries: i64,
        next_due: Option<Millis>,
        outcome: Option<Outcome>,
    },
    Dead {
        tries: i64,
        since: Option<Millis>,
        confirmed: bool,
    },
    /// The last hop ended later than allowed.
    Late {
        took_ms: i64,
        limit_ms: i64,
    },
    /// Delivered again after a success.
    DuplicateDelivery {
        times: usize,
    },
    /// The same record was sent several times to one topic.
    DuplicateSend {
        times: usize,
    },
    /// The group got a later message of the same key first.
    OutOfOrder {
        later: MessageRef,
    },
    /// Ran past the consume timeout.
    TimedOut {
        worked_ms: Option<i64>,
    },
    /// Working for longer than the consume timeout.
    Stuck {
        since: Millis,
        age_ms: i64,
    },
    /// The group took the message and, unlike for others, nothing came out of it.
    DroppedAtOperator,
    /// Consumed, but its publication was not traced.
    Orphan,
    /// A client's clock is off; its times are corrected.
    Skew {
        host: String,
        offset_ms: i64,
    },
    /// After correction a child still begins before its parent.
    NegativeTime {
        by_ms: i64,
    },
    /// One send lies in the topic several times.
    StoredTwice {
        times: usize,
    },
}

/// Where the record is, in one code. `group` names the first place that needs a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum Verdict {
    /// No trace record and no message has the key or id.
    NotFound,
    /// Every group that was to get it has it.
    Complete {
        groups: usize,
        at: Option<Millis>,
    },
    /// Every delivery that was traced ended well; whether other groups should have it is not known.
    TracedOk {
        groups: usize,
        at: Option<Millis>,
    },
    /// Published; no consumer is known.
    OnlyPublished {
        topic: Option<String>,
        at: Option<Millis>,
    },
    /// Failed for good.
    StoppedAt {
        group: String,
        tries: i64,
        dead_since: Option<Millis>,
        /// Groups that have the record, of those that were to get it.
        reached: usize,
        of: usize,
    },
    Retrying {
        group: String,
        tries: i64,
        next_due: Option<Millis>,
    },
    /// Due and not delivered.
    MissingAt {
        group: String,
        since: Millis,
    },
    /// A group took it and passed nothing on.
    DroppedAt {
        group: String,
    },
    /// Being worked on.
    InProgress {
        group: Option<String>,
        since: Option<Millis>,
    },
    WaitingAt {
        group: String,
        ahead: Option<i64>,
    },
    RolledBack {
        topic: Option<String>,
        at: Option<Millis>,
    },
    /// A transaction without a commit so far.
    TransactionOpen {
        topic: Option<String>,
    },
    Recalled {
        topic: Option<String>,
        at: Option<Millis>,
    },
    Unknown {
        group: Option<String>,
        why: Why,
    },
}
