//! The trace store, whatever the engine: append fast, index late.
//!
//! A batch becomes compressed chunks with the sorted postings of each; an engine writes them to the open segment in one
//! transaction with the queue positions. The open segment is searched through its chunks' postings in memory; a full one
//! gets blocks of sorted postings. Invariant: an index entry may point at too much, never at too little. What a look-up
//! returns was decoded from the kept bytes and has the asked term itself.

mod bytes;
mod chunk;
mod encode;
mod lookup;
mod open_index;
mod postings;
mod segments;
mod store;

pub(crate) use segments::{Block, Listed, POSTINGS_PAGE, Postings, Segments, Write, Written, is_full};
pub(crate) use store::Traces;
