//! Records and facts in, a flow out.

use std::collections::{BTreeMap, BTreeSet};

use super::alias::Aliases;
use super::cause::{Causes, EdgeDraft};
use super::clock::{Clocks, Machine};
use super::diagnose::{diagnose, judge};
use super::fact::{Fact, Options};
use super::finding::Verdict;
use super::gather::{Gathered, MessageKey, gather};
use super::model::{Edge, Flow, Hop, HopRef, MessageNode, MessageRef, Span};
use super::place::{self, Groups, HopDraft};
use super::select::{Selection, Subject, select};
use super::state::Judge;
use crate::id::UniqId;
use crate::time::Millis;
use crate::trace::{PubType, TraceRecord};

/// Everything that was merged, before it is judged: places in sorted lists.
#[derive(Debug)]
pub(super) struct Assembly {
    pub(super) gathered: Gathered,
    pub(super) aliases: Aliases,
    pub(super) clocks: Clocks,
    pub(super) keys: Vec<MessageKey>,
    pub(super) hops: Vec<HopDraft>,
    pub(super) edges: Vec<EdgeDraft>,
}

impl Assembly {
    pub(super) fn of(records: &[TraceRecord], facts: &[Fact], groups: &Groups<'_>, whole: bool) -> Self {
        let aliases = Aliases::of(records, facts);
        let clocks = Clocks::measure(records);
        let gathered = gather(records, facts, &aliases, &clocks);
        let keys: Vec<MessageKey> = gathered.messages.keys().cloned().collect();
        let mut hops = place::hops(&gathered, &keys, groups, facts);
        let edges = Causes { gathered: &gathered, keys: &keys, aliases: &aliases, whole }.edges(&mut hops);
        Self { gathered, aliases, clocks, keys, hops, edges }
    }

    /// Places of the messages that belong to `subject`.
    pub(super) fn select(&self, subject: Subject<'_>) -> Selection {
        select(subject, &self.gathered, &self.keys, &self.aliases, &self.hops, &self.edges)
    }
}

/// The flow of `options.subject`. Pure, and a function of the sets of records and facts: order and repetition do not
/// matter.
pub fn reconstruct(records: &[TraceRecord], facts: &[Fact], options: &Options) -> Flow {
    let mut facts = facts.to_vec();
    facts.sort();
    facts.dedup();
    let groups = Groups::of(&facts);
    let assembly = Assembly::of(records, &facts, &groups, options.whole);
    let subject = Subject { text: &options.subject, root: options.root.as_deref() };
    let selected = assembly.select(subject);
    let mut flow = Builder { assembly: &assembly, groups: &groups, options }.build(&selected);
    flow.findings = diagnose(&flow, &assembly.gathered.alive, &groups, options);
    flow.verdict = judge(&flow, &groups, options);
    flow
}

struct Builder<'a> {
    assembly: &'a Assembly,
    groups: &'a Groups<'a>,
    options: &'a Options,
}

impl Builder<'_> {
    fn build(&self, selection: &Selection) -> Flow {
        let selected = &selection.all;
        let mut messages: Vec<(usize, MessageNode)> = Vec::new();
        for place in selected {
            if let Some(node) = self.message(*place) {
                messages.push((*place, MessageNode { perhaps: selection.perhaps.contains(place), ..node }));
            }
        }
        self.sort(&mut messages);
        let place_of: BTreeMap<usize, MessageRef> =
            messages.iter().enumerate().map(|(new, (old, _))| (*old, MessageRef(new))).collect();
        let messages: Vec<MessageNode> = messages.into_iter().map(|(_, node)| node).collect();
        let (hops, hop_of) = self.hops(&messages, &place_of);
        let mut edges: Vec<Edge> = self
            .assembly
            .edges
            .iter()
            .filter_map(|edge| {
                Some(Edge {
                    from: *hop_of.get(&edge.from)?,
                    attempt: edge.attempt,
                    to: *place_of.get(&edge.to)?,
                    confidence: edge.confidence,
                    rule: edge.rule,
                    score: edge.score,
                })
            })
            .collect();
        edges.sort_by_key(|edge| (edge.to, edge.confidence, u8::MAX - edge.score, edge.from, edge.attempt));
        let roots = roots(&messages, &edges);
        let span = span(&messages, &hops);
        Flow {
            subject: self.options.subject.clone(),
            records: self.count(selected),
            clocks: self.clocks(selected),
            messages,
            hops,
            edges,
            roots,
            findings: Vec::new(),
            verdict: Verdict::NotFound,
            span,
        }
    }

    /// By time; what has no time of its own takes that of its first delivery.
    fn sort(&self, messages: &mut [(usize, MessageNode)]) {
        let mut first: BTreeMap<usize, Millis> = BTreeMap::new();
        for hop in &self.assembly.hops {
            for begin in hop.attempts.iter().filter_map(|attempt| attempt.begin.or(attempt.end)) {
                let known = first.entry(hop.message).or_insert(begin);
                *known = begin.min(*known);
            }
        }
        messages.sort_by(|(a, x), (b, y)| {
            let begin = |place: &usize, node: &MessageNode| node.begin().or_else(|| first.get(place).copied());
            (begin(a, x).unwrap_or(Millis(i64::MAX)), &x.id, &x.topic).cmp(&(
                begin(b, y).unwrap_or(Millis(i64::MAX)),
                &y.id,
                &y.topic,
            ))
        });
    }

    fn message(&self, place: usize) -> Option<MessageNode> {
        let key = self.assembly.keys.get(place)?;
        let draft = self.assembly.gathered.messages.get(key)?;
        let sent = draft.published();
        let from = MessageKey { id: key.id.clone(), topic: None };
        let same_id = self.assembly.gathered.messages.range(from..).take_while(|(other, _)| other.id == key.id);
        let first = same_id
            .filter(|(other, _)| *other != key)
            .all(|(_, o)| o.published().is_none_or(|time| sent.is_some_and(|sent| sent <= time)));
        let consumed = self.assembly.hops.iter().any(|hop| hop.message == place && !hop.attempts.is_empty());
        Some(draft.node(key, self.numbers_types_anew(&key.id), first, consumed))
    }

    /// Whether the process of `id` is a client 5.0.0 or 5.1.0: only they write ordinal 2 into a Pub.
    fn numbers_types_anew(&self, id: &str) -> bool {
        let Some(process) = UniqId::parse(id).map(|id| id.process) else { return false };
        self.assembly.gathered.messages.iter().any(|(key, draft)| {
            draft.types().iter().any(|t| matches!(t, PubType::TransactionHalf | PubType::TransactionCommit))
                && UniqId::parse(&key.id).is_some_and(|id| id.process == process)
        })
    }

    fn hops(
        &self,
        messages: &[MessageNode],
        place_of: &BTreeMap<usize, MessageRef>,
    ) -> (Vec<Hop>, BTreeMap<usize, HopRef>) {
        let tracing: BTreeSet<&str> = self
            .assembly
            .hops
            .iter()
            .filter(|hop| !hop.attempts.is_empty())
            .filter_map(|hop| hop.group.as_deref())
            .collect();
        let judge = Judge { groups: self.groups, options: self.options, tracing: &tracing };
        let mut hops: Vec<(usize, Hop)> = Vec::new();
        for (old, draft) in self.assembly.hops.iter().enumerate() {
            let Some(message) = place_of.get(&draft.message) else { continue };
            let Some(node) = messages.get(message.0) else { continue };
            let broadcasting = self.groups.broadcasting(node.topic.as_deref(), draft.group.as_deref());
            let (state, evidence) = judge.state(draft, node, broadcasting);
            let mut hop = Hop {
                message: *message,
                or_messages: draft.or_messages.iter().filter_map(|other| place_of.get(other).copied()).collect(),
                group: draft.group.clone(),
                state,
                evidence,
                broadcasting,
                max_retries: judge.max_retries(draft.group.as_deref()),
                dead_letters: draft.dead_letters.clone(),
                read_from: draft.read_from.clone(),
                waited: None,
                worked: draft.attempts.iter().filter_map(super::model::Attempt::worked).reduce(i64::saturating_add),
                attempts: draft.attempts.clone(),
            };
            hop.waited = hop.attempts.iter().filter_map(|attempt| attempt.begin).min().and_then(|begin| {
                let visible = hop.visible(node)?;
                Some(begin.since(visible).max(0))
            });
            hops.push((old, hop));
        }
        hops.sort_by_key(|(old, hop)| (hop.message, hop.begin().unwrap_or(Millis(i64::MAX)), hop.group.clone(), *old));
        let hop_of = hops.iter().enumerate().map(|(new, (old, _))| (*old, HopRef(new))).collect();
        (hops.into_iter().map(|(_, hop)| hop).collect(), hop_of)
    }

    fn machines(&self, selected: &BTreeSet<usize>) -> BTreeSet<&Machine> {
        let of_messages = selected
            .iter()
            .filter_map(|place| self.assembly.gathered.messages.get(self.assembly.keys.get(*place)?))
            .flat_map(super::gather::MessageDraft::machines);
        let hops = self.assembly.hops.iter().filter(|hop| selected.contains(&hop.message));
        of_messages.chain(hops.flat_map(|hop| &hop.machines)).collect()
    }

    fn clocks(&self, selected: &BTreeSet<usize>) -> Vec<super::model::ClockOffset> {
        self.machines(selected).into_iter().filter_map(|machine| self.assembly.clocks.of(machine)).cloned().collect()
    }

    /// Trace records that the selected messages and hops are made of; repeats count once.
    fn count(&self, selected: &BTreeSet<usize>) -> usize {
        let messages = selected
            .iter()
            .filter_map(|place| self.assembly.gathered.messages.get(self.assembly.keys.get(*place)?))
            .map(super::gather::MessageDraft::records);
        let hops = self.assembly.hops.iter().filter(|hop| selected.contains(&hop.message));
        let halves = hops
            .flat_map(|hop| &hop.attempts)
            .map(|attempt| usize::from(attempt.retry.is_some()) + usize::from(attempt.ok.is_some()));
        messages.chain(halves).sum()
    }
}

/// The record's messages without a parent; where all have one, the first.
fn roots(messages: &[MessageNode], edges: &[Edge]) -> Vec<MessageRef> {
    let with_parent: BTreeSet<MessageRef> = edges.iter().map(|edge| edge.to).collect();
    let mut roots: Vec<MessageRef> =
        (0..messages.len()).map(MessageRef).filter(|message| !with_parent.contains(message)).collect();
    roots.retain(|root| messages.get(root.0).is_some_and(|message| !message.perhaps));
    if roots.is_empty() && !messages.is_empty() {
        roots.push(MessageRef(0));
    }
    roots
}

fn span(messages: &[MessageNode], hops: &[Hop]) -> Option<Span> {
    let mut times: Vec<Millis> = Vec::new();
    for message in messages {
        times.extend(message.publications.iter().flat_map(|publication| [publication.begin, publication.end]));
        times.extend(message.transaction.iter().flat_map(|transaction| &transaction.ends).map(|end| end.at));
        times.extend(message.recalls.iter().map(|recall| recall.at));
        times.extend(message.stored.iter().map(|stored| stored.stored));
    }
    for hop in hops {
        times.extend(hop.attempts.iter().flat_map(|attempt| [attempt.begin, attempt.end]).flatten());
        times.extend(hop.dead_letters.iter().filter_map(|copy| copy.stored));
    }
    Some(Span { begin: times.iter().min().copied()?, end: times.iter().max().copied()? })
}
