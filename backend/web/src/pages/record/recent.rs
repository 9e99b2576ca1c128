//! Keys that were just traced, for a search page that is not a blank wall.

use std::collections::BTreeSet;

use millrace_core::time::Millis;
use millrace_core::trace::{TraceEvent, TraceRecord};
use millrace_store::TraceStore;

/// Trace records that are looked through, and keys that are shown.
const LOOK: usize = 400;
const SHOW: usize = 12;

pub(crate) struct RecentKey {
    pub(crate) key: String,
    pub(crate) topic: String,
    pub(crate) at: Millis,
}

/// The newest distinct keys of publications; an error is the caller's to show.
pub(crate) async fn keys(traces: &dyn TraceStore) -> millrace_store::Result<Vec<RecentKey>> {
    let records = traces.newest(LOOK).await?;
    Ok(of_records(&records))
}

fn of_records(records: &[TraceRecord]) -> Vec<RecentKey> {
    let mut sent: Vec<(&TraceRecord, &millrace_core::trace::Pub)> = records
        .iter()
        .filter_map(|record| match &record.event {
            TraceEvent::Pub(publication) => Some((record, publication)),
            _ => None,
        })
        .collect();
    sent.sort_by_key(|(record, publication)| std::cmp::Reverse((publication.time, &record.origin)));
    let mut seen = BTreeSet::new();
    let mut recent = Vec::new();
    for (_, publication) in sent {
        for key in publication.keys.iter().filter(|key| !key.starts_with("~p=")) {
            if recent.len() < SHOW && seen.insert(key) {
                recent.push(RecentKey { key: key.clone(), topic: publication.topic.clone(), at: publication.time });
            }
        }
    }
    recent
}
