//! Message traces: the bytes of a trace message become trace records.
//!
//! Invariant: [`decode`] is total. It never panics, and a bad entry never costs its neighbours.

mod client_group;
mod decode;
mod event;
mod fields;
mod keys;
mod message_type;
mod record;
pub mod recorded;
mod split;
mod term;

pub use decode::{Decoded, Reject, RejectReason, decode};
pub use record::{
    EndTransaction, Origin, Outcome, Pub, PubType, Recall, SubAfter, SubBefore, TraceEvent, TraceMessage, TraceRecord,
    TransactionState,
};
pub use term::{PROCESS_BUCKET_MS, Term};
