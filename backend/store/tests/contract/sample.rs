//! Trace messages of a made-up shop, and the batches that the ingest would make of them.

use std::collections::BTreeSet;

use millrace_core::name::QueueRef;
use millrace_core::time::Millis;
use millrace_core::trace::{Term, TraceMessage, TraceRecord, decode};
use millrace_store::{Batch, Found, IndexedMessage, PositionMove};

pub(crate) fn queue(number: i32) -> QueueRef {
    QueueRef { topic: "RMQ_SYS_TRACE_TOPIC".into(), broker: "broker-a".into(), queue: number }
}

/// One record for each key, each a delivery of it.
pub(crate) fn message(queue_number: i32, offset: i64, keys: &[&str]) -> TraceMessage {
    let record = |(place, key): (usize, &&str)| {
        let id = format!("7F0000010A2B18B4AAC2{:08X}{:04X}", offset * 7 + i64::from(queue_number), place);
        format!(
            "SubBefore\u{1}{}\u{1}DefaultRegion\u{1}billing\u{1}req-{id}\u{1}{id}\u{1}0\u{1}{key}\u{2}",
            1000 + offset
        )
    };
    let body: Vec<String> = keys.iter().enumerate().map(record).collect();
    raw(queue_number, offset, &body.concat())
}

pub(crate) fn raw(queue_number: i32, offset: i64, body: &str) -> TraceMessage {
    TraceMessage {
        queue: queue(queue_number),
        offset,
        stored: Millis(1_000 + offset),
        born: Millis(990 + offset),
        born_host: "192.0.2.10".into(),
        producer_group: Some("_INNER_TRACE_PRODUCER-billing-CONSUME-1".into()),
        body: body.as_bytes().to_vec(),
    }
}

pub(crate) fn indexed(message: TraceMessage) -> IndexedMessage {
    let decoded = decode(&message);
    let mut terms = BTreeSet::new();
    decoded.records.iter().for_each(|record| {
        Term::of(record, &mut |term| {
            terms.insert(term);
        });
    });
    IndexedMessage {
        records: u32::try_from(decoded.records.len()).unwrap(),
        rejects: decoded.rejects.into_iter().map(|reject| (reject.reason, reject.sample)).collect(),
        terms: terms.into_iter().collect(),
        message,
    }
}

/// Messages of one queue from `from`, each with one record of one key, and the move past them.
pub(crate) fn batch(queue_number: i32, from: i64, keys: &[&str]) -> Batch {
    let messages = (from..).zip(keys).map(|(offset, key)| indexed(message(queue_number, offset, &[key]))).collect();
    Batch {
        messages,
        moves: vec![moved(queue_number, (from > 0).then_some(from), from + i64::try_from(keys.len()).unwrap())],
    }
}

pub(crate) fn moved(queue_number: i32, expected: Option<i64>, next: i64) -> PositionMove {
    PositionMove { queue: queue(queue_number), expected, next }
}

pub(crate) fn term(text: &str) -> [Term; 1] {
    [Term::text(text)]
}

pub(crate) fn offsets(records: &[TraceRecord]) -> Vec<(i32, i64)> {
    records.iter().map(|record| (record.origin.queue.queue, record.origin.offset)).collect()
}

/// Offsets of queue 0 where something was found; nothing may have been missed.
pub(crate) fn found_at(found: &Found) -> Vec<i64> {
    assert_eq!(found.missed, []);
    offsets(&found.records).into_iter().map(|(_, offset)| offset).collect()
}
