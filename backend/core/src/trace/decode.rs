//! A trace message becomes trace records and rejects. Invariant: every entry becomes exactly one of them, by its own
//! bytes alone.

use serde::{Deserialize, Serialize};

use super::client_group::owner_group;
use super::event::{Client, event};
use super::record::{Origin, TraceMessage, TraceRecord};
use super::split::{entries, sample, split};

/// What is in a trace message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Decoded {
    pub records: Vec<TraceRecord>,
    pub rejects: Vec<Reject>,
}

/// An entry that is no trace record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reject {
    /// Its place in the trace message, as in [`Origin::index`].
    pub index: u32,
    pub reason: RejectReason,
    /// At most 200 characters of it, control characters shown: separators are `␁` and `␂`.
    pub sample: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RejectReason {
    NotUtf8,
    UnknownType,
    TooFewFields,
    BadNumber,
    BadBoolean,
    MissingId,
}

/// Bytes of a short entry, to guess how many a body has.
const SHORT_ENTRY: usize = 128;

/// Decodes every entry of `message`, whatever client version wrote it. Empty entries take no place.
pub fn decode(message: &TraceMessage) -> Decoded {
    let mut decoded = Decoded { records: Vec::with_capacity(message.body.len() / SHORT_ENTRY), rejects: Vec::new() };
    let client = Client::of(&message.queue.topic);
    let first = Origin {
        queue: message.queue.clone(),
        offset: message.offset,
        index: 0,
        stored: message.stored,
        born: message.born,
        born_host: message.born_host.clone(),
        owner_group: message.producer_group.as_deref().and_then(owner_group).map(str::to_owned),
    };
    let mut fields = Vec::with_capacity(16);
    for (index, entry) in (0..).zip(entries(&message.body)) {
        let read = std::str::from_utf8(entry).map_err(|_| RejectReason::NotUtf8).and_then(|text| {
            split(text, &mut fields);
            event(&fields, client)
        });
        match read {
            Ok((event, extra)) => {
                decoded.records.push(TraceRecord { event, origin: Origin { index, ..first.clone() }, extra });
            }
            Err(reason) => decoded.rejects.push(Reject { index, reason, sample: sample(entry) }),
        }
    }
    decoded
}
