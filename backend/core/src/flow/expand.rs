//! What a look-up should fetch next: from the records so far, the terms that may bring more of the flow. A look-up asks
//! again until nothing new comes.
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
pub const MOST: usize = 1_024;
/// Keys of the flow that are followed: a flow has few, and each may be hot.
const KEYS: usize = 32;
/// Buckets of one process that one attempt is looked for in.
const BUCKETS: i64 = 8;

/// The terms under which the flow of `subject` lies, as far as `records` and `facts` tell, those of the subject first.
/// Without repeats.
pub fn expand(subject: &str, records: &[TraceRecord], facts: &[Fact]) -> Vec<Term> {
    let mut facts = facts.to_vec();
    facts.sort();
    facts.dedup();
    let groups = Groups::of(&facts);
    let assembly = Assembly::of(records, &facts, &groups, false);
    let selected = assembly.select(Subject { text: subject, root: None }).all;
    let mut terms = Terms::default();
    let text = subject.trim();
    for form in [subject, text, &text.to_ascii_uppercase()] {
        terms.push(Term::text(form));
    }
    let mut keys: BTreeSet<&str> = BTreeSet::new();
    for place in &selected {
        let Some(key) = assembly.keys.get(*place) else { continue };
        terms.push(Term::text(&key.id));
        let Some(draft) = assembly.gathered.messages.get(key) else { continue };
        for id in draft.offset_ids() {
            terms.push(Term::text(id));
        }
        for text in draft.keys() {
            match text.strip_prefix(PARENT_TOKEN) {
                Some(parent) => terms.push(Term::text(parent)),
                None => {
                    keys.insert(text);
                }
            }
        }
        terms.push(Term::text(&format!("{PARENT_TOKEN}{}", key.id)));
    }
    keys.into_iter().take(KEYS).for_each(|key| terms.push(Term::text(key)));
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
                terms.push(Term::process(&id.process, ms));
            }
        }
    }
    terms.list
}

#[derive(Debug, Default)]
struct Terms {
    seen: BTreeSet<Term>,
    list: Vec<Term>,
}

impl Terms {
    fn push(&mut self, term: Term) {
        if self.list.len() < MOST && self.seen.insert(term) {
            self.list.push(term);
        }
    }
}
