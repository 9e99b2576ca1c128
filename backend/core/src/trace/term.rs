//! What a trace record can be found by: 64-bit hashes of its keys, ids and producing process.

use xxhash_rust::xxh3::xxh3_64;

use super::record::{TraceEvent, TraceRecord};
use crate::id::UniqId;

/// Width of the time buckets by which a process's publications are found.
pub const PROCESS_BUCKET_MS: i64 = 4096;

/// One entry of the trace index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term(pub u64);

impl Term {
    /// A key, a message id or an offset message id; people paste any of them into one box.
    pub fn text(text: &str) -> Self {
        Self(xxh3_64(text.as_bytes()))
    }

    /// Publications of one process (see [`UniqId::process`]) in the bucket of its own clock that holds `ms_in_month`.
    pub fn process(process: &str, ms_in_month: i64) -> Self {
        let mut bytes = Vec::with_capacity(process.len() + 16);
        bytes.extend_from_slice(b"\x01process\x01");
        bytes.extend_from_slice(process.as_bytes());
        bytes.extend_from_slice(&ms_in_month.div_euclid(PROCESS_BUCKET_MS).to_be_bytes());
        Self(xxh3_64(&bytes))
    }

    /// Every term under which `record` is found; may repeat.
    pub fn of(record: &TraceRecord, push: &mut impl FnMut(Self)) {
        for key in record.event.keys() {
            push(Self::text(key));
        }
        for id in record.event.message_ids() {
            push(Self::text(id));
        }
        if let TraceEvent::Pub(publication) = &record.event {
            for id in &publication.offset_ids {
                push(Self::text(id));
            }
            for id in &publication.message_ids {
                if let Some(uniq) = UniqId::parse(id) {
                    push(Self::process(&uniq.process, uniq.ms_in_month));
                }
            }
        }
    }
}
