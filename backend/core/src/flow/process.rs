//! In-process causality: a request id and the ids of messages that the same process sends come from one generator, so
//! they share the process prefix, the clock and a growing counter. No skew between machines can disturb it.

use std::collections::{BTreeMap, BTreeSet};

use super::affinity::belong_together;
use super::cause::{EdgeDraft, score};
use super::model::{Confidence, Publication, Rule};
use super::place::HopDraft;
use crate::id::UniqId;
use crate::time::Millis;

/// RocketMQ's default consumeTimeout: a delivery whose end was not traced counts as open for no longer.
const OPEN_MS: i64 = 15 * 60_000;
/// Within this the counter cannot have gone half round.
const COUNTER_MS: i64 = 5_000;
/// Rounding between the id's milliseconds and the trace's.
const ROUNDING_MS: i64 = 2;
/// The milliseconds in an id begin again each month: ids further apart than this are of different months.
const SAME_MONTH_MS: i64 = 12 * 3_600_000;

/// A message that may have come out of a delivery in its process.
#[derive(Debug)]
pub(super) struct Child<'a> {
    pub(super) message: usize,
    id: UniqId,
    sent: &'a Publication,
    keys: BTreeSet<&'a str>,
    /// No other topic got the id earlier, so the id was made for this send.
    pub(super) first: bool,
}

impl<'a> Child<'a> {
    pub(super) fn of(
        message: usize,
        id: &str,
        sent: &'a Publication,
        keys: BTreeSet<&'a str>,
        first: bool,
    ) -> Option<Self> {
        Some(Self { message, id: UniqId::parse(id)?, sent, keys, first })
    }

    /// Whether the attempt was open in the child's process when the child's id was made.
    pub(super) fn within(&self, hop: &HopDraft, attempt: usize) -> bool {
        Open::of(hop, 0, attempt).is_some_and(|open| open.id.process == self.id.process && open.covers(self))
    }
}

/// An attempt with its place and its time on its own clock.
#[derive(Debug, Clone)]
struct Open {
    hop: usize,
    attempt: usize,
    id: UniqId,
    raw_begin: Option<Millis>,
    window_ms: Option<i64>,
}

impl Open {
    fn of(hop: &HopDraft, place: usize, attempt: usize) -> Option<Self> {
        let traced = hop.attempts.get(attempt)?;
        Some(Self {
            hop: place,
            attempt,
            id: UniqId::parse(&traced.request_id)?,
            raw_begin: traced.raw_begin,
            window_ms: hop.windows.get(attempt).copied().flatten(),
        })
    }

    fn covers(&self, child: &Child<'_>) -> bool {
        let since = child.id.ms_in_month - self.id.ms_in_month;
        let steps = child.id.counter.wrapping_sub(self.id.counter);
        since >= 0
            && since <= self.window_ms.map_or(OPEN_MS, |window| window.saturating_add(ROUNDING_MS))
            && (since > COUNTER_MS || (steps != 0 && steps < 0x8000))
            && self.raw_begin.is_none_or(|begin| child.sent.raw.since(begin).saturating_abs() < SAME_MONTH_MS)
    }
}

/// Attempts by process.
#[derive(Debug, Default)]
pub(super) struct Processes {
    by_process: BTreeMap<String, Attempts>,
}

#[derive(Debug, Default)]
struct Attempts {
    /// With an end, by begin.
    ended: Vec<Open>,
    longest_ms: i64,
    /// Without an end.
    open: Vec<Open>,
}

impl Processes {
    pub(super) fn of(hops: &[HopDraft]) -> Self {
        let mut by_process: BTreeMap<String, Attempts> = BTreeMap::new();
        for (place, hop) in hops.iter().enumerate() {
            for open in (0..hop.attempts.len()).filter_map(|attempt| Open::of(hop, place, attempt)) {
                let attempts = by_process.entry(open.id.process.clone()).or_default();
                match open.window_ms {
                    Some(window) => {
                        attempts.longest_ms = attempts.longest_ms.max(window);
                        attempts.ended.push(open);
                    }
                    None => attempts.open.push(open),
                }
            }
        }
        for attempts in by_process.values_mut() {
            attempts.ended.sort_by_key(|open| (open.id.ms_in_month, open.hop, open.attempt));
        }
        Self { by_process }
    }

    /// Attempts that were open in the child's process when its id was made.
    fn around(&self, child: &Child<'_>) -> Vec<&Open> {
        let Some(attempts) = self.by_process.get(&child.id.process) else { return Vec::new() };
        let end = attempts.ended.partition_point(|open| open.id.ms_in_month <= child.id.ms_in_month);
        let oldest = child.id.ms_in_month.saturating_sub(attempts.longest_ms).saturating_sub(ROUNDING_MS);
        let ended = attempts.ended.iter().take(end).rev().take_while(|open| open.id.ms_in_month >= oldest);
        let mut around: Vec<&Open> = ended.chain(&attempts.open).filter(|open| open.covers(child)).collect();
        around.sort_by_key(|open| (open.hop, open.attempt));
        around
    }

    /// Edges to each child that has a parent in its process.
    pub(super) fn parents<'k>(
        &self,
        children: &[Child<'_>],
        keys_of: impl Fn(usize) -> BTreeSet<&'k str>,
        hops: &[HopDraft],
        whole: bool,
    ) -> BTreeMap<usize, Vec<EdgeDraft>> {
        let around: Vec<Vec<&Open>> = children.iter().map(|child| self.around(child)).collect();
        // Producer groups of a process that also send while none of its known deliveries is open: sources, timers.
        let mut idle: BTreeSet<(&str, &str)> = BTreeSet::new();
        for (child, _) in children.iter().zip(&around).filter(|(_, around)| around.is_empty()) {
            idle.insert((&child.id.process, &child.sent.group));
        }
        let owner = owners(children, &around, hops);
        let mut found = BTreeMap::new();
        for (child, around) in children.iter().zip(&around) {
            let mut sharing = Vec::new();
            let mut possible = Vec::new();
            for open in around {
                let Some(hop) = hops.get(open.hop).filter(|hop| hop.message != child.message) else { continue };
                let named = hop.group.as_deref().is_some_and(|group| belong_together(group, &child.sent.group));
                let keys = keys_of(open.hop);
                if keys.intersection(&child.keys).next().is_some() {
                    sharing.push((*open, named));
                } else if named || !idle.contains(&(child.id.process.as_str(), child.sent.group.as_str())) {
                    possible.push((*open, named));
                }
            }
            let (sharing, possible) = (narrow(sharing, &owner, child, hops), narrow(possible, &owner, child, hops));
            let (parents, confidence, rule) = match (sharing.len(), whole && around.len() == 1) {
                (0, _) => (possible, Confidence::Medium, Rule::InProcess),
                (_, true) => (sharing, Confidence::CertainInProcess, Rule::InProcessKey),
                (_, false) => (sharing, Confidence::High, Rule::InProcessKey),
            };
            let edges: Vec<EdgeDraft> = parents
                .iter()
                .map(|(open, named)| EdgeDraft {
                    from: open.hop,
                    attempt: Some(open.attempt),
                    to: child.message,
                    confidence,
                    rule,
                    score: score(confidence, *named, parents.len()),
                })
                .collect();
            if !edges.is_empty() {
                found.insert(child.message, edges);
            }
        }
        found
    }
}

/// A producer group of one process.
type Producer<'a> = (&'a str, &'a str);

/// Consumer groups that explain every message of a producer group, where only one does: it is their operator.
fn owners<'a>(
    children: &'a [Child<'_>],
    around: &[Vec<&Open>],
    hops: &'a [HopDraft],
) -> BTreeMap<Producer<'a>, &'a str> {
    let mut explain: BTreeMap<Producer<'a>, BTreeSet<&'a str>> = BTreeMap::new();
    for (child, around) in children.iter().zip(around).filter(|(_, around)| !around.is_empty()) {
        let groups: BTreeSet<&str> = around.iter().filter_map(|open| hops.get(open.hop)?.group.as_deref()).collect();
        let producer = (child.id.process.as_str(), child.sent.group.as_str());
        explain
            .entry(producer)
            .and_modify(|all| all.retain(|group| groups.contains(group)))
            .or_insert_with(|| groups.clone());
    }
    explain
        .into_iter()
        .filter_map(|(producer, groups)| {
            let mut groups = groups.into_iter();
            let only = groups.next()?;
            groups.next().is_none().then_some((producer, only))
        })
        .collect()
}

/// Of several candidates, those whose group's name belongs to the producer's; else those of the group that explains
/// everything which that producer sent.
fn narrow<'o>(
    candidates: Vec<(&'o Open, bool)>,
    owner: &BTreeMap<Producer<'_>, &str>,
    child: &Child<'_>,
    hops: &[HopDraft],
) -> Vec<(&'o Open, bool)> {
    let owner = owner.get(&(child.id.process.as_str(), child.sent.group.as_str()));
    let owned = |open: &Open| hops.get(open.hop).and_then(|hop| hop.group.as_deref()) == owner.copied();
    if candidates.iter().any(|(_, named)| *named) {
        candidates.into_iter().filter(|(_, named)| *named).collect()
    } else if owner.is_some() && candidates.iter().any(|(open, _)| owned(open)) {
        candidates.into_iter().filter(|(open, _)| owned(open)).collect()
    } else {
        candidates
    }
}
