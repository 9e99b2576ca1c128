//! A cluster's segments as tables, three a segment. Writers of one cluster take turns by an advisory lock that ends with
//! their transaction, so chunks are numbered and seen in the order of commits, whichever program writes them.

use std::sync::Arc;

use async_trait::async_trait;
use millrace_core::time::Millis;
use sqlx::postgres::PgTransaction;
use sqlx::{AssertSqlSafe, Executor};

use super::meta::Database;
use crate::sql::{self, DroppedRow, PositionRow, RejectRow, SegmentRow};
use crate::traces::{Block, Listed, POSTINGS_PAGE, Postings, Segments, Write, Written, is_full};
use crate::{DroppedSegment, QueuePosition, RejectSummary, Result, SegmentRules, StoreError};

/// Blocks sent in one statement when a segment is sealed.
const BLOCKS_A_STATEMENT: usize = 128;

#[derive(Debug)]
pub(crate) struct Tables {
    database: Arc<Database>,
    cluster: String,
    rules: SegmentRules,
}

impl Tables {
    pub(crate) fn new(database: Arc<Database>, cluster: &str, rules: SegmentRules) -> Self {
        Self { database, cluster: cluster.into(), rules }
    }

    fn failed(&self, segment: i64, doing: &'static str) -> impl FnOnce(sqlx::Error) -> StoreError {
        let name = self.name(segment);
        move |error| StoreError::of_engine(error, doing, &name)
    }

    /// The open segment, the next one where it is full or there is none. `true`: another one became full.
    async fn writable(
        &self,
        transaction: &mut PgTransaction<'_>,
        write: &Write,
        now: Millis,
    ) -> sqlx::Result<(SegmentRow, bool)> {
        sqlx::query("SELECT pg_advisory_xact_lock(hashtextextended('millrace traces ' || $1, 0))")
            .bind(&self.cluster)
            .execute(&mut **transaction)
            .await?;
        let newest: Option<SegmentRow> = sqlx::query_as(
            "SELECT id, opened, state, chunks, messages, records, bytes, first_stored, last_stored \
             FROM trace_segment WHERE cluster = $1 ORDER BY id DESC LIMIT 1",
        )
        .bind(&self.cluster)
        .fetch_optional(&mut **transaction)
        .await?;
        let mut rolled = false;
        if let Some(open) = newest.filter(|newest| newest.state == 0) {
            if !is_full(&open, self.rules, write, now) {
                return Ok((open, false));
            }
            sqlx::query("UPDATE trace_segment SET state = $2 WHERE id = $1")
                .bind(open.id)
                .bind(sql::FULL)
                .execute(&mut **transaction)
                .await?;
            rolled = true;
        }
        let row: SegmentRow = sqlx::query_as(
            "INSERT INTO trace_segment (cluster, opened) VALUES ($1, $2) \
             RETURNING id, opened, state, chunks, messages, records, bytes, first_stored, last_stored",
        )
        .bind(&self.cluster)
        .bind(now.0)
        .fetch_one(&mut **transaction)
        .await?;
        let create = format!(
            "CREATE TABLE trace_chunk_{id} (chunk BIGINT PRIMARY KEY, body BYTEA NOT NULL); \
             CREATE TABLE trace_postings_{id} (chunk BIGINT PRIMARY KEY, entries BYTEA NOT NULL); \
             CREATE TABLE trace_block_{id} (first BIGINT NOT NULL, entries BYTEA NOT NULL); \
             CREATE INDEX ON trace_block_{id} (first)",
            id = row.id
        );
        // Bytes that are compressed already are not compressed again.
        let external = format!(
            "ALTER TABLE trace_chunk_{id} ALTER body SET STORAGE EXTERNAL; \
             ALTER TABLE trace_postings_{id} ALTER entries SET STORAGE EXTERNAL; \
             ALTER TABLE trace_block_{id} ALTER entries SET STORAGE EXTERNAL",
            id = row.id
        );
        (&mut **transaction).execute(sqlx::raw_sql(AssertSqlSafe(create))).await?;
        (&mut **transaction).execute(sqlx::raw_sql(AssertSqlSafe(external))).await?;
        Ok((row, rolled))
    }

    async fn move_positions(&self, transaction: &mut PgTransaction<'_>, write: &Write) -> Result<()> {
        let failed = |error| self.database.failed(error, "moving positions");
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

    /// Number of the first chunk.
    async fn write_chunks(
        &self,
        transaction: &mut PgTransaction<'_>,
        segment: i64,
        write: &Write,
    ) -> sqlx::Result<i64> {
        let count = i64::try_from(write.chunks.len()).unwrap_or(i64::MAX);
        let row: SegmentRow = sqlx::query_as(sql::COUNT_IN)
            .bind(segment)
            .bind(count)
            .bind(write.messages)
            .bind(write.records)
            .bind(write.bytes())
            .bind(write.first.map(|first| first.0))
            .bind(write.last.map(|last| last.0))
            .fetch_one(&mut **transaction)
            .await?;
        let first_chunk = row.chunks - count + 1;
        let numbers: Vec<i64> = (first_chunk..=row.chunks).collect();
        let bodies: Vec<&[u8]> = write.chunks.iter().map(|chunk| chunk.body.as_slice()).collect();
        let postings: Vec<&[u8]> = write.chunks.iter().map(|chunk| chunk.postings.as_slice()).collect();
        for (table, column, blobs) in [("trace_chunk", "body", bodies), ("trace_postings", "entries", postings)] {
            let insert = format!(
                "INSERT INTO {table}_{segment} (chunk, {column}) SELECT * FROM unnest($1::BIGINT[], $2::BYTEA[])"
            );
            sqlx::query(AssertSqlSafe(insert))
                .bind(&numbers)
                .bind(&blobs)
                .persistent(false)
                .execute(&mut **transaction)
                .await?;
        }
        Ok(first_chunk)
    }

    async fn write_rejects(&self, transaction: &mut PgTransaction<'_>, write: &Write) -> sqlx::Result<()> {
        for reject in &write.rejects {
            sqlx::query(sql::WRITE_REJECT)
                .bind(&self.cluster)
                .bind(sql::reason_text(reject.reason))
                .bind(reject.count.cast_signed())
                .bind(&reject.sample)
                .bind(reject.last.0)
                .execute(&mut **transaction)
                .await?;
        }
        Ok(())
    }

    async fn write_blocks(
        &self,
        transaction: &mut PgTransaction<'_>,
        segment: i64,
        blocks: &mut (dyn Iterator<Item = Block> + Send),
    ) -> sqlx::Result<()> {
        let insert = format!(
            "INSERT INTO trace_block_{segment} (first, entries) SELECT * FROM unnest($1::BIGINT[], $2::BYTEA[])"
        );
        loop {
            let (firsts, entries): (Vec<i64>, Vec<Vec<u8>>) =
                (&mut *blocks).take(BLOCKS_A_STATEMENT).map(|block| (block.first, block.entries)).unzip();
            if firsts.is_empty() {
                break;
            }
            sqlx::query(AssertSqlSafe(insert.clone())).bind(firsts).bind(entries).execute(&mut **transaction).await?;
        }
        let truncate = format!("TRUNCATE trace_postings_{segment}");
        sqlx::query(AssertSqlSafe(truncate)).execute(&mut **transaction).await?;
        let tables = ["trace_chunk", "trace_postings", "trace_block"];
        let size: Vec<String> =
            tables.iter().map(|table| format!("pg_total_relation_size('{table}_{segment}')")).collect();
        let update = format!("UPDATE trace_segment SET state = $2, bytes = {} WHERE id = $1", size.join(" + "));
        sqlx::query(AssertSqlSafe(update)).bind(segment).bind(sql::SEALED).execute(&mut **transaction).await?;
        Ok(())
    }
}

#[async_trait]
impl Segments for Tables {
    async fn list(&self) -> Result<Vec<Listed>> {
        let rows: Vec<SegmentRow> = sqlx::query_as(sql::READ_SEGMENTS)
            .bind(&self.cluster)
            .fetch_all(&self.database.pool)
            .await
            .map_err(|error| self.database.failed(error, "listing trace segments"))?;
        Ok(rows.iter().map(SegmentRow::listed).collect())
    }

    async fn write(&self, write: &Write, now: Millis) -> Result<Written> {
        let failed = |error| self.database.failed(error, "writing traces");
        let mut transaction = self.database.pool.begin().await.map_err(failed)?;
        let (row, rolled) = self.writable(&mut transaction, write, now).await.map_err(failed)?;
        self.move_positions(&mut transaction, write).await?;
        let first_chunk = if write.chunks.is_empty() {
            row.chunks + 1
        } else {
            self.write_chunks(&mut transaction, row.id, write).await.map_err(failed)?
        };
        self.write_rejects(&mut transaction, write).await.map_err(failed)?;
        transaction.commit().await.map_err(failed)?;
        Ok(Written { segment: row.id, first_chunk, rolled })
    }

    async fn positions(&self) -> Result<Vec<QueuePosition>> {
        let rows: Vec<PositionRow> = sqlx::query_as(sql::READ_POSITIONS)
            .bind(&self.cluster)
            .fetch_all(&self.database.pool)
            .await
            .map_err(|error| self.database.failed(error, "reading positions"))?;
        rows.into_iter().map(|row| row.position(&self.database.name)).collect()
    }

    async fn rejects(&self) -> Result<Vec<RejectSummary>> {
        let rows: Vec<RejectRow> = sqlx::query_as(sql::READ_REJECTS)
            .bind(&self.cluster)
            .fetch_all(&self.database.pool)
            .await
            .map_err(|error| self.database.failed(error, "reading rejects"))?;
        rows.into_iter().map(|row| row.summary(&self.database.name)).collect()
    }

    async fn postings(&self, segment: i64, after: i64) -> Result<Postings> {
        let select =
            format!("SELECT chunk, entries FROM trace_postings_{segment} WHERE chunk > $1 ORDER BY chunk LIMIT $2");
        let chunks: Vec<(i64, Vec<u8>)> = sqlx::query_as(AssertSqlSafe(select))
            .bind(after)
            .bind(i64::try_from(POSTINGS_PAGE).unwrap_or(i64::MAX))
            .fetch_all(&self.database.pool)
            .await
            .map_err(self.failed(segment, "reading postings"))?;
        // Asked afterwards: if it is unsealed now, the postings were there when they were read.
        let state: Option<i64> = sqlx::query_scalar("SELECT state FROM trace_segment WHERE id = $1")
            .bind(segment)
            .fetch_optional(&self.database.pool)
            .await
            .map_err(self.failed(segment, "reading postings"))?;
        Ok(if state == Some(sql::SEALED) { Postings::Sealed } else { Postings::Chunks(chunks) })
    }

    async fn blocks(&self, segment: i64, prefix: i64) -> Result<Vec<Vec<u8>>> {
        let table = format!("trace_block_{segment}");
        let select = format!(
            "SELECT entries FROM {table} WHERE first <= $1 AND first >= COALESCE(\
             (SELECT first FROM {table} WHERE first < $1 ORDER BY first DESC LIMIT 1), $1)"
        );
        sqlx::query_scalar(AssertSqlSafe(select))
            .bind(prefix)
            .fetch_all(&self.database.pool)
            .await
            .map_err(self.failed(segment, "reading the index"))
    }

    async fn chunk(&self, segment: i64, chunk: i64) -> Result<Option<Vec<u8>>> {
        sqlx::query_scalar(AssertSqlSafe(format!("SELECT body FROM trace_chunk_{segment} WHERE chunk = $1")))
            .bind(chunk)
            .fetch_optional(&self.database.pool)
            .await
            .map_err(self.failed(segment, "reading a chunk"))
    }

    async fn seal(&self, segment: i64, blocks: &mut (dyn Iterator<Item = Block> + Send)) -> Result<bool> {
        let failed = |error| self.database.failed(error, "sealing a segment");
        let mut transaction = self.database.pool.begin().await.map_err(failed)?;
        // Another program that is sealing it has the row.
        let mine: Option<i64> =
            sqlx::query_scalar("SELECT id FROM trace_segment WHERE id = $1 AND state = $2 FOR UPDATE SKIP LOCKED")
                .bind(segment)
                .bind(sql::FULL)
                .fetch_optional(&mut *transaction)
                .await
                .map_err(failed)?;
        if mine.is_none() {
            return Ok(false);
        }
        self.write_blocks(&mut transaction, segment, blocks).await.map_err(failed)?;
        transaction.commit().await.map_err(failed)?;
        Ok(true)
    }

    async fn drop_segment(&self, dropped: &DroppedSegment) -> Result<()> {
        let failed = |error| self.database.failed(error, "dropping a segment");
        let segment = &dropped.segment;
        let mut transaction = self.database.pool.begin().await.map_err(failed)?;
        let mine = sqlx::query("DELETE FROM trace_segment WHERE id = $1")
            .bind(segment.id)
            .execute(&mut *transaction)
            .await
            .map_err(failed)?;
        if mine.rows_affected() == 0 {
            return Ok(());
        }
        sqlx::query(sql::WRITE_DROPPED)
            .bind(&self.cluster)
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
            .execute(&mut *transaction)
            .await
            .map_err(failed)?;
        let drop = format!("DROP TABLE trace_chunk_{id}, trace_postings_{id}, trace_block_{id}", id = segment.id);
        sqlx::query(AssertSqlSafe(drop)).execute(&mut *transaction).await.map_err(failed)?;
        transaction.commit().await.map_err(failed)
    }

    async fn dropped(&self, limit: u32) -> Result<Vec<DroppedSegment>> {
        let rows: Vec<DroppedRow> = sqlx::query_as(sql::READ_DROPPED)
            .bind(&self.cluster)
            .bind(i64::from(limit))
            .fetch_all(&self.database.pool)
            .await
            .map_err(|error| self.database.failed(error, "reading the dropped segments"))?;
        Ok(rows.into_iter().map(Into::into).collect())
    }

    async fn check(&self) -> Result<()> {
        sqlx::query("UPDATE trace_segment SET opened = opened WHERE cluster = $1 AND state = 0")
            .bind(&self.cluster)
            .execute(&self.database.pool)
            .await
            .map_err(|error| self.database.failed(error, "writing a probe"))?;
        Ok(())
    }

    async fn close(&self) {}

    fn name(&self, segment: i64) -> String {
        format!("trace segment {segment} in {}", self.database.name)
    }
}
