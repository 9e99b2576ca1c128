//! What is known of a cluster's segment files, in memory: the folder has one program, so nobody else changes it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::file;
use crate::SegmentInfo;
use crate::sql::SegmentRow;
use crate::traces::Listed;

#[derive(Debug, Default)]
pub(super) struct Catalogue {
    segments: Mutex<BTreeMap<i64, Listed>>,
}

impl Catalogue {
    fn segments(&self) -> MutexGuard<'_, BTreeMap<i64, Listed>> {
        self.segments.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn put(&self, row: &SegmentRow, open: bool) {
        self.segments().insert(row.id, Listed { open, ..row.listed() });
    }

    pub(super) fn put_damaged(&self, id: i64, why: String) {
        let info = SegmentInfo {
            id,
            first: None,
            last: None,
            messages: 0,
            records: 0,
            bytes: 0,
            sealed: false,
            damaged: Some(why),
        };
        self.segments().insert(id, Listed { info, chunks: 0, open: false });
    }

    pub(super) fn update(&self, id: i64, change: impl FnOnce(&mut Listed)) {
        if let Some(listed) = self.segments().get_mut(&id) {
            change(listed);
        }
    }

    pub(super) fn remove(&self, id: i64) {
        self.segments().remove(&id);
    }

    pub(super) fn has(&self, id: i64) -> bool {
        self.segments().contains_key(&id)
    }

    /// The segment that is written to.
    pub(super) fn open(&self) -> Option<i64> {
        self.segments().values().find(|listed| listed.open).map(|listed| listed.info.id)
    }

    pub(super) fn newest_id(&self) -> i64 {
        self.segments().last_key_value().map_or(0, |(&id, _)| id)
    }

    /// Newest first, those that can be read.
    pub(super) fn readable(&self) -> Vec<i64> {
        let segments = self.segments();
        segments.values().rev().filter(|listed| listed.info.damaged.is_none()).map(|listed| listed.info.id).collect()
    }

    /// Oldest first, with their sizes on disk by now.
    pub(super) fn list(&self, folder: &Path) -> Vec<Listed> {
        let mut listed: Vec<Listed> = self.segments().values().cloned().collect();
        for segment in &mut listed {
            segment.info.bytes = file::size(&file::path_of(folder, segment.info.id));
        }
        listed
    }
}
