//! One suite for every engine: what the ports promise, run on SQLite and on PostgreSQL.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod append;
mod files;
mod history;
mod lookup;
mod meta;
mod model;
mod place;
mod postgres;
mod retention;
mod sample;
mod segments;

/// Writes each case as two tests, one an engine.
macro_rules! on_both_engines {
    ($($case:ident)+) => {
        mod on_sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() { super::$case(crate::place::Place::sqlite()).await; })+
        }
        mod on_postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() { super::$case(crate::place::Place::postgres().await).await; })+
        }
    };
}
pub(crate) use on_both_engines;
