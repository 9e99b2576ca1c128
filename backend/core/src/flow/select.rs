//! Which messages belong to the flow of a subject: those that it names, what they came from, and what came from them.

use std::collections::{BTreeMap, BTreeSet};

use super::alias::Aliases;
use super::cause::EdgeDraft;
use super::gather::{Gathered, MessageKey};
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
pub(super) fn select(
    subject: Subject<'_>,
    gathered: &Gathered,
    keys: &[MessageKey],
    aliases: &Aliases,
    hops: &[HopDraft],
    edges: &[EdgeDraft],
) -> BTreeSet<usize> {
    let message_of = |edge: &EdgeDraft| hops.get(edge.from).map(|hop| hop.message);
    let mut parents: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    let mut children: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for edge in edges {
        if let Some(parent) = message_of(edge) {
            parents.entry(edge.to).or_default().insert(parent);
            children.entry(parent).or_default().insert(edge.to);
        }
    }
    let named = keys.iter().enumerate().filter(|(_, key)| subject.names(key, gathered, aliases));
    let seeds: BTreeSet<usize> = named.map(|(place, _)| place).collect();
    let with_ancestors = reach(&seeds, &parents);
    let family = reach(&with_ancestors, &children);
    let mut selected = if family.len() <= WHOLE_FAMILY {
        family
    } else {
        let own = reach(&seeds, &children);
        with_ancestors.union(&own).copied().collect()
    };
    let further = selected.iter().filter_map(|message| parents.get(message)).filter(|all| all.len() <= FURTHER_PARENTS);
    let further: BTreeSet<usize> = further.flatten().copied().collect();
    selected.extend(further);
    selected
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
