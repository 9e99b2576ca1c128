//! Statements that SQLite and PostgreSQL both accept, and what their rows mean. The engines bind and fetch.

use millrace_core::name::QueueRef;
use millrace_core::time::Millis;
use millrace_core::trace::RejectReason;

use crate::history::unpack;
use crate::traces::Listed;
use crate::{
    AuditEntry, AuditOutcome, Claim, DroppedSegment, HistoryRow, QueuePosition, RejectSummary, Resent, Result,
    SegmentInfo, StoreError,
};

pub(crate) const WRITE_AUDIT: &str = "INSERT INTO audit (at, who, cluster, action, target, detail, outcomes) \
     VALUES ($1, $2, $3, $4, $5, $6, $7)";
pub(crate) const READ_AUDIT: &str = "SELECT at, who, cluster, action, target, detail, outcomes FROM audit \
     WHERE cluster = $1 ORDER BY at DESC, id DESC LIMIT $2";
pub(crate) const CLAIM_RESEND: &str = "INSERT INTO resend (cluster, attempt, topic, broker, queue, place, at, who) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING";
pub(crate) const READ_RESEND: &str = "SELECT at, message_id FROM resend \
     WHERE cluster = $1 AND attempt = $2 AND topic = $3 AND broker = $4 AND queue = $5 AND place = $6";
pub(crate) const END_RESEND: &str = "UPDATE resend SET message_id = $7 \
     WHERE cluster = $1 AND attempt = $2 AND topic = $3 AND broker = $4 AND queue = $5 AND place = $6";
pub(crate) const RELEASE_RESEND: &str = "DELETE FROM resend WHERE cluster = $1 AND attempt = $2 AND topic = $3 \
     AND broker = $4 AND queue = $5 AND place = $6 AND message_id IS NULL";
pub(crate) const READ_RESENT: &str = "SELECT place, at, who, message_id FROM resend WHERE cluster = $1 AND topic = $2 \
     AND broker = $3 AND queue = $4 AND place BETWEEN $5 AND $6 AND message_id IS NOT NULL ORDER BY at DESC, place DESC";

pub(crate) const WRITE_HISTORY: &str = "INSERT INTO history (cluster, stretch, start, bucket, body) \
     VALUES ($1, $2, $3, $4, $5) ON CONFLICT (cluster, stretch, start, bucket) DO UPDATE SET body = excluded.body";
pub(crate) const DROP_HISTORY: &str =
    "DELETE FROM history WHERE cluster = $1 AND stretch = $2 AND start >= $3 AND start < $4";
pub(crate) const READ_HISTORY: &str = "SELECT start, bucket, body FROM history WHERE cluster = $1 AND stretch = $2 \
     AND start >= $3 AND start < $4 AND ($5 < 0 OR bucket = $5) ORDER BY start, bucket";
pub(crate) const READ_HISTORY_ENDS: &str =
    "SELECT MIN(start), MAX(start) FROM history WHERE cluster = $1 AND stretch = $2 AND start >= $3";

pub(crate) const WRITE_PROBE: &str = "INSERT INTO probe (id, written) VALUES (1, 1) \
     ON CONFLICT (id) DO UPDATE SET written = probe.written + 1";

pub(crate) const WRITE_DROPPED: &str = "INSERT INTO trace_dropped \
     (cluster, segment, at, why, first_stored, last_stored, messages, records, bytes, sealed, damaged) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) \
     ON CONFLICT (cluster, segment) DO UPDATE SET at = excluded.at, why = excluded.why, \
     first_stored = excluded.first_stored, last_stored = excluded.last_stored, messages = excluded.messages, \
     records = excluded.records, bytes = excluded.bytes, sealed = excluded.sealed, damaged = excluded.damaged";
pub(crate) const READ_DROPPED: &str = "SELECT segment, at, why, first_stored, last_stored, messages, records, bytes, \
     sealed, damaged FROM trace_dropped WHERE cluster = $1 ORDER BY at DESC, segment DESC LIMIT $2";

pub(crate) const READ_SEGMENTS: &str = "SELECT id, opened, state, chunks, messages, records, bytes, first_stored, \
     last_stored FROM trace_segment WHERE cluster = $1 ORDER BY id";
pub(crate) const COUNT_IN: &str = "UPDATE trace_segment SET chunks = chunks + $2, messages = messages + $3, \
     records = records + $4, bytes = bytes + $5, \
     first_stored = CASE WHEN first_stored IS NULL OR $6 < first_stored THEN $6 ELSE first_stored END, \
     last_stored = CASE WHEN last_stored IS NULL OR $7 > last_stored THEN $7 ELSE last_stored END \
     WHERE id = $1 RETURNING id, opened, state, chunks, messages, records, bytes, first_stored, last_stored";

pub(crate) const READ_POSITIONS: &str =
    "SELECT topic, broker, queue, next, stored FROM trace_position WHERE cluster = $1 ORDER BY topic, broker, queue";
pub(crate) const READ_POSITION: &str =
    "SELECT next FROM trace_position WHERE cluster = $1 AND topic = $2 AND broker = $3 AND queue = $4";
pub(crate) const WRITE_POSITION: &str = "INSERT INTO trace_position (cluster, topic, broker, queue, next, stored) \
     VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (cluster, topic, broker, queue) \
     DO UPDATE SET next = excluded.next, stored = COALESCE(excluded.stored, trace_position.stored)";

pub(crate) const READ_REJECTS: &str =
    "SELECT reason, count, sample, last FROM trace_reject WHERE cluster = $1 ORDER BY reason";
pub(crate) const WRITE_REJECT: &str = "INSERT INTO trace_reject (cluster, reason, count, sample, last) \
     VALUES ($1, $2, $3, $4, $5) ON CONFLICT (cluster, reason) DO UPDATE SET count = trace_reject.count + excluded.count, \
     sample = excluded.sample, last = CASE WHEN excluded.last > trace_reject.last THEN excluded.last ELSE trace_reject.last END";

/// A row of the history as it lies in the table.
pub(crate) type PackedRow = (i64, i64, Vec<u8>);

/// The parameter that stands for a bucket, or for all.
pub(crate) fn bucket(bucket: Option<u16>) -> i64 {
    bucket.map_or(-1, i64::from)
}

pub(crate) fn history_row((start, bucket, body): PackedRow, database: &str) -> Result<HistoryRow> {
    let bucket = u16::try_from(bucket).unwrap_or(u16::MAX);
    Ok(HistoryRow { start: Millis(start), bucket, body: unpack(&body, database)? })
}

#[derive(Debug, sqlx::FromRow)]
pub(crate) struct AuditRow {
    at: i64,
    who: String,
    cluster: String,
    action: String,
    target: String,
    detail: String,
    outcomes: String,
}

impl AuditRow {
    pub(crate) fn entry(self, database: &str) -> Result<AuditEntry> {
        let outcomes: Vec<AuditOutcome> =
            serde_json::from_str(&self.outcomes).map_err(|error| StoreError::Damaged {
                what: format!("the audit entry of {}", self.at),
                at: database.into(),
                why: error.to_string(),
            })?;
        Ok(AuditEntry {
            at: Millis(self.at),
            who: self.who,
            cluster: self.cluster,
            action: self.action,
            target: self.target,
            detail: self.detail,
            outcomes,
        })
    }
}

pub(crate) fn outcomes_text(entry: &AuditEntry) -> Result<String> {
    serde_json::to_string(&entry.outcomes).map_err(|error| StoreError::Damaged {
        what: "an audit entry".into(),
        at: "memory".into(),
        why: error.to_string(),
    })
}

#[derive(Debug, sqlx::FromRow)]
pub(crate) struct ClaimRow {
    at: i64,
    message_id: Option<String>,
}

impl From<ClaimRow> for Claim {
    fn from(row: ClaimRow) -> Self {
        let at = Millis(row.at);
        match row.message_id {
            Some(message_id) => Self::Sent { at, message_id },
            None => Self::Begun { at },
        }
    }
}

#[derive(Debug, sqlx::FromRow)]
pub(crate) struct ResentRow {
    place: i64,
    at: i64,
    who: String,
    message_id: String,
}

impl ResentRow {
    pub(crate) fn of(self, queue: &QueueRef) -> Resent {
        let Self { place, at, who, message_id } = self;
        Resent { queue: queue.clone(), offset: place, at: Millis(at), who, message_id }
    }
}

/// `state` of a segment.
pub(crate) const FULL: i64 = 1;
pub(crate) const SEALED: i64 = 2;

#[derive(Debug, Clone, sqlx::FromRow)]
pub(crate) struct SegmentRow {
    pub(crate) id: i64,
    pub(crate) opened: i64,
    pub(crate) state: i64,
    pub(crate) chunks: i64,
    pub(crate) messages: i64,
    pub(crate) records: i64,
    pub(crate) bytes: i64,
    pub(crate) first_stored: Option<i64>,
    pub(crate) last_stored: Option<i64>,
}

impl SegmentRow {
    pub(crate) fn listed(&self) -> Listed {
        Listed {
            info: SegmentInfo {
                id: self.id,
                first: self.first_stored.map(Millis),
                last: self.last_stored.map(Millis),
                messages: self.messages.cast_unsigned(),
                records: self.records.cast_unsigned(),
                bytes: self.bytes.cast_unsigned(),
                sealed: self.state == SEALED,
                damaged: None,
            },
            chunks: self.chunks,
            open: self.state == 0,
        }
    }
}

#[derive(Debug, sqlx::FromRow)]
pub(crate) struct PositionRow {
    pub(crate) topic: String,
    pub(crate) broker: String,
    pub(crate) queue: i64,
    pub(crate) next: i64,
    pub(crate) stored: Option<i64>,
}

impl PositionRow {
    pub(crate) fn position(self, at: &str) -> Result<QueuePosition> {
        let queue = i32::try_from(self.queue).map_err(|_| StoreError::Damaged {
            what: format!("the position of {}@{}", self.topic, self.broker),
            at: at.into(),
            why: format!("{} is no queue number", self.queue),
        })?;
        Ok(QueuePosition {
            queue: QueueRef { topic: self.topic, broker: self.broker, queue },
            next: self.next,
            stored: self.stored.map(Millis),
        })
    }
}

#[derive(Debug, sqlx::FromRow)]
pub(crate) struct RejectRow {
    pub(crate) reason: String,
    pub(crate) count: i64,
    pub(crate) sample: String,
    pub(crate) last: i64,
}

impl RejectRow {
    pub(crate) fn summary(self, at: &str) -> Result<RejectSummary> {
        let reason = serde_json::from_value(serde_json::Value::String(self.reason.clone())).map_err(|_| {
            StoreError::Damaged {
                what: "the count of rejects".into(),
                at: at.into(),
                why: format!("{} is no known reason", self.reason),
            }
        })?;
        Ok(RejectSummary { reason, count: self.count.cast_unsigned(), sample: self.sample, last: Millis(self.last) })
    }
}

/// The reason as it is stored: its name in the JSON API.
pub(crate) fn reason_text(reason: RejectReason) -> String {
    match serde_json::to_value(reason) {
        Ok(serde_json::Value::String(text)) => text,
        _ => format!("{reason:?}"),
    }
}

#[derive(Debug, sqlx::FromRow)]
pub(crate) struct DroppedRow {
    segment: i64,
    at: i64,
    why: String,
    first_stored: Option<i64>,
    last_stored: Option<i64>,
    messages: i64,
    records: i64,
    bytes: i64,
    sealed: bool,
    damaged: Option<String>,
}

impl From<DroppedRow> for DroppedSegment {
    fn from(row: DroppedRow) -> Self {
        Self {
            at: Millis(row.at),
            segment: SegmentInfo {
                id: row.segment,
                first: row.first_stored.map(Millis),
                last: row.last_stored.map(Millis),
                messages: row.messages.cast_unsigned(),
                records: row.records.cast_unsigned(),
                bytes: row.bytes.cast_unsigned(),
                sealed: row.sealed,
                damaged: row.damaged,
            },
            why: row.why,
        }
    }
}
