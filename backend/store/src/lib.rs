//! Ports for what Millrace keeps, and their adapters on SQLite and PostgreSQL.
//!
//! [`TraceStore`] keeps trace messages in time-sliced segments; [`MetaStore`] keeps what people and the program did.
//! One contract suite (`tests/contract`) runs on every adapter.

mod error;
mod meta;
mod trace;

pub use error::{Result, StoreError};
pub use meta::{AuditEntry, AuditOutcome, MetaStore};
pub use trace::{
    Appended, Batch, DroppedSegment, Found, IndexedMessage, PositionMove, QueuePosition, RejectSummary, Retention,
    SegmentInfo, SegmentRules, TraceStore,
};
