//! The index of a segment that is not sealed: its chunks' postings in memory, in sorted runs.
//!
//! Chunks come in order and without gaps. Small runs are merged as they come, so that a look-up searches some dozen runs
//! however the chunks came; large ones stay apart, so that merging never doubles what is held.

use std::sync::Arc;

use super::postings::matching;

/// Runs of this many entries are merged no further.
const LARGE_RUN: usize = 65_536;

#[derive(Debug, Default)]
pub(super) struct OpenIndex {
    runs: Vec<Arc<Vec<u64>>>,
    /// The newest chunk that is in it.
    pub(super) chunk: u16,
}

impl OpenIndex {
    /// Takes the sorted entries of chunk `chunk`, if it is the next one.
    pub(super) fn push(&mut self, chunk: u16, run: Vec<u64>) {
        if self.chunk.checked_add(1) != Some(chunk) {
            return;
        }
        self.chunk = chunk;
        let mut run = run;
        while let Some(last) = self.runs.last() {
            if last.len() >= LARGE_RUN || last.len() > 2 * run.len() {
                break;
            }
            run = merge(last, &run);
            self.runs.pop();
        }
        run.shrink_to_fit();
        self.runs.push(Arc::new(run));
    }

    pub(super) fn find(&self, fingerprint: u32, out: &mut Vec<u64>) {
        for run in &self.runs {
            out.extend_from_slice(matching(run, fingerprint));
        }
    }

    pub(super) fn runs(&self) -> Vec<Arc<Vec<u64>>> {
        self.runs.clone()
    }
}

fn merge(left: &[u64], right: &[u64]) -> Vec<u64> {
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.iter().copied().peekable(), right.iter().copied().peekable());
    while let (Some(&l), Some(&r)) = (left.peek(), right.peek()) {
        if l <= r {
            merged.push(l);
            left.next();
        } else {
            merged.push(r);
            right.next();
        }
    }
    merged.extend(left);
    merged.extend(right);
    merged
}

#[cfg(test)]
mod tests {
    use super::OpenIndex;
    use crate::traces::postings::entry;

    #[test]
    fn a_chunk_out_of_turn_is_not_taken() {
        let mut index = OpenIndex::default();
        index.push(2, vec![entry(7, 2, 0)]);
        index.push(1, vec![entry(7, 1, 0)]);
        index.push(3, vec![entry(7, 3, 0)]);
        index.push(2, vec![entry(7, 2, 0), entry(9, 2, 0)]);
        let mut found = Vec::new();
        index.find(7, &mut found);
        assert_eq!(found, [entry(7, 1, 0), entry(7, 2, 0)]);
        assert_eq!(index.chunk, 2);
    }
}
