//! The metadata file: one connection writes, a few read.

use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use sqlx::migrate::Migrator;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous};

use super::lock::FolderLock;
use crate::sql::{self, AuditRow, DroppedRow};
use crate::{AuditEntry, DroppedSegment, MetaStore, Result, StoreError};

static MIGRATIONS: Migrator = sqlx::migrate!("../../migrations/sqlite");

/// How long a statement waits for another program, a shell say, that has the file.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(crate) struct Database {
    pub(super) writer: SqlitePool,
    pub(super) readers: SqlitePool,
    pub(super) name: String,
    folder: PathBuf,
    _lock: FolderLock,
}

impl Database {
    pub(crate) async fn open(path: &Path) -> Result<Self> {
        // A folder is as good as the file in it.
        let path = &if path.is_dir() { path.join("millrace.db") } else { path.to_path_buf() };
        let name = path.display().to_string();
        let folder = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
            _ => PathBuf::from("."),
        };
        std::fs::create_dir_all(&folder)
            .map_err(|error| StoreError::Open { what: folder.display().to_string(), why: error.to_string() })?;
        let lock = FolderLock::take(&folder)?;
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Normal)
            .foreign_keys(true)
            .busy_timeout(PATIENCE)
            .pragma("cache_size", "-1024");
        let failed = |error| open_error(error, &name);
        let writer = SqlitePoolOptions::new()
            .max_connections(1)
            .connect_with(options.clone().optimize_on_close(true, None))
            .await
            .map_err(failed)?;
        MIGRATIONS.run(&writer).await.map_err(|error| StoreError::of_migration(error, &MIGRATIONS, &name))?;
        let readers = SqlitePoolOptions::new()
            .max_connections(4)
            .min_connections(0)
            .connect_with(options.create_if_missing(false).read_only(true))
            .await
            .map_err(failed)?;
        Ok(Self { writer, readers, name, folder, _lock: lock })
    }

    /// Where the trace files go.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) async fn record_dropped(&self, cluster: &str, dropped: &DroppedSegment) -> Result<()> {
        let segment = &dropped.segment;
        sqlx::query(sql::WRITE_DROPPED)
            .bind(cluster)
            .bind(segment.id)
            .bind(dropped.at.0)
            .bind(&dropped.why)
            .bind(segment.first.map(|first| first.0))
            .bind(segment.last.map(|last| last.0))
            .bind(segment.messages.cast_signed())
            .bind(segment.records.cast_signed())
            .bind(segment.bytes.cast_signed())
            .bind(segment.sealed)
            .bind(&segment.damaged)
            .execute(&self.writer)
            .await
            .map_err(|error| self.failed(error, "recording a dropped segment"))?;
        Ok(())
    }

    pub(super) async fn dropped(&self, cluster: &str, limit: u32) -> Result<Vec<DroppedSegment>> {
        let rows: Vec<DroppedRow> = sqlx::query_as(sql::READ_DROPPED)
            .bind(cluster)
            .bind(i64::from(limit))
            .fetch_all(&self.readers)
            .await
            .map_err(|error| self.failed(error, "reading the dropped segments"))?;
        Ok(rows.into_iter().map(Into::into).collect())
    }

    pub(crate) async fn close(&self) {
        self.readers.close().await;
        self.writer.close().await;
    }

    pub(super) fn failed(&self, error: sqlx::Error, doing: &'static str) -> StoreError {
        StoreError::of_engine(error, doing, &self.name)
    }
}

/// An error of opening: what has a meaning of its own keeps it.
pub(super) fn open_error(error: sqlx::Error, name: &str) -> StoreError {
    match StoreError::of_engine(error, "opening", name) {
        StoreError::Database { source, .. } => StoreError::Open { what: name.into(), why: source.to_string() },
        other => other,
    }
}

#[async_trait]
impl MetaStore for Database {
    async fn audit(&self, entry: &AuditEntry) -> Result<()> {
        sqlx::query(sql::WRITE_AUDIT)
            .bind(entry.at.0)
            .bind(&entry.who)
            .bind(&entry.cluster)
            .bind(&entry.action)
            .bind(&entry.target)
            .bind(&entry.detail)
            .bind(sql::outcomes_text(entry)?)
            .execute(&self.writer)
            .await
            .map_err(|error| self.failed(error, "writing the audit trail"))?;
        Ok(())
    }

    async fn audit_trail(&self, cluster: &str, limit: u32) -> Result<Vec<AuditEntry>> {
        let rows: Vec<AuditRow> = sqlx::query_as(sql::READ_AUDIT)
            .bind(cluster)
            .bind(i64::from(limit))
            .fetch_all(&self.readers)
            .await
            .map_err(|error| self.failed(error, "reading the audit trail"))?;
        rows.into_iter().map(|row| row.entry(&self.name)).collect()
    }

    async fn check(&self) -> Result<()> {
        sqlx::query(sql::WRITE_PROBE)
            .execute(&self.writer)
            .await
            .map_err(|error| self.failed(error, "writing a probe"))?;
        Ok(())
    }
}
