//! Trace records for tests, short enough to read.

use crate::name::QueueRef;
use crate::time::Millis;
use crate::trace::{
    EndTransaction, Origin, Outcome, Pub, PubType, SubAfter, SubBefore, TraceEvent, TraceRecord, TransactionState,
};

/// A record of a trace message that the client at 192.0.2.1 sent at `born` and the broker stored at `stored`.
pub(super) fn at(born: i64, stored: i64, event: TraceEvent) -> TraceRecord {
    TraceRecord {
        event,
        origin: Origin {
            queue: QueueRef { topic: "RMQ_SYS_TRACE_TOPIC".into(), broker: "broker-a".into(), queue: 0 },
            offset: born,
            index: 0,
            stored: Millis(stored),
            born: Millis(born),
            born_host: "192.0.2.1".into(),
            owner_group: None,
        },
        extra: Vec::new(),
    }
}

/// A record whose client's clock is right.
pub(super) fn rec(event: TraceEvent) -> TraceRecord {
    let time = event.time().unwrap_or_default().0;
    at(time + 10, time + 12, event)
}

pub(super) fn on(host: &str, mut record: TraceRecord) -> TraceRecord {
    record.origin.born_host = host.into();
    record
}

pub(super) fn keyed(keys: &[&str], mut event: TraceEvent) -> TraceEvent {
    let keys: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
    match &mut event {
        TraceEvent::Pub(e) => e.keys = keys,
        TraceEvent::SubBefore(e) => e.keys = keys,
        TraceEvent::SubAfter(e) => e.keys = keys,
        TraceEvent::EndTransaction(e) => e.keys = keys,
        TraceEvent::Recall(_) => {}
    }
    event
}

/// A send of `ids` to `topic` that began at `time` and took 5 ms.
pub(super) fn publication(ids: &[&str], topic: &str, time: i64) -> TraceEvent {
    TraceEvent::Pub(Pub {
        time: Millis(time),
        region: "DefaultRegion".into(),
        producer_group: format!("{topic}_producer"),
        topic: topic.into(),
        message_ids: ids.iter().map(|id| (*id).to_owned()).collect(),
        tags: None,
        keys: Vec::new(),
        store_host: "127.0.0.1:10911".into(),
        body_length: 7,
        cost: 5,
        message_type: PubType::Normal,
        offset_ids: Vec::new(),
        success: true,
        client_host: None,
    })
}

pub(super) fn typed(message_type: PubType, mut event: TraceEvent) -> TraceEvent {
    if let TraceEvent::Pub(e) = &mut event {
        e.message_type = message_type;
    }
    event
}

pub(super) fn before(request: &str, id: &str, group: &str, time: i64, retry: i64) -> TraceEvent {
    TraceEvent::SubBefore(SubBefore {
        time: Millis(time),
        region: "DefaultRegion".into(),
        group: group.into(),
        request_id: request.into(),
        message_id: id.into(),
        retry,
        keys: Vec::new(),
        client_host: None,
    })
}

pub(super) fn after(request: &str, id: &str, group: &str, time: i64, ok: bool) -> TraceEvent {
    TraceEvent::SubAfter(SubAfter {
        request_id: request.into(),
        message_id: id.into(),
        cost: 3,
        success: ok,
        keys: Vec::new(),
        outcome: Some(if ok { Outcome::Success } else { Outcome::Exception }),
        time: Some(Millis(time)),
        group: Some(group.into()),
    })
}

/// Both halves of a delivery from `begin` to `end`.
pub(super) fn delivery(
    request: &str,
    id: &str,
    group: &str,
    (begin, end): (i64, i64),
    retry: i64,
    ok: bool,
) -> [TraceRecord; 2] {
    [rec(before(request, id, group, begin, retry)), rec(after(request, id, group, end, ok))]
}

pub(super) fn transaction_end(id: &str, topic: &str, time: i64, state: TransactionState, check: bool) -> TraceEvent {
    TraceEvent::EndTransaction(EndTransaction {
        time: Millis(time),
        region: "DefaultRegion".into(),
        producer_group: format!("{topic}_producer"),
        topic: topic.into(),
        message_id: id.into(),
        tags: None,
        keys: Vec::new(),
        store_host: "127.0.0.1:10911".into(),
        transaction_id: id.into(),
        state,
        from_check: check,
    })
}
