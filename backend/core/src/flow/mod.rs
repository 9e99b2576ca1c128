//! Trace records become a flow: what happened to one record.
//!
//! Invariant: a flow is a function of the *set* of its trace records and facts. Their order and repetition do not matter.

mod affinity;
mod alias;
mod cause;
mod clock;
mod diagnose;
mod expand;
mod fact;
mod finding;
#[cfg(test)]
mod fixture;
mod gather;
mod habit;
mod model;
pub mod picture;
mod place;
mod process;
mod reconstruct;
mod select;
mod state;
#[cfg(test)]
mod tests;

pub use expand::Search;
pub use fact::{ConsumeModel, Fact, Options};
pub use finding::{Finding, FindingKind, Severity, Verdict};
pub use habit::habits;
pub use model::{
    Attempt, ClockOffset, Confidence, DeadLetterCopy, Edge, Evidence, Flow, Hop, HopRef, HopState, MessageKind,
    MessageNode, MessageRef, Publication, Recalled, Rule, Span, StoredAt, Transaction, TransactionEnd,
    TransactionOutcome, Why,
};
pub use picture::picture;
pub use picture::waterfall::waterfall;
pub use reconstruct::reconstruct;
