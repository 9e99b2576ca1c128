//! What produced what: edges from attempts to the messages that came out of them, each with its rule and confidence.
//!
//! A better rule excludes the worse ones for a message; among equals nothing is picked, all candidates stay.

use std::collections::{BTreeMap, BTreeSet};

use super::affinity::belong_together;
use super::alias::Aliases;
use super::gather::{Gathered, MessageDraft, MessageKey, PARENT_TOKEN};
use super::model::{Confidence, Publication, Rule};
use super::place::{HopDraft, sent_within};
use super::process::{Child, Processes};
use crate::time::Millis;

/// A message with the same key that follows a delivery by more than this is not called its child.
const LATER_MS: i64 = 10_000;
/// How long after the end of a delivery a producer whose name belongs to it may still send.
const AFTER_END_MS: i64 = 1_000;
/// Tolerance between the clocks of two machines.
const CLOCKS_MS: i64 = 50;
/// At most this many guesses for one message.
const GUESSES: usize = 4;
/// Ancestors looked at when a guess is checked.
const DEPTH: usize = 32;

/// An edge between places in the lists of hops and messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EdgeDraft {
    pub(super) from: usize,
    pub(super) attempt: Option<usize>,
    pub(super) to: usize,
    pub(super) confidence: Confidence,
    pub(super) rule: Rule,
    pub(super) score: u8,
}

/// What edges are found in.
#[derive(Debug)]
pub(super) struct Causes<'a> {
    pub(super) gathered: &'a Gathered,
    pub(super) keys: &'a [MessageKey],
    pub(super) aliases: &'a Aliases,
    pub(super) whole: bool,
}

/// An attempt that may have produced a message: its hop, its place there, and whether names speak for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    hop: usize,
    attempt: Option<usize>,
    named: bool,
}

impl<'a> Causes<'a> {
    /// All edges, by child. Hops that only a child tells of are added to `hops`.
    pub(super) fn edges(&self, hops: &mut Vec<HopDraft>) -> Vec<EdgeDraft> {
        let mut edges = Vec::new();
        let mut settled = vec![false; self.keys.len()];
        for child in 0..self.keys.len() {
            let before = edges.len();
            self.by_token(child, hops, &mut edges);
            if edges.len() == before {
                self.by_same_object(child, hops, &mut edges);
            }
            if let Some(settled) = settled.get_mut(child) {
                *settled = edges.len() > before;
            }
        }
        let open = |child: &usize| !settled.get(*child).copied().unwrap_or(true);
        let processes = Processes::of(hops);
        let children: Vec<Child<'_>> =
            (0..self.keys.len()).filter_map(|child| self.child(child)).filter(|child| child.first).collect();
        let found = processes.parents(&children, |hop| self.record_keys(hops, hop), hops, self.whole);
        let mut guessed: Vec<usize> = Vec::new();
        for child in (0..self.keys.len()).filter(open) {
            match found.get(&child) {
                Some(found) => edges.extend(found.iter().cloned()),
                None => guessed.push(child),
            }
        }
        let guesses = self.by_key(&guessed, hops, &edges);
        edges.extend(guesses);
        edges.sort_by_key(|edge| (edge.to, edge.confidence, u8::MAX - edge.score, edge.from, edge.attempt));
        edges
    }

    fn draft(&self, message: usize) -> Option<&'a MessageDraft> {
        self.gathered.messages.get(self.keys.get(message)?)
    }

    fn publication(&self, message: usize) -> Option<&'a Publication> {
        self.gathered.first_publication(self.keys.get(message)?)
    }

    fn topic(&self, message: usize) -> Option<&'a str> {
        self.keys.get(message)?.topic.as_deref()
    }

    /// Keys of the message that `hop` consumed, without tokens.
    fn record_keys(&self, hops: &[HopDraft], hop: usize) -> BTreeSet<&'a str> {
        hops.get(hop).and_then(|hop| self.draft(hop.message)).map(record_keys).unwrap_or_default()
    }

    /// Places of all messages with `id`, in whatever topic.
    fn places(&self, id: &str) -> impl Iterator<Item = usize> {
        let first = self.keys.partition_point(|key| key.id.as_str() < id);
        let count = self.keys.iter().skip(first).take_while(|key| key.id == id).count();
        first..first + count
    }

    fn child(&self, message: usize) -> Option<Child<'a>> {
        let sent = self.publication(message)?;
        let id = &self.keys.get(message)?.id;
        let first = self
            .places(id)
            .filter(|other| *other != message)
            .all(|other| self.publication(other).is_none_or(|o| (sent.begin, message) < (o.begin, other)));
        Child::of(message, id, sent, record_keys(self.draft(message)?), first)
    }

    /// The message's keys name its parents.
    fn by_token(&self, child: usize, hops: &mut Vec<HopDraft>, edges: &mut Vec<EdgeDraft>) {
        let Some(draft) = self.draft(child) else { return };
        let parents: BTreeSet<&str> = draft
            .keys()
            .iter()
            .filter_map(|key| key.strip_prefix(PARENT_TOKEN))
            .map(|id| self.aliases.canonical(id))
            .collect();
        for parent in parents {
            let places: Vec<usize> = self.places(parent).filter(|place| *place != child).collect();
            let Some(first) = places.first() else { continue };
            let mut candidates = self.of_parent(child, &places, hops);
            if candidates.is_empty() {
                hops.push(HopDraft { message: *first, by_child: true, ..HopDraft::default() });
                candidates.push(Candidate { hop: hops.len() - 1, attempt: None, named: false });
            }
            let confidence = if candidates.len() == 1 { Confidence::Exact } else { Confidence::Medium };
            for candidate in &candidates {
                if let (None, Some(hop)) = (candidate.attempt, hops.get_mut(candidate.hop)) {
                    hop.by_child |= confidence == Confidence::Exact;
                }
            }
            edges.extend(candidates.iter().map(|c| edge(*c, child, confidence, Rule::ParentToken, candidates.len())));
        }
    }

    /// Which consumers of the messages at `places` may have sent `child`.
    fn of_parent(&self, child: usize, places: &[usize], hops: &[HopDraft]) -> Vec<Candidate> {
        let sent = self.publication(child);
        let as_child = self.child(child);
        let mut candidates = Vec::new();
        for (place, hop) in hops.iter().enumerate().filter(|(_, hop)| places.contains(&hop.message)) {
            let named = sent.zip(hop.group.as_deref()).is_some_and(|(sent, group)| belong_together(group, &sent.group));
            let in_process = as_child.as_ref().and_then(|c| (0..hop.attempts.len()).find(|a| c.within(hop, *a)));
            let at_host = sent.and_then(|sent| hop.attempts.iter().position(|attempt| sent_within(attempt, sent)));
            let last = sent.and_then(|sent| last_before(hop, sent.begin)).or(hop.attempts.len().checked_sub(1));
            let rank = if in_process.is_some() {
                0
            } else if at_host.is_some() {
                1
            } else if named {
                2
            } else {
                3
            };
            let attempt = in_process.or(at_host).or(last);
            candidates.push((rank, Candidate { hop: place, attempt, named }));
        }
        let best = candidates.iter().map(|(rank, _)| *rank).min();
        candidates.into_iter().filter(|(rank, _)| Some(*rank) == best).map(|(_, candidate)| candidate).collect()
    }

    /// The id lies in an earlier topic too, and a consumer of that one sent the object on.
    fn by_same_object(&self, child: usize, hops: &[HopDraft], edges: &mut Vec<EdgeDraft>) {
        let (Some(key), Some(sent)) = (self.keys.get(child), self.publication(child)) else { return };
        let earlier: Vec<usize> = self
            .places(&key.id)
            .filter(|place| *place != child)
            .filter(|place| self.publication(*place).is_none_or(|other| other.begin < sent.begin))
            .collect();
        let candidates: Vec<Candidate> = hops
            .iter()
            .enumerate()
            .filter(|(_, hop)| earlier.contains(&hop.message))
            .filter_map(|(place, hop)| {
                let attempt = hop.attempts.iter().position(|attempt| sent_within(attempt, sent))?;
                let named = hop.group.as_deref().is_some_and(|group| belong_together(group, &sent.group));
                Some(Candidate { hop: place, attempt: Some(attempt), named })
            })
            .collect();
        let confidence = if candidates.len() == 1 { Confidence::Exact } else { Confidence::High };
        edges.extend(candidates.iter().map(|c| edge(*c, child, confidence, Rule::SameObject, candidates.len())));
    }

    /// Same key, later, another topic: guesses. `known` are the better edges.
    fn by_key(&self, children: &[usize], hops: &[HopDraft], known: &[EdgeDraft]) -> Vec<EdgeDraft> {
        let mut by_key: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (place, hop) in hops.iter().enumerate().filter(|(_, hop)| !hop.attempts.is_empty()) {
            for key in self.draft(hop.message).map(record_keys).unwrap_or_default() {
                by_key.entry(key).or_default().push(place);
            }
        }
        let fruitful: BTreeSet<usize> = known.iter().map(|edge| edge.from).collect();
        let parents: BTreeMap<usize, usize> = known.iter().map(|edge| (edge.to, edge.from)).collect();
        let mut edges = Vec::new();
        for child in children {
            let (Some(sent), Some(draft)) = (self.publication(*child), self.draft(*child)) else { continue };
            let sharing: BTreeSet<usize> =
                record_keys(draft).iter().filter_map(|key| by_key.get(key)).flatten().copied().collect();
            let mut near = Vec::new();
            let mut later = Vec::new();
            for place in sharing {
                let Some(hop) = hops.get(place).filter(|hop| hop.message != *child) else { continue };
                let came_by = came_by(hop.message, &parents, hops).any(|m| self.topic(m) == self.topic(*child));
                let Some(attempt) = begun_before(hop, sent).filter(|_| !came_by) else { continue };
                let Some(end) = hop.attempts.get(attempt).map(|a| a.end.or(a.begin)) else { continue };
                let after = end.map_or(0, |end| sent.begin.since(end));
                let named = hop.group.as_deref().is_some_and(|group| belong_together(group, &sent.group));
                let candidate = Candidate { hop: place, attempt: Some(attempt), named };
                if named && after <= AFTER_END_MS {
                    near.push(candidate);
                } else if after <= LATER_MS && !fruitful.contains(&place) {
                    later.push((after.max(0), candidate));
                }
            }
            if near.is_empty() {
                later.sort_unstable();
                later.truncate(GUESSES);
                let all = later.len();
                edges.extend(later.iter().map(|(_, c)| edge(*c, *child, Confidence::Low, Rule::KeyLater, all)));
            } else {
                let all = near.len();
                edges.extend(near.iter().map(|c| edge(*c, *child, Confidence::Medium, Rule::KeyGroupTime, all)));
            }
        }
        edges
    }
}

/// `message` and what it came from, by the better edges.
fn came_by<'h>(
    message: usize,
    parents: &'h BTreeMap<usize, usize>,
    hops: &'h [HopDraft],
) -> impl Iterator<Item = usize> + 'h {
    let up = move |message: &usize| parents.get(message).and_then(|hop| hops.get(*hop)).map(|hop| hop.message);
    std::iter::successors(Some(message), up).take(DEPTH)
}

/// Keys without parent tokens.
pub(super) fn record_keys(draft: &MessageDraft) -> BTreeSet<&str> {
    draft.keys().iter().map(String::as_str).filter(|key| !key.starts_with(PARENT_TOKEN)).collect()
}

/// The last attempt that began before the send, as far as two clocks can tell.
fn begun_before(hop: &HopDraft, sent: &Publication) -> Option<usize> {
    let here = hop.attempts.iter().all(|attempt| attempt.host == sent.host);
    last_before(hop, if here { sent.begin } else { sent.begin.plus(CLOCKS_MS) })
}

/// The last attempt that began before `time`.
fn last_before(hop: &HopDraft, time: Millis) -> Option<usize> {
    hop.attempts.iter().rposition(|attempt| attempt.begin.or(attempt.end).is_some_and(|begin| begin <= time))
}

fn edge(candidate: Candidate, to: usize, confidence: Confidence, rule: Rule, candidates: usize) -> EdgeDraft {
    let score = score(confidence, candidate.named, candidates);
    EdgeDraft { from: candidate.hop, attempt: candidate.attempt, to, confidence, rule, score }
}

/// 0 to 100: what the class is worth, shared among the candidates; names that belong together add a little.
pub(super) fn score(confidence: Confidence, named: bool, candidates: usize) -> u8 {
    let worth = match confidence {
        Confidence::Exact => 100,
        Confidence::CertainInProcess => 97,
        Confidence::High => 90,
        Confidence::Medium => 60,
        Confidence::Low => 30,
    };
    let shared = worth / u8::try_from(candidates.clamp(1, 100)).unwrap_or(100);
    if named { (shared + 5).min(worth) } else { shared }
}
