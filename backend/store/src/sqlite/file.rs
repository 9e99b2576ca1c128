//! One segment file: how it comes to be, how it is opened.
//!
//! A file gets its final name when it is complete, so what a kill leaves of an unfinished one has another name and goes
//! at the next start.

use std::path::{Path, PathBuf};

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqliteSynchronous};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Row};

use super::meta::{PATIENCE, open_error};
use crate::sql::{self, PositionRow, RejectRow, SegmentRow};
use crate::{Result, StoreError};

/// `PRAGMA user_version` of a segment file.
const FORMAT: i64 = 1;
const SCHEMA: &str = include_str!("segment.sql");

pub(super) fn path_of(folder: &Path, id: i64) -> PathBuf {
    folder.join(format!("{id:010}.db"))
}

/// The segment's number, if it is the name of a complete file.
pub(super) fn id_of(path: &Path) -> Option<i64> {
    let name = path.file_name()?.to_str()?;
    name.strip_suffix(".db").filter(|digits| digits.len() >= 10)?.parse().ok()
}

/// What the next segment takes over from the one before.
#[derive(Debug, Default)]
pub(super) struct Carried {
    pub(super) positions: Vec<PositionRow>,
    pub(super) rejects: Vec<RejectRow>,
}

fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(false)
        .busy_timeout(PATIENCE)
        .statement_cache_capacity(24)
        .disable_statement_logging()
}

/// Opens for looking up: small caches, since there may be many.
pub(super) async fn open_reader(path: &Path) -> Result<SqliteConnection> {
    let name = path.display().to_string();
    let mut connection = options(path)
        .read_only(true)
        .pragma("cache_size", "-256")
        .connect()
        .await
        .map_err(|error| open_error(error, &name))?;
    check_format(&mut connection, &name).await?;
    Ok(connection)
}

/// Opens for writing. What a kill left in the write-ahead log is taken up.
pub(super) async fn open_writer(path: &Path) -> Result<SqliteConnection> {
    let name = path.display().to_string();
    let mut connection = options(path)
        .synchronous(SqliteSynchronous::Normal)
        .pragma("cache_size", "-2048")
        .pragma("wal_autocheckpoint", "1000")
        .connect()
        .await
        .map_err(|error| open_error(error, &name))?;
    check_format(&mut connection, &name).await?;
    Ok(connection)
}

async fn check_format(connection: &mut SqliteConnection, name: &str) -> Result<()> {
    let found: i64 = sqlx::query("PRAGMA user_version")
        .fetch_one(connection)
        .await
        .and_then(|row| row.try_get(0))
        .map_err(|error| open_error(error, name))?;
    match found {
        FORMAT => Ok(()),
        newer if newer > FORMAT => Err(StoreError::Newer { what: name.into(), found, known: FORMAT }),
        _ => {
            Err(StoreError::Damaged { what: "the file".into(), at: name.into(), why: "it is no trace segment".into() })
        }
    }
}

pub(super) async fn read_row(connection: &mut SqliteConnection, cluster: &str, name: &str) -> Result<SegmentRow> {
    sqlx::query_as(sql::READ_SEGMENTS)
        .bind(cluster)
        .fetch_optional(connection)
        .await
        .map_err(|error| StoreError::of_engine(error, "reading a segment's facts", name))?
        .ok_or_else(|| StoreError::Damaged {
            what: "the file".into(),
            at: name.into(),
            why: format!("it holds no traces of cluster {cluster}"),
        })
}

pub(super) async fn read_carried(connection: &mut SqliteConnection, cluster: &str, name: &str) -> Result<Carried> {
    let failed = |error| StoreError::of_engine(error, "reading positions", name);
    let positions =
        sqlx::query_as(sql::READ_POSITIONS).bind(cluster).fetch_all(&mut *connection).await.map_err(failed)?;
    let rejects = sqlx::query_as(sql::READ_REJECTS).bind(cluster).fetch_all(connection).await.map_err(failed)?;
    Ok(Carried { positions, rejects })
}

/// Makes the file of segment `id` and gives its writer.
pub(super) async fn create(
    folder: &Path,
    id: i64,
    cluster: &str,
    opened: i64,
    carried: &Carried,
) -> Result<SqliteConnection> {
    let path = path_of(folder, id);
    let unfinished = path.with_extension("new");
    let name = path.display().to_string();
    remove(&unfinished)?;
    let mut connection = options(&unfinished)
        .create_if_missing(true)
        .page_size(8192)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .connect()
        .await
        .map_err(|error| open_error(error, &name))?;
    let filled = fill(&mut connection, id, cluster, opened, carried).await;
    let closed = connection.close().await;
    filled.and(closed).map_err(|error| StoreError::of_engine(error, "creating a segment", &name))?;
    let renamed = std::fs::rename(&unfinished, &path).and_then(|()| std::fs::File::open(folder)?.sync_all());
    renamed.map_err(|error| StoreError::Open { what: name, why: error.to_string() })?;
    open_writer(&path).await
}

async fn fill(
    connection: &mut SqliteConnection,
    id: i64,
    cluster: &str,
    opened: i64,
    carried: &Carried,
) -> sqlx::Result<()> {
    let mut transaction = connection.begin().await?;
    sqlx::raw_sql(SCHEMA).execute(&mut *transaction).await?;
    sqlx::query("INSERT INTO trace_segment (id, cluster, opened) VALUES ($1, $2, $3)")
        .bind(id)
        .bind(cluster)
        .bind(opened)
        .execute(&mut *transaction)
        .await?;
    for position in &carried.positions {
        sqlx::query(sql::WRITE_POSITION)
            .bind(cluster)
            .bind(&position.topic)
            .bind(&position.broker)
            .bind(position.queue)
            .bind(position.next)
            .bind(position.stored)
            .execute(&mut *transaction)
            .await?;
    }
    for reject in &carried.rejects {
        sqlx::query(sql::WRITE_REJECT)
            .bind(cluster)
            .bind(&reject.reason)
            .bind(reject.count)
            .bind(&reject.sample)
            .bind(reject.last)
            .execute(&mut *transaction)
            .await?;
    }
    sqlx::query(AssertSqlSafe(format!("PRAGMA user_version = {FORMAT}"))).execute(&mut *transaction).await?;
    transaction.commit().await
}

/// Removes a database file with what SQLite may have put beside it. The file itself goes first: without it the rest is
/// nothing.
pub(super) fn remove(path: &Path) -> Result<()> {
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let mut name = path.as_os_str().to_os_string();
        name.push(suffix);
        match std::fs::remove_file(&name) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(StoreError::Open {
                    what: path.display().to_string(),
                    why: format!("it cannot be removed: {error}"),
                });
            }
            _ => {}
        }
    }
    Ok(())
}

/// Bytes on disk, with the write-ahead log.
pub(super) fn size(path: &Path) -> u64 {
    let wal = {
        let mut name = path.as_os_str().to_os_string();
        name.push("-wal");
        name
    };
    let length = |path: &Path| std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    length(path) + length(Path::new(&wal))
}
