//! The tracker on the in-memory cluster and an in-memory store.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod ingest;
mod memory_store;
mod missing;
mod record;

use millrace_core::time::{Clock, Millis};

/// The fake cluster's present, a little later.
#[derive(Debug)]
struct FixedClock;

impl Clock for FixedClock {
    fn now(&self) -> Millis {
        Millis(1_800_000_100_000)
    }
}
