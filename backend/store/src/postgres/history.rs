//! What a cluster looked like.

use async_trait::async_trait;
use millrace_core::time::Millis;

use super::Database;
use crate::history::pack;
use crate::sql::{self, PackedRow};
use crate::{HistoryRow, HistoryStore, Past, Result, Stretch};

const WRITING: &str = "writing the history";
const READING: &str = "reading the history";

#[async_trait]
impl HistoryStore for Database {
    async fn put_history(
        &self,
        cluster: &str,
        stretch: Stretch,
        rows: &[HistoryRow],
        instead_of: Option<Past>,
    ) -> Result<()> {
        let failed = |error| self.failed(error, WRITING);
        let mut transaction = self.pool.begin().await.map_err(failed)?;
        if let Some(past) = instead_of {
            sqlx::query(sql::DROP_HISTORY)
                .bind(cluster)
                .bind(past.stretch.millis())
                .bind(past.from.0)
                .bind(past.until.0)
                .execute(&mut *transaction)
                .await
                .map_err(failed)?;
        }
        for row in rows {
            sqlx::query(sql::WRITE_HISTORY)
                .bind(cluster)
                .bind(stretch.millis())
                .bind(row.start.0)
                .bind(i64::from(row.bucket))
                .bind(pack(&row.body)?)
                .execute(&mut *transaction)
                .await
                .map_err(failed)?;
        }
        transaction.commit().await.map_err(failed)
    }

    async fn history(&self, cluster: &str, past: Past, bucket: Option<u16>) -> Result<Vec<HistoryRow>> {
        let rows: Vec<PackedRow> = sqlx::query_as(sql::READ_HISTORY)
            .bind(cluster)
            .bind(past.stretch.millis())
            .bind(past.from.0)
            .bind(past.until.0)
            .bind(sql::bucket(bucket))
            .fetch_all(&self.pool)
            .await
            .map_err(|error| self.failed(error, READING))?;
        rows.into_iter().map(|row| sql::history_row(row, &self.name)).collect()
    }

    async fn history_ends(&self, cluster: &str, stretch: Stretch, from: Millis) -> Result<Option<(Millis, Millis)>> {
        let (first, last): (Option<i64>, Option<i64>) = sqlx::query_as(sql::READ_HISTORY_ENDS)
            .bind(cluster)
            .bind(stretch.millis())
            .bind(from.0)
            .fetch_one(&self.pool)
            .await
            .map_err(|error| self.failed(error, READING))?;
        Ok(first.zip(last).map(|(first, last)| (Millis(first), Millis(last))))
    }

    async fn forget_history(&self, cluster: &str, stretch: Stretch, before: Millis) -> Result<()> {
        let dropped = sqlx::query(sql::DROP_HISTORY)
            .bind(cluster)
            .bind(stretch.millis())
            .bind(i64::MIN)
            .bind(before.0)
            .execute(&self.pool)
            .await;
        dropped.map(drop).map_err(|error| self.failed(error, WRITING))
    }
}
