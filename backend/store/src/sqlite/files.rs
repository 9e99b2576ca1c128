//! A cluster's segment files: `traces/<cluster>/<number>.db` beside the metadata file. The newest is open and has one
//! writer; an older one is written once more, when it is sealed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use millrace_core::time::Millis;
use sqlx::sqlite::SqliteConnection;
use sqlx::{Connection, SqliteTransaction};
use tokio::sync::{Mutex, MutexGuard};

use super::catalogue::Catalogue;
use super::file::{self, Carried};
use super::meta::Database;
use super::readers::{Reader, Readers};
use crate::sql::{self, PositionRow, RejectRow, SegmentRow};
use crate::traces::{Block, Listed, POSTINGS_PAGE, Postings, Segments, Write, Written, is_full};
use crate::{DroppedSegment, QueuePosition, RejectSummary, Result, SegmentRules, StoreError};

#[derive(Debug)]
pub(crate) struct Files {
    database: Arc<Database>,
    cluster: String,
    folder: PathBuf,
    rules: SegmentRules,
    catalogue: Catalogue,
    readers: Readers,
    writer: Mutex<Option<Open>>,
}

/// The open segment.
#[derive(Debug)]
struct Open {
    row: SegmentRow,
    connection: SqliteConnection,
}

impl Files {
    pub(crate) async fn open(database: Arc<Database>, cluster: &str, rules: SegmentRules) -> Result<Self> {
        let folder = database.folder().join("traces").join(folder_name(cluster));
        let unreadable =
            |error: std::io::Error| StoreError::Open { what: folder.display().to_string(), why: error.to_string() };
        std::fs::create_dir_all(&folder).map_err(unreadable)?;
        let mut ids = Vec::new();
        for entry in std::fs::read_dir(&folder).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            if path.extension().is_some_and(|extension| extension == "new") {
                tracing::info!(file = %path.display(), "an unfinished trace segment is removed");
                file::remove(&path)?;
            } else if let Some(id) = file::id_of(&path) {
                ids.push(id);
            }
        }
        let files = Self {
            database,
            cluster: cluster.into(),
            folder,
            rules,
            catalogue: Catalogue::default(),
            readers: Readers::default(),
            writer: Mutex::default(),
        };
        ids.sort_unstable();
        let newest = ids.last().copied();
        for id in ids {
            files.take_up(id, newest == Some(id)).await?;
        }
        Ok(files)
    }

    /// Puts a file that lies in the folder into the catalogue. Damage is noted; what a newer version wrote is refused.
    async fn take_up(&self, id: i64, newest: bool) -> Result<()> {
        let path = self.path(id);
        let name = self.name(id);
        let taken = if newest { self.take_up_newest(id).await } else { self.take_up_older(&path, &name).await };
        match taken {
            Ok(row) => {
                self.catalogue.put(&row, newest && row.state == 0);
                Ok(())
            }
            Err(error @ (StoreError::Newer { .. } | StoreError::Locked(_) | StoreError::Full(_))) => Err(error),
            Err(error) => {
                tracing::warn!(%error, "a trace segment cannot be read; the others are served");
                self.catalogue.put_damaged(id, error.to_string());
                Ok(())
            }
        }
    }

    async fn take_up_newest(&self, id: i64) -> Result<SegmentRow> {
        let mut connection = file::open_writer(&self.path(id)).await?;
        let row = file::read_row(&mut connection, &self.cluster, &self.name(id)).await?;
        if row.state == 0 {
            *self.writer.lock().await = Some(Open { row: row.clone(), connection });
        }
        Ok(row)
    }

    async fn take_up_older(&self, path: &Path, name: &str) -> Result<SegmentRow> {
        let mut connection = file::open_reader(path).await?;
        let row = file::read_row(&mut connection, &self.cluster, name).await;
        let _ = connection.close().await;
        row
    }

    fn path(&self, id: i64) -> PathBuf {
        file::path_of(&self.folder, id)
    }

    async fn reader(&self, segment: i64) -> Result<Reader> {
        if !self.catalogue.has(segment) {
            return Err(gone(&self.name(segment)));
        }
        self.readers.reader(segment, &self.path(segment)).await
    }

    fn failed(&self, segment: i64, doing: &'static str) -> impl FnOnce(sqlx::Error) -> StoreError {
        let name = self.name(segment);
        move |error| StoreError::of_engine(error, doing, &name)
    }

    /// Positions and rejects of the newest segment that can be read.
    async fn carried(&self, open: Option<&mut Open>) -> Result<Carried> {
        if let Some(open) = open {
            return file::read_carried(&mut open.connection, &self.cluster, &self.name(open.row.id)).await;
        }
        for id in self.catalogue.readable() {
            let mut reader = self.reader(id).await?;
            let Some(connection) = reader.connection() else { continue };
            match file::read_carried(connection, &self.cluster, &self.name(id)).await {
                Err(StoreError::Damaged { why, .. }) => self.mark_damaged(id, why),
                other => return other,
            }
        }
        Ok(Carried::default())
    }

    fn mark_damaged(&self, id: i64, why: String) {
        self.catalogue.update(id, |listed| {
            listed.info.damaged = Some(why);
            listed.open = false;
        });
    }

    /// The open segment, the next one where it is full or there is none. `true`: another one became full.
    async fn writable<'a>(
        &self,
        writer: &'a mut MutexGuard<'_, Option<Open>>,
        write: &Write,
        now: Millis,
    ) -> Result<(&'a mut Open, bool)> {
        if let (None, Some(id)) = (writer.as_ref(), self.catalogue.open()) {
            let mut connection = file::open_writer(&self.path(id)).await?;
            let row = file::read_row(&mut connection, &self.cluster, &self.name(id)).await?;
            **writer = Some(Open { row, connection });
        }
        let full = writer.as_ref().is_some_and(|open| is_full(&open.row, self.rules, write, now));
        if writer.is_none() || full {
            let carried = self.carried(writer.as_mut()).await?;
            let id = self.catalogue.newest_id() + 1;
            let mut connection = file::create(&self.folder, id, &self.cluster, now.0, &carried).await?;
            let row = file::read_row(&mut connection, &self.cluster, &self.name(id)).await?;
            self.catalogue.put(&row, true);
            if let Some(before) = writer.replace(Open { row, connection }) {
                self.catalogue.update(before.row.id, |listed| listed.open = false);
                let _ = before.connection.close().await;
            }
        }
        match writer.as_mut() {
            Some(open) => Ok((open, full)),
            None => Err(gone(&self.folder.display().to_string())),
        }
    }

    async fn write_in(&self, open: &mut Open, write: &Write) -> Result<i64> {
        let failed = |error| StoreError::of_engine(error, "writing traces", &self.name(open.row.id));
        let mut transaction = open.connection.begin_with("BEGIN IMMEDIATE").await.map_err(failed)?;
        self.move_positions(&mut transaction, write, open.row.id).await?;
        let mut counted = open.row.clone();
        if !write.chunks.is_empty() {
            counted = sqlx::query_as(sql::COUNT_IN)
                .bind(open.row.id)
                .bind(i64::try_from(write.chunks.len()).unwrap_or(i64::MAX))
                .bind(write.messages)
                .bind(write.records)
                .bind(write.bytes())
                .bind(write.first.map(|first| first.0))
                .bind(write.last.map(|last| last.0))
                .fetch_one(&mut *transaction)
                .await
                .map_err(failed)?;
        }
        let first_chunk = counted.chunks - i64::try_from(write.chunks.len()).unwrap_or(0) + 1;
        for (number, chunk) in (first_chunk..).zip(&write.chunks) {
            for (statement, blob) in [
                ("INSERT INTO trace_chunk (chunk, body) VALUES ($1, $2)", &chunk.body),
                ("INSERT INTO trace_postings (chunk, entries) VALUES ($1, $2)", &chunk.postings),
            ] {
                sqlx::query(statement)
                    .bind(number)
                    .bind(blob.as_slice())
                    .execute(&mut *transaction)
                    .await
                    .map_err(failed)?;
            }
        }
        for reject in &write.rejects {
            sqlx::query(sql::WRITE_REJECT)
                .bind(&self.cluster)
                .bind(sql::reason_text(reject.reason))
                .bind(reject.count.cast_signed())
                .bind(&reject.sample)
                .bind(reject.last.0)
                .execute(&mut *transaction)
                .await
                .map_err(failed)?;
        }
        transaction.commit().await.map_err(failed)?;
        open.row = counted;
        Ok(first_chunk)
    }

    async fn move_positions(&self, transaction: &mut SqliteTransaction<'_>, write: &Write, segment: i64) -> Result<()> {
        let failed = |error| StoreError::of_engine(error, "moving positions", &self.name(segment));
        for moved in &write.moves {
            let queue = &moved.queue;
            let actual: Option<i64> = sqlx::query_scalar(sql::READ_POSITION)
                .bind(&self.cluster)
                .bind(&queue.topic)
                .bind(&queue.broker)
                .bind(i64::from(queue.queue))
                .fetch_optional(&mut **transaction)
                .await
                .map_err(failed)?;
            if actual != moved.expected {
                return Err(StoreError::Fenced { queue: queue.to_string(), expected: moved.expected, actual });
            }
            sqlx::query(sql::WRITE_POSITION)
                .bind(&self.cluster)
                .bind(&queue.topic)
                .bind(&queue.broker)
                .bind(i64::from(queue.queue))
                .bind(moved.next)
                .bind(moved.stored.map(|stored| stored.0))
                .execute(&mut **transaction)
                .await
                .map_err(failed)?;
        }
        Ok(())
    }

    async fn write_blocks(
        &self,
        connection: &mut SqliteConnection,
        segment: i64,
        blocks: &mut (dyn Iterator<Item = Block> + Send),
    ) -> sqlx::Result<()> {
        let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
        // First, so that the blocks take the freed pages.
        sqlx::query("DELETE FROM trace_postings").execute(&mut *transaction).await?;
        for (number, block) in (1_i64..).zip(blocks) {
            sqlx::query("INSERT INTO trace_block (block, first, entries) VALUES ($1, $2, $3)")
                .bind(number)
                .bind(block.first)
                .bind(block.entries)
                .execute(&mut *transaction)
                .await?;
        }
        sqlx::query("UPDATE trace_segment SET state = $2 WHERE id = $1")
            .bind(segment)
            .bind(sql::SEALED)
            .execute(&mut *transaction)
            .await?;
        transaction.commit().await
    }

    /// Takes the write-ahead log into the file and does away with it: the file is then whole in itself. Where another
    /// program is reading it, it stays as it is, which is as good to read.
    async fn tidy(&self, segment: i64, mut connection: SqliteConnection) {
        let shut = self.readers.shut(segment).await;
        let tidied = sqlx::query("PRAGMA journal_mode = DELETE").execute(&mut connection).await;
        if let Err(error) = tidied {
            tracing::debug!(%error, segment, "a sealed segment keeps its write-ahead log");
        }
        let _ = connection.close().await;
        drop(shut);
    }
}

fn gone(name: &str) -> StoreError {
    StoreError::Damaged { what: "the segment".into(), at: name.into(), why: "it is not there".into() }
}

/// A cluster's name as a folder: what could mean something to a file system is written as its code.
fn folder_name(cluster: &str) -> String {
    let mut name = String::new();
    for (place, byte) in cluster.bytes().enumerate() {
        if byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-' || (byte == b'.' && place > 0) {
            name.push(char::from(byte));
        } else {
            use std::fmt::Write as _;
            let _ = write!(name, "%{byte:02X}");
        }
    }
    name
}

#[async_trait]
impl Segments for Files {
    async fn list(&self) -> Result<Vec<Listed>> {
        Ok(self.catalogue.list(&self.folder))
    }

    async fn write(&self, write: &Write, now: Millis) -> Result<Written> {
        let mut writer = self.writer.lock().await;
        let (open, rolled) = self.writable(&mut writer, write, now).await?;
        let segment = open.row.id;
        match self.write_in(open, write).await {
            Ok(first_chunk) => {
                self.catalogue.put(&open.row, true);
                Ok(Written { segment, first_chunk, rolled })
            }
            Err(error) => {
                match &error {
                    StoreError::Fenced { .. } => {}
                    StoreError::Damaged { why, .. } => {
                        // The next batch begins a new segment.
                        self.mark_damaged(segment, why.clone());
                        *writer = None;
                    }
                    // SQLite may have ended the transaction by itself, as it does on a full disk, which the driver does
                    // not know: the next batch opens the file again.
                    _ => *writer = None,
                }
                Err(error)
            }
        }
    }

    async fn positions(&self) -> Result<Vec<QueuePosition>> {
        let mut writer = self.writer.lock().await;
        let at = self.folder.display().to_string();
        let rows: Vec<PositionRow> = self.carried(writer.as_mut()).await?.positions;
        rows.into_iter().map(|row| row.position(&at)).collect()
    }

    async fn rejects(&self) -> Result<Vec<RejectSummary>> {
        let mut writer = self.writer.lock().await;
        let at = self.folder.display().to_string();
        let rows: Vec<RejectRow> = self.carried(writer.as_mut()).await?.rejects;
        rows.into_iter().map(|row| row.summary(&at)).collect()
    }

    async fn postings(&self, segment: i64, after: i64) -> Result<Postings> {
        let mut reader = self.reader(segment).await?;
        let Some(connection) = reader.connection() else { return Err(gone(&self.name(segment))) };
        let chunks: Vec<(i64, Vec<u8>)> =
            sqlx::query_as("SELECT chunk, entries FROM trace_postings WHERE chunk > $1 ORDER BY chunk LIMIT $2")
                .bind(after)
                .bind(i64::try_from(POSTINGS_PAGE).unwrap_or(i64::MAX))
                .fetch_all(&mut *connection)
                .await
                .map_err(self.failed(segment, "reading postings"))?;
        // Asked afterwards: if it is unsealed now, the postings were there when they were read.
        let row = file::read_row(connection, &self.cluster, &self.name(segment)).await?;
        Ok(if row.state == sql::SEALED { Postings::Sealed } else { Postings::Chunks(chunks) })
    }

    async fn blocks(&self, segment: i64, prefix: i64) -> Result<Vec<Vec<u8>>> {
        let mut reader = self.reader(segment).await?;
        let Some(connection) = reader.connection() else { return Err(gone(&self.name(segment))) };
        sqlx::query_scalar(
            "SELECT entries FROM trace_block WHERE first <= $1 AND first >= COALESCE(\
             (SELECT first FROM trace_block WHERE first < $1 ORDER BY first DESC LIMIT 1), $1)",
        )
        .bind(prefix)
        .fetch_all(connection)
        .await
        .map_err(self.failed(segment, "reading the index"))
    }

    async fn chunk(&self, segment: i64, chunk: i64) -> Result<Option<Vec<u8>>> {
        let mut reader = self.reader(segment).await?;
        let Some(connection) = reader.connection() else { return Err(gone(&self.name(segment))) };
        sqlx::query_scalar("SELECT body FROM trace_chunk WHERE chunk = $1")
            .bind(chunk)
            .fetch_optional(connection)
            .await
            .map_err(self.failed(segment, "reading a chunk"))
    }

    async fn seal(&self, segment: i64, blocks: &mut (dyn Iterator<Item = Block> + Send)) -> Result<bool> {
        if !self.catalogue.has(segment) {
            return Ok(false);
        }
        let mut connection = file::open_writer(&self.path(segment)).await?;
        let written = self.write_blocks(&mut connection, segment, blocks).await;
        written.map_err(self.failed(segment, "sealing a segment"))?;
        self.catalogue.update(segment, |listed| listed.info.sealed = true);
        self.tidy(segment, connection).await;
        Ok(true)
    }

    async fn drop_segment(&self, dropped: &DroppedSegment) -> Result<()> {
        let id = dropped.segment.id;
        // Recorded first: a kill in between leaves a segment that is dropped again, not one that is gone without a word.
        let recorded = self.database.record_dropped(&self.cluster, dropped).await;
        let no_room = matches!(recorded, Err(StoreError::Full(_)));
        if !no_room {
            recorded?;
        }
        self.catalogue.remove(id);
        let shut = self.readers.shut(id).await;
        let removed = file::remove(&self.path(id));
        drop(shut);
        self.readers.forget(id);
        removed?;
        // The room to record it is the room that it left.
        if no_room { self.database.record_dropped(&self.cluster, dropped).await } else { Ok(()) }
    }

    async fn dropped(&self, limit: u32) -> Result<Vec<DroppedSegment>> {
        self.database.dropped(&self.cluster, limit).await
    }

    async fn check(&self) -> Result<()> {
        let mut writer = self.writer.lock().await;
        if let Some(open) = writer.as_mut() {
            let id = open.row.id;
            sqlx::query("UPDATE trace_segment SET opened = opened WHERE id = $1")
                .bind(id)
                .execute(&mut open.connection)
                .await
                .map_err(self.failed(id, "writing a probe"))?;
            return Ok(());
        }
        let probe = self.folder.join("probe.new");
        std::fs::write(&probe, b"probe").and_then(|()| std::fs::remove_file(&probe)).map_err(|error| {
            match error.kind() {
                std::io::ErrorKind::StorageFull => StoreError::Full(self.folder.display().to_string()),
                _ => StoreError::Open { what: self.folder.display().to_string(), why: error.to_string() },
            }
        })
    }

    async fn close(&self) {
        self.readers.close().await;
        if let Some(open) = self.writer.lock().await.take() {
            let _ = open.connection.close().await;
        }
    }

    fn name(&self, segment: i64) -> String {
        format!("trace segment {}", self.path(segment).display())
    }
}

#[cfg(test)]
mod tests {
    use super::folder_name;

    #[test]
    fn a_cluster_cannot_leave_its_folder() {
        for (cluster, folder) in [("shop", "shop"), ("..", "%2E."), ("a/b", "a%2Fb"), ("店", "%E5%BA%97")] {
            assert_eq!(folder_name(cluster), folder);
        }
    }
}
