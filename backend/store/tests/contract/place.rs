//! An empty place to keep things, on either engine.

use std::path::PathBuf;
use std::sync::Arc;

use millrace_store::{DatabaseUrl, SegmentRules, Stores, TraceStore};
use tempfile::TempDir;

use crate::postgres;

pub(crate) const CLUSTER: &str = "shop";

#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) url: DatabaseUrl,
    folder: Option<TempDir>,
}

/// Segments that end only when told.
pub(crate) const ENDLESS: SegmentRules =
    SegmentRules { max_records: u64::MAX, max_bytes: u64::MAX, max_age_ms: i64::MAX };

/// Segments that end after so many records.
pub(crate) fn rolled_at(max_records: u64) -> SegmentRules {
    SegmentRules { max_records, ..ENDLESS }
}

impl Place {
    pub(crate) fn sqlite() -> Self {
        let folder = TempDir::new().unwrap();
        Self { url: DatabaseUrl::Sqlite(folder.path().join("millrace.db")), folder: Some(folder) }
    }

    pub(crate) async fn postgres() -> Self {
        Self { url: postgres::empty_database().await, folder: None }
    }

    pub(crate) async fn open(&self) -> Stores {
        Stores::open(&self.url).await.unwrap()
    }

    pub(crate) async fn traces(&self, rules: SegmentRules) -> (Stores, Arc<dyn TraceStore>) {
        let stores = self.open().await;
        let traces = stores.traces(CLUSTER, rules).await.unwrap();
        (stores, traces)
    }

    /// Only on SQLite.
    pub(crate) fn folder(&self) -> PathBuf {
        self.folder.as_ref().unwrap().path().into()
    }

    pub(crate) fn segment_file(&self, id: i64) -> PathBuf {
        self.folder().join("traces").join(CLUSTER).join(format!("{id:010}.db"))
    }
}
