//! Metadata tables, and the pool that everything uses.

use async_trait::async_trait;
use sqlx::migrate::Migrator;
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};

use crate::sql::{self, AuditRow};
use crate::{AuditEntry, MetaStore, Result, StoreError};

/// Migrating takes an advisory lock, so programs that start together do it one after the other.
static MIGRATIONS: Migrator = sqlx::migrate!("../../migrations/postgres");

#[derive(Debug)]
pub(crate) struct Database {
    pub(super) pool: PgPool,
    /// The URL without its password.
    pub(super) name: String,
}

impl Database {
    pub(crate) async fn open(options: &PgConnectOptions, name: String) -> Result<Self> {
        let pool = PgPoolOptions::new()
            .max_connections(8)
            .acquire_timeout(std::time::Duration::from_secs(10))
            .connect_with(options.clone())
            .await
            .map_err(|error| match StoreError::of_engine(error, "connecting", &name) {
                StoreError::Database { source, .. } => StoreError::Open { what: name.clone(), why: source.to_string() },
                other => other,
            })?;
        MIGRATIONS.run(&pool).await.map_err(|error| StoreError::of_migration(error, &MIGRATIONS, &name))?;
        Ok(Self { pool, name })
    }

    pub(crate) async fn close(&self) {
        self.pool.close().await;
    }

    pub(super) fn failed(&self, error: sqlx::Error, doing: &'static str) -> StoreError {
        StoreError::of_engine(error, doing, &self.name)
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
            .execute(&self.pool)
            .await
            .map_err(|error| self.failed(error, "writing the audit trail"))?;
        Ok(())
    }

    async fn audit_trail(&self, cluster: &str, limit: u32) -> Result<Vec<AuditEntry>> {
        let rows: Vec<AuditRow> = sqlx::query_as(sql::READ_AUDIT)
            .bind(cluster)
            .bind(i64::from(limit))
            .fetch_all(&self.pool)
            .await
            .map_err(|error| self.failed(error, "reading the audit trail"))?;
        rows.into_iter().map(|row| row.entry(&self.name)).collect()
    }

    async fn check(&self) -> Result<()> {
        sqlx::query(sql::WRITE_PROBE)
            .execute(&self.pool)
            .await
            .map_err(|error| self.failed(error, "writing a probe"))?;
        Ok(())
    }
}
