//! What the trace store needs of an engine: segments that hold chunks, postings, positions and rejects.

use async_trait::async_trait;
use millrace_core::name::QueueRef;
use millrace_core::time::Millis;

use crate::sql::SegmentRow;
use crate::{DroppedSegment, QueuePosition, RejectSummary, Result, SegmentInfo, SegmentRules};

/// A segment is full at this many chunks, so that a chunk's number fits into 16 bits.
const MAX_CHUNKS: i64 = 60_000;

/// How many chunks' postings are read at once.
pub(crate) const POSTINGS_PAGE: usize = 256;

/// A chunk ready to be written; its number is the engine's to give.
#[derive(Debug)]
pub(crate) struct EncodedChunk {
    pub(crate) body: Vec<u8>,
    pub(crate) postings: Vec<u8>,
}

/// What one transaction writes.
#[derive(Debug, Default)]
pub(crate) struct Write {
    pub(crate) chunks: Vec<EncodedChunk>,
    pub(crate) moves: Vec<Move>,
    /// One for each reason: `count` is to be added.
    pub(crate) rejects: Vec<RejectSummary>,
    pub(crate) messages: i64,
    pub(crate) records: i64,
    pub(crate) first: Option<Millis>,
    pub(crate) last: Option<Millis>,
}

impl Write {
    pub(crate) fn bytes(&self) -> i64 {
        let bytes: usize = self.chunks.iter().map(|chunk| chunk.body.len() + chunk.postings.len()).sum();
        i64::try_from(bytes).unwrap_or(i64::MAX)
    }
}

#[derive(Debug)]
pub(crate) struct Move {
    pub(crate) queue: QueueRef,
    pub(crate) expected: Option<i64>,
    pub(crate) next: i64,
    /// Store time of the newest message of this queue in the batch.
    pub(crate) stored: Option<Millis>,
}

#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) segment: i64,
    /// Number of the first chunk that was written; from 1.
    pub(crate) first_chunk: i64,
    /// Another segment became full.
    pub(crate) rolled: bool,
}

/// A segment with what look-up needs to know of it.
#[derive(Debug, Clone)]
pub(crate) struct Listed {
    pub(crate) info: SegmentInfo,
    /// Chunks are numbered from 1 to this.
    pub(crate) chunks: i64,
    /// New chunks still go to it.
    pub(crate) open: bool,
}

/// A block of a sealed segment's index.
#[derive(Debug)]
pub(crate) struct Block {
    /// The smallest term prefix in it.
    pub(crate) first: i64,
    pub(crate) entries: Vec<u8>,
}

/// Postings of an unsealed segment's chunks.
#[derive(Debug)]
pub(crate) enum Postings {
    /// The blobs of at most [`POSTINGS_PAGE`] chunks after the asked one, in order.
    Chunks(Vec<(i64, Vec<u8>)>),
    /// The segment is sealed by now: ask for its blocks.
    Sealed,
}

#[async_trait]
pub(crate) trait Segments: Send + Sync + std::fmt::Debug {
    /// Every segment, oldest first.
    async fn list(&self) -> Result<Vec<Listed>>;
    /// All of it or nothing. Begins the next segment where the open one is full.
    async fn write(&self, write: &Write, now: Millis) -> Result<Written>;
    async fn positions(&self) -> Result<Vec<QueuePosition>>;
    async fn rejects(&self) -> Result<Vec<RejectSummary>>;
    async fn postings(&self, segment: i64, after: i64) -> Result<Postings>;
    /// Blocks of a sealed segment that may hold the term prefix.
    async fn blocks(&self, segment: i64, prefix: i64) -> Result<Vec<Vec<u8>>>;
    async fn chunk(&self, segment: i64, chunk: i64) -> Result<Option<Vec<u8>>>;
    /// Replaces the chunks' postings by blocks, in one transaction. `false`: it was sealed or dropped before.
    async fn seal(&self, segment: i64, blocks: &mut (dyn Iterator<Item = Block> + Send)) -> Result<bool>;
    /// Drops the segment and records it.
    async fn drop_segment(&self, dropped: &DroppedSegment) -> Result<()>;
    async fn dropped(&self, limit: u32) -> Result<Vec<DroppedSegment>>;
    async fn check(&self) -> Result<()>;
    async fn close(&self);
    /// How a damaged part is named to people.
    fn name(&self, segment: i64) -> String;
}

/// Whether `write` begins the next segment. An empty segment is never full, however old.
pub(crate) fn is_full(row: &SegmentRow, rules: SegmentRules, write: &Write, now: Millis) -> bool {
    let chunks = i64::try_from(write.chunks.len()).unwrap_or(i64::MAX);
    let full = row.records.cast_unsigned() >= rules.max_records
        || row.bytes.cast_unsigned() >= rules.max_bytes
        || now.0.saturating_sub(row.opened) >= rules.max_age_ms
        || row.chunks.saturating_add(chunks) > MAX_CHUNKS;
    chunks > 0 && row.chunks > 0 && full
}
