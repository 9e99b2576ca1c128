//! A batch becomes what an engine writes: chunks with postings, moves, counts of rejects.

use std::collections::BTreeMap;

use millrace_core::time::Millis;
use millrace_core::trace::RejectReason;

use super::chunk::Packer;
use super::postings::{encode, entry, fingerprint};
use super::segments::{EncodedChunk, Move, Write};
use crate::{Appended, Batch, IndexedMessage, RejectSummary, Result, StoreError};

/// A chunk ends at this many records, bytes or messages: a look-up inflates little, and a place fits into 16 bits.
const CHUNK_RECORDS: u32 = 1000;
const CHUNK_BYTES: usize = 192 << 10;
const CHUNK_MESSAGES: usize = 4096;
/// Characters kept of a rejected entry.
const SAMPLE_LENGTH: usize = 200;

#[derive(Debug)]
pub(super) struct Encoded {
    pub(super) write: Write,
    /// Each chunk's entries, with 0 for the chunk's number.
    pub(super) runs: Vec<Vec<u64>>,
    pub(super) appended: Appended,
}

pub(super) fn encode_batch(batch: &Batch) -> Result<Encoded> {
    let packing = |error: std::io::Error| StoreError::Damaged {
        what: "a batch".into(),
        at: "memory".into(),
        why: format!("it cannot be compressed: {error}"),
    };
    let mut packer = Packer::new().map_err(packing)?;
    let mut encoded = Encoded { write: Write::default(), runs: Vec::new(), appended: Appended::default() };
    let mut from = 0;
    let mut records = 0_u32;
    for (number, message) in batch.messages.iter().enumerate() {
        packer.push(&message.message);
        records = records.saturating_add(message.records);
        let length = number + 1 - from;
        let full = records >= CHUNK_RECORDS || packer.raw_length() >= CHUNK_BYTES || length >= CHUNK_MESSAGES;
        if full || number + 1 == batch.messages.len() {
            let run = entries_of(batch.messages.get(from..=number).unwrap_or_default());
            let body = packer.finish().map_err(packing)?;
            encoded.write.chunks.push(EncodedChunk { body, postings: encode(&run) });
            encoded.runs.push(run);
            from = number + 1;
            records = 0;
        }
    }
    count(batch, &mut encoded);
    Ok(encoded)
}

fn entries_of(messages: &[IndexedMessage]) -> Vec<u64> {
    let mut entries = Vec::with_capacity(messages.iter().map(|message| message.terms.len()).sum());
    for (place, message) in (0..=u16::MAX).zip(messages) {
        entries.extend(message.terms.iter().map(|&term| entry(fingerprint(term), 0, place)));
    }
    entries.sort_unstable();
    entries.dedup();
    entries
}

fn count(batch: &Batch, encoded: &mut Encoded) {
    let (write, appended) = (&mut encoded.write, &mut encoded.appended);
    let mut newest = BTreeMap::new();
    let mut rejects: BTreeMap<RejectReason, RejectSummary> = BTreeMap::new();
    for indexed in &batch.messages {
        let stored = indexed.message.stored;
        appended.messages += 1;
        appended.records += u64::from(indexed.records);
        write.first = Some(write.first.map_or(stored, |first| first.min(stored)));
        write.last = Some(write.last.map_or(stored, |last| last.max(stored)));
        let of_queue: &mut Millis = newest.entry(&indexed.message.queue).or_insert(stored);
        *of_queue = stored.max(*of_queue);
        for (reason, sample) in &indexed.rejects {
            appended.rejects += 1;
            let summary = rejects.entry(*reason).or_insert_with(|| RejectSummary {
                reason: *reason,
                count: 0,
                sample: String::new(),
                last: stored,
            });
            summary.count += 1;
            summary.last = summary.last.max(stored);
            summary.sample = shown(sample);
        }
    }
    write.messages = i64::try_from(appended.messages).unwrap_or(i64::MAX);
    write.records = i64::try_from(appended.records).unwrap_or(i64::MAX);
    write.rejects = rejects.into_values().collect();
    write.moves = batch
        .moves
        .iter()
        .map(|moved| Move {
            queue: moved.queue.clone(),
            expected: moved.expected,
            next: moved.next,
            stored: newest.get(&moved.queue).copied(),
        })
        .collect();
}

/// A sample as people see it: cut, with the format's separators visible and no NUL, which PostgreSQL refuses.
fn shown(sample: &str) -> String {
    sample
        .chars()
        .take(SAMPLE_LENGTH)
        .map(|c| match c {
            '\u{0}' => '\u{2400}',
            '\u{1}' => '\u{2401}',
            '\u{2}' => '\u{2402}',
            other => other,
        })
        .collect()
}
