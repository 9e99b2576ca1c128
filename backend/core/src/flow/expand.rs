//! What a look-up should fetch next: from the records so far, the terms that may bring more of the flow. A look-up asks
//! again until nothing new comes.
//!
//! Names go first: only when ids and keys bring nothing more, the processes of deliveries are looked into. So a record
//! has one flow, by whichever of its names it is looked up, and what its neighbours sent is fetched only where it may
//! matter.
//!
//! Bounded: a hot key or a busy process brings no more than [`MOST`] terms, the subject's own first.

use std::collections::BTreeSet;

use super::fact::Fact;
use super::gather::PARENT_TOKEN;
use super::place::Groups;
use super::reconstruct::Assembly;
use super::select::Subject;
use crate::id::UniqId;
use crate::trace::{PROCESS_BUCKET_MS, Term, TraceRecord};

/// Most terms that one look-up is given.
const MOST: usize = 1_024;
/// Keys of the flow that are followed: a flow has few, and each may be hot.
const KEYS: usize = 32;
/// Buckets of one process that one attempt is looked for in.
const BUCKETS: i64 = 8;

/// A look-up, step by step.
#[derive(Debug)]
pub struct Search<'a> {
    subject: &'a str,
    facts: &'a [Fact],
    asked: BTreeSet<Term>,
}

impl<'a> Search<'a> {
    pub fn of(subject: &'a str, facts: &'a [Fact]) -> Self {
        Self { subject, facts, asked: BTreeSet::new() }
    }

    /// The terms to fetch, now that `records` are what all earlier ones brought. None: the flow is whole.
    pub fn next(&mut self, records: &[TraceRecord]) -> Vec<Term> {
        let Terms { mut names, mut processes, .. } = expand(self.subject, records, self.facts);
        names.retain(|term| self.asked.insert(*term));
        if names.is_empty() {
            processes.retain(|term| self.asked.insert(*term));
            return processes;
        }
        names
    }
}

/// The terms under which the flow of `subject` lies, as far as `records` and `facts` tell, those of the subject first.
pub(super) fn expand(subject: &str, records: &[TraceRecord], facts: &[Fact]) -> Terms {
    let mut facts = facts.to_vec();
    facts.sort();
    facts.dedup();
    let groups = Groups::of(&facts);
    let assembly = Assembly::of(records, &facts, &groups, false);
    let selected = assembly.select(Subject { text: subject, root: None }).all;
    let mut terms = Terms::default();
    let text = subject.trim();
    for form in [subject, text, &text.to_ascii_uppercase()] {
        terms.push_name(Term::text(form));
    }
    let mut keys: BTreeSet<&str> = BTreeSet::new();
    for place in &selected {
        let Some(key) = assembly.keys.get(*place) else { continue };
        terms.push_name(Term::text(&key.id));
        let Some(draft) = assembly.gathered.messages.get(key) else { continue };
        for id in draft.offset_ids() {
            terms.push_name(Term::text(id));
        }
        for text in draft.keys() {
            match text.strip_prefix(PARENT_TOKEN) {
                Some(parent) => terms.push_name(Term::text(parent)),
                None => {
                    keys.insert(text);
                }
            }
        }
        terms.push_name(Term::text(&format!("{PARENT_TOKEN}{}", key.id)));
    }
    keys.into_iter().take(KEYS).for_each(|key| terms.push_name(Term::text(key)));
    // Children under other keys are found by the process of the delivery; needless where one is known already.
    let fruitful: BTreeSet<usize> = assembly.edges.iter().map(|edge| edge.from).collect();
    for (place, hop) in assembly.hops.iter().enumerate() {
        if !selected.contains(&hop.message) || fruitful.contains(&place) {
            continue;
        }
        for (attempt, window) in hop.attempts.iter().zip(&hop.windows) {
            let Some(id) = UniqId::parse(&attempt.request_id).filter(|_| attempt.ok != Some(false)) else { continue };
            let last = window.unwrap_or(0).div_euclid(PROCESS_BUCKET_MS).saturating_add(1).min(BUCKETS);
            for bucket in 0..=last {
                let ms = id.ms_in_month.saturating_add(bucket * PROCESS_BUCKET_MS);
                terms.push_process(Term::process(&id.process, ms));
            }
        }
    }
    terms
}

/// Without repeats.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Terms {
    seen: BTreeSet<Term>,
    names: Vec<Term>,
    processes: Vec<Term>,
}

impl Terms {
    fn push_name(&mut self, term: Term) {
        if self.seen.len() < MOST && self.seen.insert(term) {
            self.names.push(term);
        }
    }

    fn push_process(&mut self, term: Term) {
        if self.seen.len() < MOST && self.seen.insert(term) {
            self.processes.push(term);
        }
    }
}
