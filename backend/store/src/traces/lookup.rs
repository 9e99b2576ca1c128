//! Looking up: terms become entries, entries become messages, messages become the records that have a term.

use std::collections::{BTreeMap, BTreeSet};

use millrace_core::coverage::{Missed, Why};
use millrace_core::name::QueueRef;
use millrace_core::trace::{Term, TraceMessage, TraceRecord, decode};

use super::chunk::unpack;
use super::postings::{self, chunk_of, fingerprint, matching, message_of};
use super::segments::Listed;
use super::store::Inner;
use crate::{Found, Result, StoreError};

impl Inner {
    pub(super) async fn find(&self, terms: &[Term], limit: usize) -> Result<Found> {
        let segments = self.segments.list().await?;
        let mut found = Found { oldest: oldest(&segments), ..Found::default() };
        let mut matches = Matches { terms, limit, ..Matches::default() };
        for segment in segments.iter().rev() {
            if matches.full() {
                break;
            }
            if segment.chunks == 0 && segment.info.damaged.is_none() {
                continue;
            }
            let outcome = match &segment.info.damaged {
                Some(why) => Err(Why::Said(why.clone())),
                None => self.find_in(segment, &mut matches).await.map_err(|error| told(&error)),
            };
            match outcome {
                Ok(()) => found.segments_searched += 1,
                Err(why) if self.still_there(segment.info.id).await => {
                    found.missed.push(Missed { what: self.segments.name(segment.info.id), why });
                }
                Err(_) => {}
            }
        }
        found.truncated = matches.full();
        found.rejects = matches.rejects;
        found.records = matches.records.into_values().collect();
        Ok(found)
    }

    /// A segment that was dropped while it was read is not missed.
    async fn still_there(&self, segment: i64) -> bool {
        match self.segments.list().await {
            Ok(segments) => segments.iter().any(|listed| listed.info.id == segment),
            Err(_) => true,
        }
    }

    async fn find_in(&self, segment: &Listed, matches: &mut Matches<'_>) -> Result<()> {
        let id = segment.info.id;
        let entries = self.entries(segment, matches.terms).await?;
        let mut by_chunk: BTreeMap<u16, BTreeSet<u16>> = BTreeMap::new();
        for entry in entries {
            by_chunk.entry(chunk_of(entry)).or_default().insert(message_of(entry));
        }
        for (chunk, places) in by_chunk.into_iter().rev() {
            if matches.full() {
                break;
            }
            let places: Vec<u16> = places.into_iter().collect();
            let mut messages = self.messages(id, i64::from(chunk), Some(places)).await?;
            messages.reverse();
            matches.take(&messages);
        }
        Ok(())
    }

    async fn entries(&self, segment: &Listed, terms: &[Term]) -> Result<Vec<u64>> {
        let id = segment.info.id;
        let prefixes: BTreeSet<u32> = terms.iter().copied().map(fingerprint).collect();
        let mut entries = Vec::new();
        if !segment.info.sealed
            && let Some(index) = self.refreshed_index(id).await?
        {
            let index = index.lock().await;
            for &prefix in &prefixes {
                index.find(prefix, &mut entries);
            }
            return Ok(entries);
        }
        let mut block = Vec::new();
        for prefix in prefixes {
            for blob in self.segments.blocks(id, i64::from(prefix)).await? {
                block.clear();
                postings::decode(&blob, None, &mut block).map_err(|why| self.damaged("an index block", id, why))?;
                entries.extend_from_slice(matching(&block, prefix));
            }
        }
        Ok(entries)
    }

    async fn messages(&self, segment: i64, chunk: i64, places: Option<Vec<u16>>) -> Result<Vec<TraceMessage>> {
        let Some(blob) = self.segments.chunk(segment, chunk).await? else {
            return Err(self.damaged(&format!("chunk {chunk}"), segment, "it is not there"));
        };
        unpack(&blob, places.as_deref()).map_err(|why| self.damaged(&format!("chunk {chunk}"), segment, why))
    }

    pub(super) fn damaged(&self, what: &str, segment: i64, why: &str) -> StoreError {
        StoreError::Damaged { what: what.into(), at: self.segments.name(segment), why: why.into() }
    }

    /// Newest arrivals first. Segments that cannot be read are passed over.
    pub(super) async fn newest(&self, limit: usize) -> Result<Vec<TraceRecord>> {
        let mut records = Vec::new();
        for segment in self.segments.list().await?.iter().rev() {
            for chunk in (1..=segment.chunks).rev() {
                if records.len() >= limit {
                    return Ok(records);
                }
                match self.messages(segment.info.id, chunk, None).await {
                    Ok(messages) => {
                        let newest_first = messages.iter().rev().flat_map(|message| decode(message).records);
                        records.extend(newest_first.take(limit - records.len()));
                    }
                    Err(error) => {
                        tracing::warn!(%error, "a trace segment cannot be read");
                        break;
                    }
                }
            }
        }
        Ok(records)
    }
}

fn oldest(segments: &[Listed]) -> Option<millrace_core::time::Millis> {
    segments.iter().filter_map(|segment| segment.info.first).min()
}

/// An error with its cause, for a page.
fn told(error: &StoreError) -> Why {
    match std::error::Error::source(error) {
        Some(source) => Why::Said(format!("{error}: {source}")),
        None => Why::Said(error.to_string()),
    }
}

/// The records found so far, newest arrivals first in, by their place in the queues.
#[derive(Default)]
struct Matches<'a> {
    terms: &'a [Term],
    limit: usize,
    records: BTreeMap<(QueueRef, i64, u32), TraceRecord>,
    seen: BTreeSet<(QueueRef, i64)>,
    rejects: u64,
    more: bool,
}

impl Matches<'_> {
    fn full(&self) -> bool {
        self.more
    }

    fn take(&mut self, messages: &[TraceMessage]) {
        for message in messages {
            if self.more || !self.seen.insert((message.queue.clone(), message.offset)) {
                continue;
            }
            let decoded = decode(message);
            let mut has_term = false;
            for record in decoded.records {
                let mut hit = false;
                Term::of(&record, &mut |term| hit |= self.terms.contains(&term));
                if !hit {
                    continue;
                }
                has_term = true;
                if self.records.len() >= self.limit {
                    self.more = true;
                    break;
                }
                let key = (record.origin.queue.clone(), record.origin.offset, record.origin.index);
                self.records.insert(key, record);
            }
            if has_term {
                self.rejects += decoded.rejects.len() as u64;
            }
        }
    }
}
