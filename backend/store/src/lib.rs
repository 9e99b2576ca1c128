//! Ports for what Millrace keeps, and their adapters on SQLite and PostgreSQL.
//!
//! [`TraceStore`] keeps trace messages in segments by arrival; [`MetaStore`] keeps what people and the program did;
//! [`Stores`] opens both. One contract suite (`tests/contract`) runs on every adapter.

mod database;
mod error;
pub mod fake;
mod history;
mod meta;
mod postgres;
mod resend;
mod sql;
mod sqlite;
mod trace;
mod traces;

pub use database::{DatabaseUrl, Stores};
pub use error::{Result, StoreError};
pub use history::{HistoryRow, HistoryStore, Past, Stretch};
pub use meta::{AuditEntry, AuditOutcome, MetaStore};
pub use resend::{Claim, Resend, ResendStore, Resent};
pub use trace::{
    Appended, Batch, DroppedSegment, Found, IndexedMessage, PositionMove, QueuePosition, RejectSummary, Retention,
    SegmentInfo, SegmentRules, TraceStore,
};
