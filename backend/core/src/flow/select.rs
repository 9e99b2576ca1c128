//! Which messages belong to the flow of a subject: those that it names, what they came from, and what came from them.

use std::collections::{BTreeMap, BTreeSet};

use super::alias::Aliases;
use super::cause::EdgeDraft;
use super::gather::{Gathered, MessageKey};
use super::model::Confidence;
use super::place::HopDraft;

/// Above this the flow is what the subject names, its ancestors and its own descendants, without its ancestors' others.
const WHOLE_FAMILY: usize = 200;
/// A descendant's further parents are shown when they are no more than this.
const FURTHER_PARENTS: usize = 4;

/// Whom to look for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Subject<'a> {
    pub(super) text: &'a str,
    /// See [`super::Options::root`].
    pub(super) root: Option<&'a str>,
}

impl Subject<'_> {
    fn names(&self, key: &MessageKey, gathered: &Gathered, aliases: &Aliases) -> bool {
        let is_id = |id: &str| aliases.canonical(id).eq_ignore_ascii_case(&key.id);
        if let Some(root) = self.root {
            return is_id(root);
        }
        let text = self.text.trim();
        if is_id(text) || is_id(&text.to_ascii_uppercase()) {
            return true;
        }
        gathered.messages.get(key).is_some_and(|draft| {
            draft.keys().contains(self.text)
                || draft.keys().contains(text)
                || draft.offset_ids().iter().any(|id| id.eq_ignore_ascii_case(text))
        })
    }
}

/// Places of the messages of the flow.
#[derive(Debug, Default)]
pub(super) struct Selection {
    pub(super) all: BTreeSet<usize>,
    /// Those of [`Self::all`] that hang on the subject by nothing better than a guess: shown, never judged.
    pub(super) perhaps: BTreeSet<usize>,
}

/// The steps from message to message that edges make.
#[derive(Debug, Default)]
struct Steps {
    parents: BTreeMap<usize, BTreeSet<usize>>,
    children: BTreeMap<usize, BTreeSet<usize>>,
}

impl Steps {
    fn add(&mut self, parent: usize, child: usize) {
        self.parents.entry(child).or_default().insert(parent);
        self.children.entry(parent).or_default().insert(child);
    }

    /// `seeds`, what they came from, and what came from all of those; where that is a crowd, without the other
    /// descendants of the ancestors.
    fn family(&self, seeds: &BTreeSet<usize>) -> BTreeSet<usize> {
        let with_ancestors = reach(seeds, &self.parents);
        let family = reach(&with_ancestors, &self.children);
        if family.len() <= WHOLE_FAMILY {
            return family;
        }
        let own = reach(seeds, &self.children);
        with_ancestors.union(&own).copied().collect()
    }
}

pub(super) fn select(
    subject: Subject<'_>,
    gathered: &Gathered,
    keys: &[MessageKey],
    aliases: &Aliases,
    hops: &[HopDraft],
    edges: &[EdgeDraft],
) -> Selection {
    let mut steps = Steps::default();
    let mut links: Vec<(usize, usize, Confidence)> = Vec::new();
    for edge in edges {
        if let Some(hop) = hops.get(edge.from) {
            steps.add(hop.message, edge.to);
            links.push((hop.message, edge.to, edge.confidence));
        }
    }
    let mut sure = Steps::default();
    for (parent, child, confidence) in links {
        let only = steps.parents.get(&child).is_some_and(|parents| parents.len() == 1);
        if confidence <= Confidence::High || (confidence == Confidence::Medium && only) {
            sure.add(parent, child);
        }
    }
    let named = keys.iter().enumerate().filter(|(_, key)| subject.names(key, gathered, aliases));
    let seeds: BTreeSet<usize> = named.map(|(place, _)| place).collect();
    let mut all = steps.family(&seeds);
    let further = all.iter().filter_map(|message| steps.parents.get(message));
    let further: BTreeSet<usize> = further.filter(|all| all.len() <= FURTHER_PARENTS).flatten().copied().collect();
    all.extend(further);
    let perhaps = all.difference(&sure.family(&seeds)).copied().collect();
    Selection { all, perhaps }
}

fn reach(from: &BTreeSet<usize>, steps: &BTreeMap<usize, BTreeSet<usize>>) -> BTreeSet<usize> {
    let mut reached = from.clone();
    let mut next: Vec<usize> = from.iter().copied().collect();
    while let Some(place) = next.pop() {
        for step in steps.get(&place).into_iter().flatten() {
            if reached.insert(*step) {
                next.push(*step);
            }
        }
    }
    reached
}
