//! Trace records become a flow: what happened to one record.
//!
//! Invariant: a flow is a function of the *set* of its trace records and facts. Their order and repetition do not matter.

mod fact;
mod finding;
mod model;

pub use fact::{Fact, Options};
pub use finding::{Finding, FindingKind, Severity, Verdict};
pub use model::{
    Attempt, ClockOffset, Confidence, DeadLetterCopy, Edge, Evidence, Flow, Hop, HopRef, HopState, MessageKind,
    MessageNode, MessageRef, Publication, Recalled, Rule, Span, StoredAt, Transaction, TransactionEnd,
    TransactionOutcome, Why,
};
