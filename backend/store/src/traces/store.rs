//! [`TraceStore`] over an engine's segments: append, seal, retain.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use millrace_core::time::Millis;
use millrace_core::trace::{Term, TraceRecord};
use tokio::task::JoinSet;

use super::encode::encode_batch;
use super::open_index::OpenIndex;
use super::postings::{self, Blocks};
use super::segments::{Listed, POSTINGS_PAGE, Postings, Segments};
use crate::{
    Appended, Batch, DroppedSegment, Found, QueuePosition, RejectSummary, Result, Retention, SegmentInfo, StoreError,
    TraceStore,
};

type Indexes = BTreeMap<i64, Arc<tokio::sync::Mutex<OpenIndex>>>;

/// One cluster's traces.
#[derive(Debug)]
pub(crate) struct Traces {
    inner: Arc<Inner>,
    sealers: Mutex<JoinSet<()>>,
    closed: AtomicBool,
}

#[derive(Debug)]
pub(super) struct Inner {
    pub(super) segments: Arc<dyn Segments>,
    /// Of the unsealed segments.
    indexes: Mutex<Indexes>,
    sealing: tokio::sync::Mutex<()>,
}

impl Traces {
    /// Takes up the work where it was left: full segments without an index get it in the background.
    pub(crate) async fn open(segments: Arc<dyn Segments>) -> Result<Self> {
        let inner = Inner { segments, indexes: Mutex::default(), sealing: tokio::sync::Mutex::default() };
        let traces = Self { inner: Arc::new(inner), sealers: Mutex::default(), closed: AtomicBool::new(false) };
        if traces.inner.segments.list().await?.iter().any(awaits_index) {
            traces.seal_in_background();
        }
        Ok(traces)
    }

    /// What answers, unless the store was closed.
    fn inner(&self) -> Result<&Inner> {
        if self.closed.load(Ordering::Acquire) {
            return Err(StoreError::Open { what: "of the traces".into(), why: "it was closed".into() });
        }
        Ok(&self.inner)
    }

    fn seal_in_background(&self) {
        let mut sealers = self.sealers.lock().unwrap_or_else(PoisonError::into_inner);
        while sealers.try_join_next().is_some() {}
        let inner = Arc::clone(&self.inner);
        sealers.spawn(async move {
            if let Err(error) = inner.seal().await {
                tracing::warn!(%error, "a full trace segment could not be indexed; it is tried again when the next one is full");
            }
        });
    }
}

impl Inner {
    fn index(&self, segment: i64) -> Arc<tokio::sync::Mutex<OpenIndex>> {
        let mut indexes = self.indexes.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(indexes.entry(segment).or_default())
    }

    fn forget_index(&self, segment: i64) {
        self.indexes.lock().unwrap_or_else(PoisonError::into_inner).remove(&segment);
    }

    /// The index of an unsealed segment, with every chunk that is committed by now. `None`: it is sealed.
    pub(super) async fn refreshed_index(&self, segment: i64) -> Result<Option<Arc<tokio::sync::Mutex<OpenIndex>>>> {
        let shared = self.index(segment);
        let mut index = shared.lock().await;
        loop {
            let chunks = match self.segments.postings(segment, i64::from(index.chunk)).await {
                Ok(Postings::Chunks(chunks)) => chunks,
                Ok(Postings::Sealed) => {
                    self.forget_index(segment);
                    return Ok(None);
                }
                Err(error) => {
                    self.forget_index(segment);
                    return Err(error);
                }
            };
            let more = chunks.len() >= POSTINGS_PAGE;
            self.take_in(&mut index, segment, chunks)?;
            if !more {
                break;
            }
        }
        drop(index);
        Ok(Some(shared))
    }

    fn take_in(&self, index: &mut OpenIndex, segment: i64, chunks: Vec<(i64, Vec<u8>)>) -> Result<()> {
        for (chunk, blob) in chunks {
            let number =
                u16::try_from(chunk).map_err(|_| self.damaged("a chunk", segment, "its number is too large"))?;
            let mut run = Vec::new();
            postings::decode(&blob, Some(number), &mut run)
                .map_err(|why| self.damaged(&format!("the postings of chunk {chunk}"), segment, why))?;
            index.push(number, run);
            if index.chunk != number {
                return Err(self.damaged(
                    &format!("the postings of chunk {}", index.chunk + 1),
                    segment,
                    "it is not there",
                ));
            }
        }
        Ok(())
    }

    async fn append(&self, batch: Batch, now: Millis) -> Result<(Appended, bool)> {
        let encoded = tokio::task::spawn_blocking(move || encode_batch(&batch)).await.map_err(|error| {
            StoreError::Damaged { what: "a batch".into(), at: "memory".into(), why: error.to_string() }
        })??;
        let written = self.segments.write(&encoded.write, now).await?;
        let index = self.index(written.segment);
        let mut index = index.lock().await;
        for (number, run) in (written.first_chunk..).zip(encoded.runs) {
            if let Ok(number) = u16::try_from(number) {
                index.push(number, run.into_iter().map(|entry| entry | u64::from(number) << 16).collect());
            }
        }
        Ok((encoded.appended, written.rolled))
    }

    async fn seal(&self) -> Result<usize> {
        let _one_at_a_time = self.sealing.lock().await;
        let mut sealed = 0;
        for segment in self.segments.list().await?.iter().filter(|segment| awaits_index(segment)) {
            let id = segment.info.id;
            let Some(index) = self.refreshed_index(id).await? else { continue };
            let runs = index.lock().await.runs();
            drop(index);
            if self.segments.seal(id, &mut Blocks::merge(runs)).await? {
                sealed += 1;
            }
            self.forget_index(id);
        }
        Ok(sealed)
    }

    async fn retain(&self, retention: Retention, now: Millis) -> Result<Vec<DroppedSegment>> {
        // A segment is not taken away from under its own sealing.
        let _no_sealing = self.sealing.lock().await;
        let segments = self.segments.list().await?;
        let mut bytes: u64 = segments.iter().map(|segment| segment.info.bytes).sum();
        let mut dropped = Vec::new();
        for (place, segment) in segments.iter().enumerate() {
            // A damaged segment's times are unknown: its records came before those of the segments after it.
            let last = segments.iter().skip(place).find_map(|later| later.info.last);
            let too_old = last.is_some_and(|last| now.since(last) > retention.max_age_ms);
            let too_many = bytes > retention.max_bytes;
            if segment.open || !(too_old || too_many) {
                break;
            }
            let why = if too_old { "age" } else { "size" };
            let drop = DroppedSegment { at: now, segment: segment.info.clone(), why: why.into() };
            self.segments.drop_segment(&drop).await?;
            self.forget_index(segment.info.id);
            bytes = bytes.saturating_sub(segment.info.bytes);
            dropped.push(drop);
        }
        Ok(dropped)
    }
}

fn awaits_index(segment: &Listed) -> bool {
    !segment.open && !segment.info.sealed && segment.info.damaged.is_none()
}

#[async_trait]
impl TraceStore for Traces {
    async fn append(&self, batch: Batch, now: Millis) -> Result<Appended> {
        let (appended, rolled) = self.inner()?.append(batch, now).await?;
        if rolled {
            self.seal_in_background();
        }
        Ok(appended)
    }

    async fn positions(&self) -> Result<Vec<QueuePosition>> {
        self.inner()?.segments.positions().await
    }

    async fn find(&self, terms: &[Term], limit: usize) -> Result<Found> {
        self.inner()?.find(terms, limit).await
    }

    async fn newest(&self, limit: usize) -> Result<Vec<TraceRecord>> {
        self.inner()?.newest(limit).await
    }

    async fn segments(&self) -> Result<Vec<SegmentInfo>> {
        Ok(self.inner()?.segments.list().await?.into_iter().map(|segment| segment.info).collect())
    }

    async fn rejects(&self) -> Result<Vec<RejectSummary>> {
        self.inner()?.segments.rejects().await
    }

    async fn retain(&self, retention: Retention, now: Millis) -> Result<Vec<DroppedSegment>> {
        self.inner()?.retain(retention, now).await
    }

    async fn dropped(&self, limit: u32) -> Result<Vec<DroppedSegment>> {
        self.inner()?.segments.dropped(limit).await
    }

    async fn check(&self) -> Result<()> {
        self.inner()?.segments.check().await
    }

    async fn seal(&self) -> Result<usize> {
        self.inner()?.seal().await
    }

    async fn close(&self) {
        self.closed.store(true, Ordering::Release);
        let mut sealers = std::mem::take(&mut *self.sealers.lock().unwrap_or_else(PoisonError::into_inner));
        // Half an index is rolled back and built at the next start.
        sealers.shutdown().await;
        self.inner.segments.close().await;
    }
}
