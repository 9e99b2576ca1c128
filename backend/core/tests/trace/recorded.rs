//! Trace messages of a task that ran on Apache RocketMQ 5.5.0, with clients 4.4.0, 4.8.0 and 4.9.8 beside it.

use std::collections::{BTreeMap, BTreeSet};

use millrace_core::trace::{RejectReason, TraceEvent, TraceMessage, TransactionState, decode, recorded};

const MESSAGES: &str = include_str!("../../../../tests/traces/messages.jsonl");
const DEAD: &str = include_str!("../../../../tests/traces/dlq.jsonl");
const RETRY: &str = include_str!("../../../../tests/traces/retry.jsonl");

fn messages(text: &str) -> Vec<TraceMessage> {
    assert_eq!(recorded::Shape::of(text.lines().next().unwrap().as_bytes()), recorded::Shape::Lines);
    (1..).zip(text.lines()).filter_map(|(number, line)| recorded::line(line.as_bytes(), number).unwrap()).collect()
}

fn kind(event: &TraceEvent) -> &'static str {
    match event {
        TraceEvent::Pub(_) => "Pub",
        TraceEvent::SubBefore(_) => "SubBefore",
        TraceEvent::SubAfter(_) => "SubAfter",
        TraceEvent::EndTransaction(_) => "EndTransaction",
        TraceEvent::Recall(_) => "Recall",
    }
}

#[test]
fn every_recorded_entry_becomes_a_record() {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut states = BTreeSet::new();
    let mut places = BTreeSet::new();
    for message in messages(MESSAGES) {
        let decoded = decode(&message);
        assert_eq!(decoded.rejects, []);
        assert!(!decoded.records.is_empty());
        for record in decoded.records {
            assert!(record.extra.is_empty(), "{record:?}");
            *counts.entry(kind(&record.event)).or_default() += 1;
            assert!(
                places.insert((record.origin.queue, record.origin.offset, record.origin.index)),
                "a place is taken twice"
            );
            if let TraceEvent::EndTransaction(e) = record.event {
                states.insert(e.state);
            }
        }
    }
    let want = [("EndTransaction", 4), ("Pub", 146), ("Recall", 2), ("SubAfter", 206), ("SubBefore", 206)];
    assert_eq!(counts, BTreeMap::from(want));
    assert_eq!(states, [TransactionState::Commit, TransactionState::Rollback, TransactionState::Unknown].into());
}

#[test]
fn recorded_keys_and_ids_are_taken_apart() {
    let records: Vec<_> = messages(MESSAGES).iter().flat_map(|message| decode(message).records).collect();
    let publications = || records.iter().filter_map(|r| if let TraceEvent::Pub(e) = &r.event { Some(e) } else { None });
    assert_eq!(
        publications()
            .filter(|e| e.message_ids.len() > 1)
            .map(|e| (e.message_ids.len(), e.offset_ids.len()))
            .collect::<Vec<_>>(),
        [(3, 3)]
    );
    assert!(publications().any(|e| e.keys == ["k1", "k2", "k3"]));
    assert_eq!(publications().filter(|e| e.client_host.is_some()).count(), 3, "client 4.8.0 writes its host");
    assert!(!records.iter().any(|r| r.event.keys().iter().any(|key| key == "null" || key.is_empty())));
}

#[test]
fn what_is_no_trace_message_is_read_and_rejected() {
    for (text, count) in [(DEAD, 4), (RETRY, 20)] {
        let messages = messages(text);
        assert_eq!(messages.len(), count);
        for message in messages {
            let decoded = decode(&message);
            assert_eq!(decoded.records, []);
            assert_eq!(decoded.rejects.iter().map(|r| r.reason).collect::<Vec<_>>(), [RejectReason::UnknownType]);
        }
    }
}
