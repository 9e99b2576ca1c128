//! A flow as data: messages, hops, attempts and the edges between them.
//!
//! Invariant: everything is sorted, and references are places in the sorted lists, so that equal inputs give equal
//! (`==`) flows. There are no sentences here: pages translate codes and numbers.

use serde::Serialize;

use super::finding::{Finding, FindingKind, Verdict};
use crate::name::QueueRef;
use crate::time::Millis;
use crate::trace::{Outcome, TransactionState};

/// Place of a message in [`Flow::messages`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct MessageRef(pub usize);

/// Place of a hop in [`Flow::hops`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct HopRef(pub usize);

/// What happened to one record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Flow {
    /// The text that was asked for: a key or an id.
    pub subject: String,
    /// By begin, then id and topic.
    pub messages: Vec<MessageNode>,
    /// By message, then first attempt and group.
    pub hops: Vec<Hop>,
    pub edges: Vec<Edge>,
    /// Where the flow begins: messages that no attempt of the flow is known to have produced. Several when one key
    /// is used by several records.
    pub roots: Vec<MessageRef>,
    /// The worst first.
    pub findings: Vec<Finding>,
    pub verdict: Verdict,
    /// Clients whose traces are in the flow, with their clocks.
    pub clocks: Vec<ClockOffset>,
    /// First to last corrected time; `None` when nothing was found.
    pub span: Option<Span>,
    /// Trace records that the flow is made of.
    pub records: usize,
}

impl Flow {
    pub fn message(&self, at: MessageRef) -> Option<&MessageNode> {
        self.messages.get(at.0)
    }

    pub fn hop(&self, at: HopRef) -> Option<&Hop> {
        self.hops.get(at.0)
    }

    /// Hops that consumed or should consume `message`.
    pub fn hops_of(&self, message: MessageRef) -> impl Iterator<Item = (HopRef, &Hop)> {
        self.hops.iter().enumerate().filter(move |(_, hop)| hop.message == message).map(|(i, hop)| (HopRef(i), hop))
    }

    /// The messages from which something may be concluded about the record.
    pub fn sure_messages(&self) -> impl Iterator<Item = (MessageRef, &MessageNode)> {
        self.messages.iter().enumerate().filter(|(_, message)| !message.perhaps).map(|(i, node)| (MessageRef(i), node))
    }

    /// The hops from which something may be concluded about the record.
    pub fn sure_hops(&self) -> impl Iterator<Item = (HopRef, &Hop)> {
        let sure = |hop: &Hop| self.message(hop.message).is_none_or(|message| !message.perhaps);
        self.hops.iter().enumerate().filter(move |(_, hop)| sure(hop)).map(|(i, hop)| (HopRef(i), hop))
    }

    /// Whether `hop` took the record and passed nothing on, as a finding says.
    pub fn dropped_at(&self, hop: HopRef) -> bool {
        self.findings.iter().any(|finding| finding.hop == Some(hop) && finding.kind == FindingKind::DroppedAtOperator)
    }

    /// Edges that lead to `message`: its candidate parents.
    pub fn parents_of(&self, message: MessageRef) -> impl Iterator<Item = &Edge> {
        self.edges.iter().filter(move |edge| edge.to == message)
    }

    /// Edges that start at `hop`.
    pub fn children_of(&self, hop: HopRef) -> impl Iterator<Item = &Edge> {
        self.edges.iter().filter(move |edge| edge.from == hop)
    }

    /// Messages that hang together by edges, whatever their confidence: each strand is one record. Each sorted, and by
    /// their first messages.
    pub fn strands(&self) -> Vec<Vec<MessageRef>> {
        let mut strand_of: Vec<usize> = (0..self.messages.len()).collect();
        for edge in &self.edges {
            let ends = self.hop(edge.from).and_then(|hop| strand_of.get(hop.message.0)).zip(strand_of.get(edge.to.0));
            let Some((one, other)) = ends.map(|(one, other)| (*one.min(other), *one.max(other))) else { continue };
            for strand in strand_of.iter_mut().filter(|strand| **strand == other) {
                *strand = one;
            }
        }
        let mut strands: std::collections::BTreeMap<usize, Vec<MessageRef>> = std::collections::BTreeMap::new();
        for (message, strand) in strand_of.into_iter().enumerate() {
            strands.entry(strand).or_default().push(MessageRef(message));
        }
        strands.into_values().collect()
    }

    /// Distinct groups of the hops, sorted.
    pub fn groups(&self) -> Vec<&str> {
        let mut groups: Vec<&str> = self.hops.iter().filter_map(|hop| hop.group.as_deref()).collect();
        groups.sort_unstable();
        groups.dedup();
        groups
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Span {
    pub begin: Millis,
    pub end: Millis,
}

/// One message: an id in a topic. An object that was sent again to another topic keeps its id and is two messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MessageNode {
    /// The unique id; the offset id where no record knows the other.
    pub id: String,
    /// `None` when no publication was traced and no fact names the topic: consumers' traces do not carry it.
    pub topic: Option<String>,
    /// One is usual; several when the client sent the same id again. Empty when none was traced.
    pub publications: Vec<Publication>,
    /// Offset ids of the message, from publications and facts.
    pub offset_ids: Vec<String>,
    pub tags: Option<String>,
    /// Record keys, without parent tokens.
    pub keys: Vec<String>,
    /// Ids that the message's keys name as its parents (`~p=<id>`).
    pub parent_tokens: Vec<String>,
    pub body_length: Option<i64>,
    pub kind: MessageKind,
    /// All ids of the batch that the message was sent in, itself among them; empty when it was sent alone.
    pub batch: Vec<String>,
    pub transaction: Option<Transaction>,
    pub recalls: Vec<Recalled>,
    /// Places where the message was seen in a topic's queue.
    pub stored: Vec<StoredAt>,
    pub evidence: Evidence,
    /// It hangs on the record by a guess only, as one of several candidates: shown, but nothing is concluded from it.
    pub perhaps: bool,
}

impl MessageNode {
    /// When the message entered its topic, as far as is known: the earliest publication, else the store time.
    pub fn begin(&self) -> Option<Millis> {
        let published = self.publications.iter().map(|publication| publication.begin).min();
        published.or_else(|| self.stored.iter().map(|stored| stored.stored).min())
    }

    /// When consumers could first see it, as far as traces tell: the end of the send, or the commit of a transaction.
    pub fn visible(&self) -> Option<Millis> {
        let committed = self.transaction.as_ref().and_then(Transaction::committed);
        committed
            .or_else(|| self.publications.iter().map(|publication| publication.end).min())
            .or_else(|| self.stored.iter().map(|stored| stored.stored).min())
    }
}

/// One send that got a result. Times are corrected by the client's clock offset.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Publication {
    pub begin: Millis,
    pub end: Millis,
    /// The time as the client wrote it.
    pub raw: Millis,
    /// Milliseconds the send took.
    pub cost: i64,
    /// `false` says only that a flush or a slave timed out: the message is stored.
    pub ok: bool,
    pub group: String,
    /// The broker as the client addressed it.
    pub broker: String,
    pub offset_id: Option<String>,
    /// The producing process, see [`crate::id::UniqId::process`].
    pub process: Option<String>,
    /// The client's address as the broker saw it.
    pub host: String,
    pub region: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageKind {
    Normal,
    Transaction,
    Delay,
    Order,
    /// No publication was traced, or its type is not known.
    Unknown,
}

/// A transactional message as its producer saw it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Transaction {
    pub outcome: TransactionOutcome,
    /// By time.
    pub ends: Vec<TransactionEnd>,
}

impl Transaction {
    /// When it was committed.
    pub fn committed(&self) -> Option<Millis> {
        self.ends.iter().find(|end| end.state == TransactionState::Commit).map(|end| end.at)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TransactionOutcome {
    /// The half message was sent; no end is traced.
    Half,
    Committed,
    RolledBack,
    /// The producer answered "unknown"; the broker will ask again.
    Undecided,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct TransactionEnd {
    pub at: Millis,
    pub state: TransactionState,
    /// The broker asked back.
    pub from_check: bool,
}

/// A delayed message was called back.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Recalled {
    pub at: Millis,
    pub ok: bool,
}

/// Where a message lies, learnt from the broker.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct StoredAt {
    pub queue: QueueRef,
    pub offset: i64,
    pub stored: Millis,
    pub reconsume_times: i32,
}

/// A copy in a group's dead-letter topic.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct DeadLetterCopy {
    pub topic: String,
    /// `None` when the store time is not known.
    pub stored: Option<Millis>,
    pub offset_id: Option<String>,
    /// Deliveries before it, as the copy counts them.
    pub tries: Option<i64>,
}

/// One message consumed, or to be consumed, by one group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Hop {
    pub message: MessageRef,
    /// Other messages that the attempts may belong to: same id, other topic. Empty when it is certain.
    pub or_messages: Vec<MessageRef>,
    /// `None` when only its end was traced, by a client version that writes no group; or when the hop is known by
    /// its child alone.
    pub group: Option<String>,
    /// By begin.
    pub attempts: Vec<Attempt>,
    pub state: HopState,
    pub evidence: Evidence,
    /// Every client of the group gets every message.
    pub broadcasting: bool,
    /// How often the group tries again before the dead-letter topic, where it is known.
    pub max_retries: Option<i64>,
    pub dead_letters: Vec<DeadLetterCopy>,
    /// The dead letter that the group took, rather than the message itself.
    pub read_from: Option<DeadLetterCopy>,
    /// From the end of the send (or the commit, or the storing of the dead letter) to the first begin, in milliseconds.
    pub waited: Option<i64>,
    /// Sum of the attempts' working times, in milliseconds.
    pub worked: Option<i64>,
}

impl Hop {
    /// When the last attempt ended.
    pub fn end(&self) -> Option<Millis> {
        self.attempts.iter().filter_map(|attempt| attempt.end).max()
    }

    /// When the group could first get what it took.
    pub fn visible(&self, message: &MessageNode) -> Option<Millis> {
        self.read_from.as_ref().map_or_else(|| message.visible(), |copy| copy.stored)
    }

    pub fn begin(&self) -> Option<Millis> {
        self.attempts.iter().filter_map(|attempt| attempt.begin.or(attempt.end)).min()
    }
}

/// One delivery to a listener. Times are corrected by the client's clock offset.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Attempt {
    /// `None` when the beginning was not traced and cannot be computed.
    pub begin: Option<Millis>,
    /// `None` while it works, or when the end was not traced.
    pub end: Option<Millis>,
    pub request_id: String,
    /// Milliseconds as the client wrote them. Java divides a batch's time by its size.
    pub cost: Option<i64>,
    /// `None` when the end was not traced.
    pub ok: Option<bool>,
    /// Absent in C++ records.
    pub outcome: Option<Outcome>,
    /// How often the message had been delivered before; known from the beginning's trace.
    pub retry: Option<i64>,
    pub process: Option<String>,
    pub host: String,
    /// The group that owns the tracing client.
    pub owner: Option<String>,
    /// The begin as the client wrote it.
    pub raw_begin: Option<Millis>,
}

impl Attempt {
    pub fn timed_out(&self) -> bool {
        self.outcome == Some(Outcome::TimeOut)
    }

    /// Working time: from begin to end where both are known, else as written.
    pub fn worked(&self) -> Option<i64> {
        match (self.begin, self.end) {
            (Some(begin), Some(end)) => Some(end.since(begin).max(0)),
            _ => self.cost,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum HopState {
    /// Published, not yet delivered, and not yet due.
    Waiting {
        /// Messages between the group's committed offset and this one, where known.
        ahead: Option<i64>,
    },
    Consuming {
        since: Option<Millis>,
    },
    Ok {
        at: Option<Millis>,
    },
    /// The group's committed offset is beyond the message; how it went is not known.
    Passed,
    /// The last attempt failed and another one follows.
    Retrying {
        tries: i64,
        /// When RocketMQ delivers again by its default schedule.
        next_due: Option<Millis>,
    },
    /// The last attempt failed, and it is not known that another one follows.
    Failed {
        tries: i64,
    },
    DeadLettered {
        tries: i64,
        since: Option<Millis>,
        /// The copy was found; otherwise the retries are used up.
        confirmed: bool,
    },
    /// It should have been delivered by now, everything was looked at, and it was not.
    Missing {
        since: Millis,
    },
    Unknown {
        why: Why,
    },
    NotExpected {
        why: Why,
    },
}

/// Why something is not known or not expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// Nothing was traced, and no offset tells.
    NotTraced,
    /// Ingest has not read that far yet.
    IngestBehind,
    /// The delivery began, its end was not traced, and it is far past the consume timeout.
    EndNotTraced,
    /// Only the end of a delivery was traced, without its result's group.
    GroupNotTraced,
    /// No client of the group is online.
    GroupOffline,
    /// Broadcasting groups keep their offsets with their clients.
    Broadcasting,
    /// POP clients acknowledge one by one: the group's offset says only that the message was handed out.
    Pop,
    /// The message's tag is not in the group's subscription.
    Filtered,
    RolledBack,
    /// The transaction has no commit yet.
    TransactionOpen,
    Recalled,
    /// Delayed: the delivery time is not in the traces.
    Delayed,
    /// The message is known by its consumers' traces alone.
    PublicationNotTraced,
}

/// How something is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum Evidence {
    Traced,
    /// The message itself was found in a topic's queue.
    FoundInTopic,
    /// Not traced itself, but what it produced names it.
    SeenDownstream,
    InferredFromOffset,
    /// Looked for and not there.
    Absent,
    Unknown {
        why: Why,
    },
}

/// `to` was produced by an attempt of `from`. Several candidates for one message are several edges.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Edge {
    pub from: HopRef,
    /// Place in the hop's attempts; `None` when the hop is known by its child alone.
    pub attempt: Option<usize>,
    pub to: MessageRef,
    pub confidence: Confidence,
    pub rule: Rule,
    /// 0 to 100, for comparing the candidates of one message.
    pub score: u8,
}

/// From certain to guessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// Written in the records themselves.
    Exact,
    /// The only attempt that was open in the producing process.
    CertainInProcess,
    /// In the producing process, in its time window, and with the same key.
    High,
    Medium,
    /// Same key and later: drawn dotted, never alarmed on.
    Low,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// The child's keys name the parent's id.
    ParentToken,
    /// The same message object was sent on to another topic by the consuming process.
    SameObject,
    /// Process, clock and counter of the ids, and a key of the parent.
    InProcessKey,
    /// Process, clock and counter of the ids only.
    InProcess,
    /// Same key, names of the groups belong together, inside the attempt's time.
    KeyGroupTime,
    /// Same key, later.
    KeyLater,
}

/// One client machine's clock against the broker's, measured by the trace messages themselves.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct ClockOffset {
    /// The client's address as the broker saw it.
    pub host: String,
    /// The address inside its ids, where it has any: tells machines behind one address translation apart.
    pub address: Option<String>,
    /// Least broker time less client time: how far the client is behind, its way to the broker included.
    pub offset_ms: i64,
    pub samples: usize,
    /// What was added to its times; 0 when the offset is no more than the way to the broker.
    pub corrected_by: i64,
}
