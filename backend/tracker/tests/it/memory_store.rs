//! A trace store in memory, with the fence and with faults, for tests of ingest.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use async_trait::async_trait;
use millrace_core::name::QueueRef;
use millrace_core::time::Millis;
use millrace_core::trace::{Term, TraceMessage, TraceRecord, decode};
use millrace_store::{
    Appended, Batch, DroppedSegment, Found, QueuePosition, RejectSummary, Result, Retention, SegmentInfo, StoreError,
    TraceStore,
};

#[derive(Debug, Default)]
struct Kept {
    messages: Vec<TraceMessage>,
    positions: BTreeMap<QueueRef, i64>,
    full: bool,
}

impl Kept {
    fn records(&self) -> Vec<TraceRecord> {
        self.messages.iter().flat_map(|message| decode(message).records).collect()
    }
}

#[derive(Debug, Default)]
pub(crate) struct MemoryStore {
    kept: Mutex<Kept>,
}

impl MemoryStore {
    pub(crate) fn messages(&self) -> Vec<(QueueRef, i64)> {
        let mut all: Vec<_> = self.kept().messages.iter().map(|m| (m.queue.clone(), m.offset)).collect();
        all.sort();
        all
    }

    pub(crate) fn set_full(&self, full: bool) {
        self.kept().full = full;
    }

    pub(crate) fn move_position(&self, queue: &QueueRef, next: i64) {
        self.kept().positions.insert(queue.clone(), next);
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().expect("no test panics while it holds the store")
    }
}

#[async_trait]
impl TraceStore for MemoryStore {
    async fn append(&self, batch: Batch, _now: Millis) -> Result<Appended> {
        let mut kept = self.kept();
        if kept.full {
            return Err(StoreError::Full("memory".to_owned()));
        }
        for step in &batch.moves {
            let actual = kept.positions.get(&step.queue).copied();
            if actual != step.expected {
                return Err(StoreError::Fenced { queue: step.queue.to_string(), expected: step.expected, actual });
            }
        }
        for step in batch.moves {
            kept.positions.insert(step.queue, step.next);
        }
        let mut appended = Appended::default();
        for indexed in batch.messages {
            appended.messages += 1;
            appended.records += u64::from(indexed.records);
            appended.rejects += indexed.rejects.len() as u64;
            kept.messages.push(indexed.message);
        }
        Ok(appended)
    }

    async fn positions(&self) -> Result<Vec<QueuePosition>> {
        let kept = self.kept();
        Ok(kept
            .positions
            .iter()
            .map(|(queue, next)| QueuePosition { queue: queue.clone(), next: *next, stored: None })
            .collect())
    }

    async fn find(&self, terms: &[Term], limit: usize) -> Result<Found> {
        let kept = self.kept();
        let mut records = kept.records();
        records.retain(|record| {
            let mut hit = false;
            Term::of(record, &mut |term| hit |= terms.contains(&term));
            hit
        });
        records.sort_by(|a, b| a.origin.cmp(&b.origin));
        let truncated = records.len() > limit;
        records.truncate(limit);
        let oldest = kept.messages.iter().map(|message| message.stored).min();
        Ok(Found { records, truncated, segments_searched: 1, oldest, ..Found::default() })
    }

    async fn newest(&self, limit: usize) -> Result<Vec<TraceRecord>> {
        Ok(self.kept().records().into_iter().rev().take(limit).collect())
    }

    async fn segments(&self) -> Result<Vec<SegmentInfo>> {
        Ok(Vec::new())
    }

    async fn rejects(&self) -> Result<Vec<RejectSummary>> {
        Ok(Vec::new())
    }

    async fn retain(&self, _retention: Retention, _now: Millis) -> Result<Vec<DroppedSegment>> {
        Ok(Vec::new())
    }

    async fn dropped(&self, _limit: u32) -> Result<Vec<DroppedSegment>> {
        Ok(Vec::new())
    }

    async fn check(&self) -> Result<()> {
        Ok(())
    }
}
