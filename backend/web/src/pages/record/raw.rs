//! The trace records that a flow is made of, each as it lies in its trace message.

use std::collections::BTreeSet;

use millrace_core::flow::Flow;
use millrace_core::time::Millis;
use millrace_core::trace::{TraceEvent, TraceRecord};

/// Rows on one page; what is left out is said.
const MOST: usize = 500;

pub(crate) struct Raw {
    pub(crate) rows: Vec<RawRow>,
    pub(crate) left_out: usize,
}

pub(crate) struct RawRow {
    /// As on the wire.
    pub(crate) kind: &'static str,
    pub(crate) at: Option<Millis>,
    /// The topic of a publication, the group of a delivery.
    pub(crate) about: String,
    pub(crate) ids: Vec<String>,
    pub(crate) place: String,
    pub(crate) stored: Millis,
    pub(crate) host: String,
    pub(crate) json: String,
}

/// The records of `flow`, by time.
pub(crate) fn rows(flow: &Flow, records: &[TraceRecord]) -> Raw {
    let mut ids: BTreeSet<&str> = BTreeSet::new();
    for message in &flow.messages {
        ids.insert(&message.id);
        ids.extend(message.offset_ids.iter().map(String::as_str));
    }
    let of_flow = |record: &&TraceRecord| record.event.message_ids().iter().any(|id| ids.contains(id.as_str()));
    let mut records: Vec<&TraceRecord> = records.iter().filter(of_flow).collect();
    records.sort_by_key(|record| (record.event.time().unwrap_or(record.origin.born), record.origin.clone()));
    let left_out = records.len().saturating_sub(MOST);
    Raw { rows: records.into_iter().take(MOST).map(row).collect(), left_out }
}

fn row(record: &TraceRecord) -> RawRow {
    let (kind, about) = match &record.event {
        TraceEvent::Pub(e) => ("Pub", e.topic.clone()),
        TraceEvent::SubBefore(e) => ("SubBefore", e.group.clone()),
        TraceEvent::SubAfter(e) => {
            ("SubAfter", e.group.clone().or(record.origin.owner_group.clone()).unwrap_or_default())
        }
        TraceEvent::EndTransaction(e) => ("EndTransaction", e.topic.clone()),
        TraceEvent::Recall(e) => ("Recall", e.topic.clone()),
    };
    let origin = &record.origin;
    RawRow {
        kind,
        at: record.event.time(),
        about,
        ids: record.event.message_ids().to_vec(),
        place: format!("{} {}/{}:{}", origin.queue.broker, origin.queue.queue, origin.offset, origin.index),
        stored: origin.stored,
        host: origin.born_host.clone(),
        json: serde_json::to_string_pretty(record).unwrap_or_else(|error| error.to_string()),
    }
}
