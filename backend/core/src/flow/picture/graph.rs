//! The boxes and lines of a flow, before they have a place.

use std::collections::{BTreeMap, BTreeSet};

use super::label::{Label, width};
use super::{Drawn, Look, MOST_NODES, Passage};
use crate::flow::model::{Confidence, DeadLetterCopy, Edge, Flow, HopRef, HopState, MessageRef, Rule};

/// Room for a title in a box, in narrow characters.
const COLUMNS: usize = 22;
/// Of a title's character, in pixels.
const CHARACTER: i32 = 8;
/// Least and most width of a box: its second line needs room too.
const WIDTHS: (i32, i32) = (160, 210);

#[derive(Debug)]
pub(super) struct Box {
    pub(super) of: Drawn,
    pub(super) look: Look,
    pub(super) title: Option<Label>,
    pub(super) width: i32,
    pub(super) height: i32,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Arc {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) passage: Passage,
    pub(super) dotted: bool,
}

#[derive(Debug, Default)]
pub(super) struct Graph {
    pub(super) boxes: Vec<Box>,
    pub(super) arcs: Vec<Arc>,
    pub(super) left_out: usize,
    /// For each layer, its slots from top to bottom.
    pub(super) layers: Vec<Vec<Slot>>,
}

/// What lies in a layer: a box, or the passing of an arc that goes on to a later layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Slot {
    Box(usize),
    Pass { arc: usize },
}

impl Graph {
    pub(super) fn of(flow: &Flow) -> Self {
        let mut graph = Self::default();
        let mut topics: BTreeMap<MessageRef, usize> = BTreeMap::new();
        let mut operators: BTreeMap<HopRef, usize> = BTreeMap::new();
        let with_parent: BTreeSet<MessageRef> = flow.edges.iter().map(|edge| edge.to).collect();
        for (place, message) in flow.messages.iter().enumerate() {
            if graph.boxes.len() >= MOST_NODES {
                graph.left_out = flow.messages.len() - place;
                break;
            }
            let at = MessageRef(place);
            let topic = graph.add(Drawn::Topic(at), Look::Plain, message.topic.as_deref());
            topics.insert(at, topic);
            if let (Some(sent), false) = (message.publications.first(), with_parent.contains(&at)) {
                let look = if message.publications.iter().any(|sent| sent.ok) { Look::Good } else { Look::Warn };
                let source = graph.add(Drawn::Source(at), look, Some(&sent.group));
                graph.join(source, topic, Passage::Done, false);
            }
            let mut letters: BTreeMap<&str, usize> = BTreeMap::new();
            for (at, hop) in flow.hops_of(at) {
                let (look, passage) = of_state(&hop.state);
                let look = if flow.dropped_at(at) { Look::Bad } else { look };
                let operator = graph.add(Drawn::Operator(at), look, hop.group.as_deref());
                operators.insert(at, operator);
                if hop.read_from.is_none() {
                    graph.join(topic, operator, passage, !hop.or_messages.is_empty());
                }
                if let Some(copy) = hop.dead_letters.first() {
                    letters.insert(&copy.topic, graph.add_dead_letter(at, copy, operator));
                }
            }
            for (at, hop) in flow.hops_of(at) {
                let from = hop.read_from.as_ref().and_then(|copy| letters.get(copy.topic.as_str()));
                if let (Some(from), Some(operator)) = (from, operators.get(&at)) {
                    graph.join(*from, *operator, of_state(&hop.state).1, false);
                }
            }
        }
        for edge in &flow.edges {
            if let (Some(from), Some(to)) = (operators.get(&edge.from), topics.get(&edge.to)) {
                graph.join(*from, *to, Passage::Done, uncertain(flow, edge));
            }
        }
        graph
    }

    fn add(&mut self, of: Drawn, look: Look, title: Option<&str>) -> usize {
        let title = title.filter(|title| !title.is_empty()).map(|title| Label::fit(title, COLUMNS));
        let columns = title.as_ref().map_or(0, |label| width(&label.short));
        let text = i32::try_from(columns).unwrap_or(0) * CHARACTER + 40;
        let height = if matches!(of, Drawn::Topic(_) | Drawn::DeadLetter(_)) { 42 } else { 48 };
        self.boxes.push(Box { of, look, title, width: text.clamp(WIDTHS.0, WIDTHS.1), height });
        self.boxes.len() - 1
    }

    fn add_dead_letter(&mut self, at: HopRef, copy: &DeadLetterCopy, operator: usize) -> usize {
        let topic = self.add(Drawn::DeadLetter(at), Look::Bad, Some(&copy.topic));
        self.join(operator, topic, Passage::Failed, false);
        topic
    }

    fn join(&mut self, from: usize, to: usize, passage: Passage, dotted: bool) {
        self.arcs.push(Arc { from, to, passage, dotted });
    }
}

/// Guesses, and candidates of which at most one is right: several tokens are several parents, all of them right.
fn uncertain(flow: &Flow, edge: &Edge) -> bool {
    let rivals = flow.parents_of(edge.to).filter(|other| other.rule == edge.rule).count() > 1;
    edge.confidence >= Confidence::Medium || (rivals && edge.rule != Rule::ParentToken)
}

fn of_state(state: &HopState) -> (Look, Passage) {
    match state {
        HopState::Ok { .. } | HopState::Passed => (Look::Good, Passage::Done),
        HopState::Consuming { .. } => (Look::Busy, Passage::Done),
        HopState::Waiting { .. } => (Look::Busy, Passage::Open),
        HopState::Retrying { .. } => (Look::Warn, Passage::Failed),
        HopState::Failed { .. } | HopState::DeadLettered { .. } => (Look::Bad, Passage::Failed),
        HopState::Missing { .. } => (Look::Bad, Passage::Open),
        HopState::Unknown { .. } | HopState::NotExpected { .. } => (Look::Idle, Passage::Open),
    }
}
