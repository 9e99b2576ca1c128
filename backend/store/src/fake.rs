//! Metadata in memory, for tests of what uses it.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use millrace_core::name::QueueRef;
use millrace_core::time::Millis;

use crate::{
    AuditEntry, Claim, HistoryRow, HistoryStore, MetaStore, Past, Resend, ResendStore, Resent, Result, StoreError,
    Stretch,
};

#[derive(Debug, Default)]
pub struct FakeMeta {
    kept: Mutex<Kept>,
    locked: AtomicBool,
}

#[derive(Debug, Default)]
struct Kept {
    entries: Vec<AuditEntry>,
    resends: HashMap<Resend, Begun>,
    /// By cluster, stretch, start and bucket.
    history: BTreeMap<(String, Stretch, Millis, u16), Vec<u8>>,
}

#[derive(Debug)]
struct Begun {
    at: Millis,
    who: String,
    message_id: Option<String>,
}

impl FakeMeta {
    /// Oldest first.
    pub fn entries(&self) -> Vec<AuditEntry> {
        self.kept().entries.clone()
    }

    /// While it is locked, no history is written.
    pub fn lock(&self, locked: bool) {
        self.locked.store(locked, Ordering::Relaxed);
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl MetaStore for FakeMeta {
    async fn audit(&self, entry: &AuditEntry) -> Result<()> {
        self.kept().entries.push(entry.clone());
        Ok(())
    }

    async fn audit_trail(&self, cluster: &str, limit: u32) -> Result<Vec<AuditEntry>> {
        let kept = self.kept();
        let found = kept.entries.iter().rev().filter(|entry| entry.cluster == cluster);
        Ok(found.take(usize::try_from(limit).unwrap_or(usize::MAX)).cloned().collect())
    }

    async fn check(&self) -> Result<()> {
        Ok(())
    }
}

#[async_trait]
impl ResendStore for FakeMeta {
    async fn claim(&self, resend: &Resend, who: &str, at: Millis) -> Result<Claim> {
        let mut kept = self.kept();
        match kept.resends.get(resend) {
            Some(Begun { at, message_id: Some(id), .. }) => Ok(Claim::Sent { at: *at, message_id: id.clone() }),
            Some(Begun { at, .. }) => Ok(Claim::Begun { at: *at }),
            None => {
                kept.resends.insert(resend.clone(), Begun { at, who: who.to_owned(), message_id: None });
                Ok(Claim::Ours)
            }
        }
    }

    async fn sent(&self, resend: &Resend, message_id: &str) -> Result<()> {
        if let Some(begun) = self.kept().resends.get_mut(resend) {
            begun.message_id = Some(message_id.to_owned());
        }
        Ok(())
    }

    async fn release(&self, resend: &Resend) -> Result<()> {
        let mut kept = self.kept();
        if kept.resends.get(resend).is_some_and(|begun| begun.message_id.is_none()) {
            kept.resends.remove(resend);
        }
        Ok(())
    }

    async fn resent(&self, cluster: &str, queue: &QueueRef, from: i64, to: i64) -> Result<Vec<Resent>> {
        let kept = self.kept();
        let of_queue = kept.resends.iter().filter(|(resend, _)| {
            resend.cluster == cluster && resend.queue == *queue && (from..=to).contains(&resend.offset)
        });
        let mut found: Vec<Resent> = of_queue
            .filter_map(|(resend, begun)| {
                Some(Resent {
                    queue: queue.clone(),
                    offset: resend.offset,
                    at: begun.at,
                    who: begun.who.clone(),
                    message_id: begun.message_id.clone()?,
                })
            })
            .collect();
        found.sort_by_key(|resent| std::cmp::Reverse((resent.at, resent.offset)));
        Ok(found)
    }
}

#[async_trait]
impl HistoryStore for FakeMeta {
    async fn put_history(
        &self,
        cluster: &str,
        stretch: Stretch,
        rows: &[HistoryRow],
        instead_of: Option<Past>,
    ) -> Result<()> {
        if self.locked.load(Ordering::Relaxed) {
            return Err(StoreError::Locked("millrace.db".to_owned()));
        }
        let mut kept = self.kept();
        kept.history.retain(|(of, stretch, start, _), _| {
            !(of == cluster
                && instead_of
                    .is_some_and(|past| past.stretch == *stretch && *start >= past.from && *start < past.until))
        });
        for row in rows {
            kept.history.insert((cluster.to_owned(), stretch, row.start, row.bucket), row.body.clone());
        }
        Ok(())
    }

    async fn history(&self, cluster: &str, past: Past, bucket: Option<u16>) -> Result<Vec<HistoryRow>> {
        let kept = self.kept();
        let found = kept.history.iter().filter(|((of, stretch, start, at), _)| {
            of == cluster
                && *stretch == past.stretch
                && *start >= past.from
                && *start < past.until
                && bucket.is_none_or(|bucket| bucket == *at)
        });
        Ok(found
            .map(|((_, _, start, bucket), body)| HistoryRow { start: *start, bucket: *bucket, body: body.clone() })
            .collect())
    }

    async fn history_ends(&self, cluster: &str, stretch: Stretch, from: Millis) -> Result<Option<(Millis, Millis)>> {
        let kept = self.kept();
        let mut starts = kept
            .history
            .keys()
            .filter(|(of, at, start, _)| of == cluster && *at == stretch && *start >= from)
            .map(|(_, _, start, _)| *start);
        let first = starts.next();
        Ok(first.map(|first| (first, starts.next_back().unwrap_or(first))))
    }

    async fn forget_history(&self, cluster: &str, stretch: Stretch, before: Millis) -> Result<()> {
        self.kept().history.retain(|(of, at, start, _), _| of != cluster || *at != stretch || *start >= before);
        Ok(())
    }
}
