//! Postings: sorted entries that say in which message of which chunk a term may be found.
//!
//! An entry is one number: the term's upper 32 bits, the chunk (16 bits), the message's place in the chunk (16 bits).
//! Half a term is enough: a segment of some million terms then sends one look-up in a thousand to a message that does
//! not have the term, and the message itself decides.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use millrace_core::trace::Term;

use super::bytes::{Broken, Reader, put_checksum, put_number};
use super::segments::Block;

const VERSION: u8 = 1;
/// About five kilobytes: a look-up reads one or two blocks a segment.
const BLOCK_ENTRIES: usize = 1024;

pub(super) fn fingerprint(term: Term) -> u32 {
    (term.0 >> 32) as u32
}

pub(super) fn entry(fingerprint: u32, chunk: u16, message: u16) -> u64 {
    u64::from(fingerprint) << 32 | u64::from(chunk) << 16 | u64::from(message)
}

pub(super) fn chunk_of(entry: u64) -> u16 {
    (entry >> 16 & 0xffff) as u16
}

pub(super) fn message_of(entry: u64) -> u16 {
    (entry & 0xffff) as u16
}

fn fingerprint_of(entry: u64) -> u32 {
    (entry >> 32) as u32
}

/// The entries of `sorted` that have the fingerprint.
pub(super) fn matching(sorted: &[u64], fingerprint: u32) -> &[u64] {
    let from = sorted.partition_point(|&entry| fingerprint_of(entry) < fingerprint);
    let to = sorted.partition_point(|&entry| fingerprint_of(entry) <= fingerprint);
    sorted.get(from..to).unwrap_or_default()
}

pub(super) fn encode(sorted: &[u64]) -> Vec<u8> {
    let mut out = Vec::with_capacity(sorted.len() * 6 + 16);
    out.push(VERSION);
    put_number(&mut out, sorted.len() as u64);
    let mut last = 0;
    for &entry in sorted {
        put_number(&mut out, u64::from(fingerprint_of(entry) - last));
        put_number(&mut out, u64::from(chunk_of(entry)));
        put_number(&mut out, u64::from(message_of(entry)));
        last = fingerprint_of(entry);
    }
    put_checksum(&mut out);
    out
}

/// Appends the entries of a blob to `out`, with `chunk` in the place of an entry's own where it is given.
pub(super) fn decode(blob: &[u8], chunk: Option<u16>, out: &mut Vec<u64>) -> Result<(), Broken> {
    let mut reader = Reader::checked(blob, VERSION)?;
    let count = reader.length()?;
    out.reserve(count.min(blob.len()));
    let mut last = 0_u64;
    for _ in 0..count {
        last = last.checked_add(reader.number()?).ok_or("a term is too large")?;
        let fingerprint = u32::try_from(last).map_err(|_| "a term is too large")?;
        let own = u16::try_from(reader.number()?).map_err(|_| "a chunk number is too large")?;
        let message = u16::try_from(reader.number()?).map_err(|_| "a place is too large")?;
        out.push(entry(fingerprint, chunk.unwrap_or(own), message));
    }
    Ok(())
}

/// Sorted runs merged to sorted blocks, a block at a time.
pub(super) struct Blocks {
    runs: Vec<Arc<Vec<u64>>>,
    /// The next entry of each run, its run and its place there.
    heads: BinaryHeap<Reverse<(u64, usize, usize)>>,
}

impl Blocks {
    pub(super) fn merge(runs: Vec<Arc<Vec<u64>>>) -> Self {
        let heads = runs
            .iter()
            .enumerate()
            .filter_map(|(number, run)| run.first().map(|&entry| Reverse((entry, number, 0))))
            .collect();
        Self { runs, heads }
    }
}

impl Iterator for Blocks {
    type Item = Block;

    fn next(&mut self) -> Option<Block> {
        let mut entries = Vec::with_capacity(BLOCK_ENTRIES);
        while entries.len() < BLOCK_ENTRIES {
            let Some(Reverse((entry, number, place))) = self.heads.pop() else { break };
            entries.push(entry);
            if let Some(&next) = self.runs.get(number).and_then(|run| run.get(place + 1)) {
                self.heads.push(Reverse((next, number, place + 1)));
            }
        }
        let first = fingerprint_of(*entries.first()?);
        Some(Block { first: i64::from(first), entries: encode(&entries) })
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn merged_blocks_hold_every_entry_in_order(runs in proptest::collection::vec(
            proptest::collection::vec(any::<u64>(), 0..900), 0..8)) {
            let mut expected: Vec<u64> = runs.iter().flatten().copied().collect();
            expected.sort_unstable();
            let runs = runs.into_iter().map(|mut run| { run.sort_unstable(); Arc::new(run) }).collect();
            let mut entries = Vec::new();
            for block in Blocks::merge(runs) {
                let before = entries.len();
                decode(&block.entries, None, &mut entries).unwrap();
                prop_assert_eq!(block.first, i64::from(fingerprint_of(*entries.get(before).unwrap())));
            }
            prop_assert_eq!(entries, expected);
        }

        #[test]
        fn decoding_never_panics(bytes: Vec<u8>) {
            let _ = decode(&bytes, None, &mut Vec::new());
        }
    }

    #[test]
    fn a_chunk_number_is_put_in() {
        let mut entries = Vec::new();
        decode(&encode(&[entry(7, 0, 1), entry(7, 0, 3), entry(9, 0, 2)]), Some(5), &mut entries).unwrap();
        assert_eq!(matching(&entries, 7), [entry(7, 5, 1), entry(7, 5, 3)]);
        assert!(matching(&entries, 8).is_empty());
    }
}
