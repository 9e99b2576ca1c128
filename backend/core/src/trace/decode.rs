//! A trace message becomes trace records and rejects. Invariant: total; one bad entry never costs its neighbours.

use serde::{Deserialize, Serialize};

use super::event::{Dialect, event};
use super::record::{Origin, TraceMessage, TraceRecord};
use super::split::{FIELD, entries, sample, sample_of, unglue};

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
    /// At most 200 characters of it, separators shown as `␁` and `␂`.
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

/// Decodes every entry of `message`, whatever client version wrote it.
pub fn decode(message: &TraceMessage) -> Decoded {
    let mut decoded = Decoded::default();
    let mut index = 0;
    let dialect = Dialect::of(&message.queue.topic, &String::from_utf8_lossy(&message.body));
    let owner_group = message.producer_group.as_deref().and_then(owner_group).map(str::to_owned);
    let mut fields = Vec::with_capacity(16);
    for entry in entries(&message.body) {
        let Ok(text) = std::str::from_utf8(entry) else {
            decoded.rejects.push(Reject { index, reason: RejectReason::NotUtf8, sample: sample(entry) });
            index += 1;
            continue;
        };
        fields.clear();
        fields.extend(text.split(FIELD));
        for entry in unglue(&fields) {
            match event(entry, dialect) {
                Ok((event, extra)) => {
                    let origin = origin(message, index, owner_group.clone());
                    decoded.records.push(TraceRecord { event, origin, extra });
                }
                Err(reason) => decoded.rejects.push(Reject { index, reason, sample: sample_of(entry) }),
            }
            index += 1;
        }
    }
    decoded
}

fn origin(message: &TraceMessage, index: u32, owner_group: Option<String>) -> Origin {
    Origin {
        queue: message.queue.clone(),
        offset: message.offset,
        index,
        stored: message.stored,
        born: message.born,
        born_host: message.born_host.clone(),
        owner_group,
    }
}

/// The group inside `_INNER_TRACE_PRODUCER-<group>-<PRODUCE|CONSUME>-<n>`.
fn owner_group(producer_group: &str) -> Option<&str> {
    let (rest, _) = producer_group.strip_prefix("_INNER_TRACE_PRODUCER-")?.rsplit_once('-')?;
    let (group, _) = rest.rsplit_once('-')?;
    (!group.is_empty()).then_some(group)
}
