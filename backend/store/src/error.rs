//! What goes wrong with a database, told so that a person knows what to do.

use millrace_core::coverage::Why;

pub type Result<T> = std::result::Result<T, StoreError>;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("the database {what} cannot be opened: {why}")]
    Open { what: String, why: String },
    #[error("the database {0} is locked by another program: stop it, or point Millrace at another database")]
    Locked(String),
    #[error("the disk under {0} is full: free space or lower the retention")]
    Full(String),
    #[error(
        "the database {what} was written by a newer Millrace (migration {found}, this one knows {known}): use that version"
    )]
    Newer { what: String, found: i64, known: i64 },
    /// Another worker moved the queue's position: this batch was not written.
    #[error("the position of {queue} is {actual:?} and not {expected:?}: another worker has it")]
    Fenced { queue: String, expected: Option<i64>, actual: Option<i64> },
    #[error("{what} in {at} is damaged: {why}")]
    Damaged { what: String, at: String, why: String },
    #[error("the database failed at {what}")]
    Database {
        what: &'static str,
        #[source]
        source: sqlx::Error,
    },
}

impl From<StoreError> for Why {
    fn from(error: StoreError) -> Self {
        Self::Said(error.to_string())
    }
}

/// SQLite result codes, without the extended part.
const SQLITE_BUSY: i64 = 5;
const SQLITE_LOCKED: i64 = 6;
const SQLITE_CORRUPT: i64 = 11;
const SQLITE_FULL: i64 = 13;
const SQLITE_NOTADB: i64 = 26;

impl StoreError {
    /// What an engine's error means to people. `doing` is what was tried, `at` the database or file.
    pub(crate) fn of_engine(error: sqlx::Error, doing: &'static str, at: &str) -> Self {
        let Some(database) = error.as_database_error() else {
            return Self::Database { what: doing, source: error };
        };
        let code = database.code().unwrap_or_default();
        if database.try_downcast_ref::<sqlx::sqlite::SqliteError>().is_some() {
            return match code.parse::<i64>().map(|code| code & 0xff) {
                Ok(SQLITE_BUSY | SQLITE_LOCKED) => Self::Locked(at.into()),
                Ok(SQLITE_FULL) => Self::Full(at.into()),
                Ok(SQLITE_CORRUPT | SQLITE_NOTADB) => {
                    Self::Damaged { what: "the file".into(), at: at.into(), why: database.message().into() }
                }
                _ => Self::Database { what: doing, source: error },
            };
        }
        match code.as_ref() {
            "53100" => Self::Full(at.into()),
            "55P03" => Self::Locked(at.into()),
            "XX001" | "XX002" => {
                Self::Damaged { what: "a table".into(), at: at.into(), why: database.message().into() }
            }
            _ => Self::Database { what: doing, source: error },
        }
    }

    /// Why the migrations did not run.
    pub(crate) fn of_migration(error: sqlx::migrate::MigrateError, known: &sqlx::migrate::Migrator, at: &str) -> Self {
        use sqlx::migrate::MigrateError as Cause;
        let newest = known.iter().map(|migration| migration.version).max().unwrap_or(0);
        match error {
            Cause::VersionMissing(found) if found > newest => Self::Newer { what: at.into(), found, known: newest },
            Cause::Execute(error) | Cause::ExecuteMigration(error, _) => Self::of_engine(error, "migrating", at),
            other => Self::Open { what: at.into(), why: other.to_string() },
        }
    }
}
