//! Placeholder until the decoder lands.
use serde::{Deserialize, Serialize};

use super::record::{TraceMessage, TraceRecord};

/// What is in a trace message.
#[derive(Debug, Clone, Default)]
pub struct Decoded {
    pub records: Vec<TraceRecord>,
    pub rejects: Vec<Reject>,
}

/// An entry that is no trace record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reject {
    pub index: u32,
    pub reason: RejectReason,
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

pub fn decode(_message: &TraceMessage) -> Decoded {
    Decoded::default()
}
