//! Decoding of message traces: the cases, every client version, a recorded task, bodies made to hurt, and the laws.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod cases;
mod laws;
mod nasty;
mod recorded;
mod versions;

use millrace_core::name::{QueueRef, TRACE_TOPIC};
use millrace_core::time::Millis;
use millrace_core::trace::{
    Decoded, EndTransaction, Pub, Recall, SubAfter, SubBefore, TraceEvent, TraceMessage, decode,
};

fn message(body: impl AsRef<[u8]>) -> TraceMessage {
    TraceMessage {
        queue: QueueRef { topic: TRACE_TOPIC.into(), broker: "broker-a".into(), queue: 0 },
        offset: 42,
        stored: Millis(1_700_000_000_500),
        born: Millis(1_700_000_000_400),
        born_host: "192.0.2.1".into(),
        producer_group: None,
        body: body.as_ref().to_vec(),
    }
}

/// Decodes a body written with `␁` and `␂` for its separators.
fn read(body: &str) -> Decoded {
    decode(&message(body.replace('␁', "\u{1}").replace('␂', "\u{2}")))
}

/// Decodes a body that has no bad entry.
fn events(body: &str) -> Vec<TraceEvent> {
    let decoded = read(body);
    assert_eq!(decoded.rejects, []);
    decoded.records.into_iter().map(|record| record.event).collect()
}

fn publication(event: &TraceEvent) -> &Pub {
    let TraceEvent::Pub(event) = event else { panic!("{event:?} is no Pub") };
    event
}

fn before(event: &TraceEvent) -> &SubBefore {
    let TraceEvent::SubBefore(event) = event else { panic!("{event:?} is no SubBefore") };
    event
}

fn after(event: &TraceEvent) -> &SubAfter {
    let TraceEvent::SubAfter(event) = event else { panic!("{event:?} is no SubAfter") };
    event
}

fn end(event: &TraceEvent) -> &EndTransaction {
    let TraceEvent::EndTransaction(event) = event else { panic!("{event:?} is no EndTransaction") };
    event
}

fn recall(event: &TraceEvent) -> &Recall {
    let TraceEvent::Recall(event) = event else { panic!("{event:?} is no Recall") };
    event
}
