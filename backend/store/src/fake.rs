//! Metadata in memory, for tests of what uses it.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use millrace_core::name::QueueRef;
use millrace_core::time::Millis;

use crate::{AuditEntry, Claim, MetaStore, Resend, ResendStore, Resent, Result};

#[derive(Debug, Default)]
pub struct FakeMeta {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    entries: Vec<AuditEntry>,
    resends: HashMap<Resend, Begun>,
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
