//! What goes wrong with a database, told so that a person knows what to do.

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
