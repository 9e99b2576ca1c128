//! Connections for looking up, one a segment file, the most recently used kept open.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use sqlx::Connection;
use sqlx::sqlite::SqliteConnection;
use tokio::sync::OwnedMutexGuard;

use super::file;
use crate::Result;

/// Each costs a thread and some hundred kilobytes.
const KEPT_OPEN: usize = 32;

type Slot = Arc<tokio::sync::Mutex<Option<SqliteConnection>>>;

#[derive(Debug, Default)]
pub(super) struct Readers {
    slots: Mutex<Slots>,
}

#[derive(Debug, Default)]
struct Slots {
    by_segment: BTreeMap<i64, (Slot, u64)>,
    uses: u64,
}

impl Readers {
    fn slot(&self, segment: i64) -> Slot {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        slots.uses += 1;
        let now = slots.uses;
        let (slot, used) = slots.by_segment.entry(segment).or_default();
        *used = now;
        let slot = Arc::clone(slot);
        while slots.by_segment.len() > KEPT_OPEN {
            // One that somebody holds stays: its file may be about to change.
            let idle = slots.by_segment.iter().filter(|(_, (slot, _))| Arc::strong_count(slot) == 1);
            let Some((&oldest, _)) = idle.min_by_key(|(_, (_, used))| *used) else { break };
            slots.by_segment.remove(&oldest);
        }
        slot
    }

    /// The segment's connection, for one caller at a time.
    pub(super) async fn reader(&self, segment: i64, path: &Path) -> Result<Reader> {
        let mut slot = self.slot(segment).lock_owned().await;
        if slot.is_none() {
            *slot = Some(file::open_reader(path).await?);
        }
        Ok(Reader { slot })
    }

    /// Closes the segment's connection and keeps others from opening one while the guard lives.
    pub(super) async fn shut(&self, segment: i64) -> OwnedMutexGuard<Option<SqliteConnection>> {
        let mut slot = self.slot(segment).lock_owned().await;
        if let Some(connection) = slot.take() {
            let _ = connection.close().await;
        }
        slot
    }

    pub(super) fn forget(&self, segment: i64) {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner).by_segment.remove(&segment);
    }

    pub(super) async fn close(&self) {
        let slots = std::mem::take(&mut *self.slots.lock().unwrap_or_else(PoisonError::into_inner));
        for (slot, _) in slots.by_segment.into_values() {
            if let Some(connection) = slot.lock_owned().await.take() {
                let _ = connection.close().await;
            }
        }
    }
}

pub(super) struct Reader {
    slot: OwnedMutexGuard<Option<SqliteConnection>>,
}

impl Reader {
    /// `None` cannot be: the slot was filled when the reader was made.
    pub(super) fn connection(&mut self) -> Option<&mut SqliteConnection> {
        self.slot.as_mut()
    }
}
