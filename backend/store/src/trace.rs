//! The trace store's port: trace messages by term, with queue positions in the same transaction.

use async_trait::async_trait;
use millrace_core::coverage::Missed;
use millrace_core::name::QueueRef;
use millrace_core::time::Millis;
use millrace_core::trace::{RejectReason, Term, TraceMessage, TraceRecord};
use serde::Serialize;

use crate::Result;

/// A trace message with everything it can be found by.
#[derive(Debug, Clone)]
pub struct IndexedMessage {
    pub message: TraceMessage,
    /// Distinct.
    pub terms: Vec<Term>,
    /// Good records in it.
    pub records: u32,
    /// Bad entries in it: reason and a sample.
    pub rejects: Vec<(RejectReason, String)>,
}

/// What one transaction writes.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    pub messages: Vec<IndexedMessage>,
    pub moves: Vec<PositionMove>,
}

/// A queue's position goes from `expected` to `next`; if it is not at `expected`, nothing of the batch is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PositionMove {
    pub queue: QueueRef,
    pub expected: Option<i64>,
    pub next: i64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct QueuePosition {
    pub queue: QueueRef,
    /// The next offset to read.
    pub next: i64,
    /// Store time of the newest message written from this queue.
    pub stored: Option<Millis>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Appended {
    pub messages: u64,
    pub records: u64,
    pub rejects: u64,
}

/// What a look-up found.
#[derive(Debug, Clone, Default)]
pub struct Found {
    /// Every record that has one of the terms, ordered by origin, without repeats.
    pub records: Vec<TraceRecord>,
    /// Rejected entries in the trace messages that were read.
    pub rejects: u64,
    /// The limit was hit: there are more records, older ones.
    pub truncated: bool,
    pub segments_searched: usize,
    /// Segments that could not be searched, and why: what they hold is unknown.
    pub missed: Vec<Missed>,
    /// Store time of the oldest trace message that is kept at all.
    pub oldest: Option<Millis>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SegmentInfo {
    pub id: i64,
    /// Store times of the first and last trace message.
    pub first: Option<Millis>,
    pub last: Option<Millis>,
    pub messages: u64,
    pub records: u64,
    pub bytes: u64,
    pub sealed: bool,
    /// Why it cannot be read; times and counts are then unknown.
    pub damaged: Option<String>,
}

/// When the open segment is full and the next one begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SegmentRules {
    pub max_records: u64,
    pub max_bytes: u64,
    pub max_age_ms: i64,
}

impl Default for SegmentRules {
    fn default() -> Self {
        Self { max_records: 2_000_000, max_bytes: 512 << 20, max_age_ms: 3_600_000 }
    }
}

/// How long traces stay. A segment goes as a whole; the open one stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Retention {
    pub max_age_ms: i64,
    pub max_bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DroppedSegment {
    pub at: Millis,
    pub segment: SegmentInfo,
    /// `age` or `size`.
    pub why: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RejectSummary {
    pub reason: RejectReason,
    pub count: u64,
    /// One rejected entry, cut to 200 characters, separators shown as `␁` and `␂`.
    pub sample: String,
    pub last: Millis,
}

/// One cluster's traces.
#[async_trait]
pub trait TraceStore: Send + Sync + std::fmt::Debug {
    /// Writes messages, rejects and positions in one transaction: all of it or nothing. `now` opens and seals segments.
    /// Errors: `Fenced` when another worker moved a position.
    async fn append(&self, batch: Batch, now: Millis) -> Result<Appended>;
    async fn positions(&self) -> Result<Vec<QueuePosition>>;
    /// Every record that has one of `terms`, at most `limit`, the newest segments first.
    async fn find(&self, terms: &[Term], limit: usize) -> Result<Found>;
    /// The newest trace messages, for showing what comes in.
    async fn newest(&self, limit: usize) -> Result<Vec<TraceRecord>>;
    async fn segments(&self) -> Result<Vec<SegmentInfo>>;
    async fn rejects(&self) -> Result<Vec<RejectSummary>>;
    /// Drops whole segments that are too old or too many, oldest first, and says which.
    async fn retain(&self, retention: Retention, now: Millis) -> Result<Vec<DroppedSegment>>;
    /// What was dropped, newest first.
    async fn dropped(&self, limit: u32) -> Result<Vec<DroppedSegment>>;
    /// Whether the store answers and can be written.
    async fn check(&self) -> Result<()>;
    /// Builds the index of every full segment that has none yet, and says of how many. A store does it by itself after
    /// a segment is full; this waits for it.
    async fn seal(&self) -> Result<usize> {
        Ok(0)
    }
    /// Leaves nothing behind that the next start would have to repair. Later calls fail.
    async fn close(&self) {}
}
