//! The console's functions on the in-memory cluster.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod acts;
mod browsing;
mod dead_letters;
mod groups;
mod history;
mod look_up;
mod scale;
mod snapshots;
mod world;
