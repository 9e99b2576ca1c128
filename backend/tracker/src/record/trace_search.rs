//! Every stored trace record that belongs to a record: first what has the searched text, then what those name.

use std::collections::BTreeMap;

use millrace_core::coverage::Missed;
use millrace_core::flow::{Fact, Search};
use millrace_core::time::Millis;
use millrace_core::trace::{Origin, TraceRecord};
use millrace_store::{StoreError, TraceStore};

/// A flow of more trace records than this is cut off, and the answer says so.
const MAX_RECORDS: usize = 5_000;
/// How often what was found may name something new. A chain of operators that each change the key takes one a step.
const MAX_ROUNDS: usize = 24;

#[derive(Debug, Default)]
pub(super) struct TracesFound {
    /// By origin, without repeats.
    pub records: Vec<TraceRecord>,
    pub truncated: bool,
    pub segments_searched: usize,
    pub missed: Vec<Missed>,
    pub oldest: Option<Millis>,
}

/// Looks for `text` and for what `facts` name it by, and goes on until nothing new is named or a limit is hit.
pub(super) async fn search(store: &dyn TraceStore, text: &str, facts: &[Fact]) -> Result<TracesFound, StoreError> {
    let mut found = TracesFound::default();
    let mut records: BTreeMap<Origin, TraceRecord> = BTreeMap::new();
    let mut search = Search::of(text, facts);
    for _ in 0..MAX_ROUNDS {
        let ask = search.next(&found.records);
        if ask.is_empty() {
            return Ok(found);
        }
        let answer = store.find(&ask, MAX_RECORDS).await?;
        found.truncated |= answer.truncated;
        found.segments_searched = found.segments_searched.max(answer.segments_searched);
        found.oldest = answer.oldest;
        for missed in answer.missed {
            if !found.missed.contains(&missed) {
                found.missed.push(missed);
            }
        }
        for record in answer.records {
            records.insert(record.origin.clone(), record);
        }
        found.records = records.values().take(MAX_RECORDS).cloned().collect();
        if records.len() > MAX_RECORDS {
            break;
        }
    }
    found.truncated = true;
    Ok(found)
}
