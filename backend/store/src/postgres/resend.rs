//! What was sent again.

use async_trait::async_trait;
use millrace_core::name::QueueRef;
use millrace_core::time::Millis;

use super::Database;
use crate::sql::{self, ClaimRow, ResentRow};
use crate::{Claim, Resend, ResendStore, Resent, Result};

/// Binds the place of a resend to a statement's first six parameters.
macro_rules! of_place {
    ($statement:expr, $resend:expr) => {
        $statement
            .bind(&$resend.cluster)
            .bind(&$resend.attempt)
            .bind(&$resend.queue.topic)
            .bind(&$resend.queue.broker)
            .bind(i64::from($resend.queue.queue))
            .bind($resend.offset)
    };
}

#[async_trait]
impl ResendStore for Database {
    async fn claim(&self, resend: &Resend, who: &str, at: Millis) -> Result<Claim> {
        let failed = |error| self.failed(error, "claiming a message to send again");
        let claimed = of_place!(sqlx::query(sql::CLAIM_RESEND), resend).bind(at.0).bind(who);
        if claimed.execute(&self.pool).await.map_err(failed)?.rows_affected() == 1 {
            return Ok(Claim::Ours);
        }
        let held = of_place!(sqlx::query_as::<_, ClaimRow>(sql::READ_RESEND), resend);
        held.fetch_one(&self.pool).await.map(Claim::from).map_err(failed)
    }

    async fn sent(&self, resend: &Resend, message_id: &str) -> Result<()> {
        let ended = of_place!(sqlx::query(sql::END_RESEND), resend).bind(message_id).execute(&self.pool).await;
        ended.map(drop).map_err(|error| self.failed(error, "noting a message that was sent again"))
    }

    async fn release(&self, resend: &Resend) -> Result<()> {
        let released = of_place!(sqlx::query(sql::RELEASE_RESEND), resend).execute(&self.pool).await;
        released.map(drop).map_err(|error| self.failed(error, "releasing a message that was not sent again"))
    }

    async fn resent(&self, cluster: &str, queue: &QueueRef, from: i64, to: i64) -> Result<Vec<Resent>> {
        let rows: Vec<ResentRow> = sqlx::query_as(sql::READ_RESENT)
            .bind(cluster)
            .bind(&queue.topic)
            .bind(&queue.broker)
            .bind(i64::from(queue.queue))
            .bind(from)
            .bind(to)
            .fetch_all(&self.pool)
            .await
            .map_err(|error| self.failed(error, "reading what was sent again"))?;
        Ok(rows.into_iter().map(|row| row.of(queue)).collect())
    }
}
