//! kill -9 at any point, full disks, servers that go away and come back: everything is told, and nothing is lost.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod clusters;
mod databases;
mod kills;
mod load;
mod own_cluster;
#[path = "../support/mod.rs"]
mod support;
