//! Ingest that is killed at any point ends with exactly the rows of one that was not disturbed.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod kills;
#[path = "../support/mod.rs"]
mod support;
