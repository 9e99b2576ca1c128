//! The flow's drawing with its words: core makes the geometry, this adds the second lines, signs and links.

use millrace_core::flow::picture::{Drawn, Look, Node, Passage, Path, Picture};
use millrace_core::flow::{Attempt, Flow, Hop, HopRef, HopState, MessageNode, TransactionOutcome, picture};

use super::{Reader, words};
use crate::i18n::Msg;
use crate::links::{self, Link};

/// Widths in pixels between which a drawing is shrunk to the page; a wider one scrolls.
const SHRINKS_FROM: i32 = 960;
const SHRINKS_TO: i32 = 1_800;

pub(crate) struct Drawing {
    pub(crate) width: i32,
    pub(crate) height: i32,
    pub(crate) boxes: Vec<Figure>,
    pub(crate) lines: Vec<Line>,
    pub(crate) left_out: usize,
    pub(crate) dotted: bool,
}

impl Drawing {
    /// Whether it is still read when it is shrunk to the page.
    pub(crate) fn fits(&self) -> bool {
        (SHRINKS_FROM..=SHRINKS_TO).contains(&self.width)
    }
}

pub(crate) struct Figure {
    pub(crate) x: i32,
    pub(crate) y: i32,
    pub(crate) width: i32,
    pub(crate) height: i32,
    pub(crate) round: i32,
    pub(crate) class: &'static str,
    /// The sign's name in `components/icons.html`; topics have none.
    pub(crate) sign: Option<&'static str>,
    pub(crate) title: String,
    pub(crate) second: String,
    /// What hovering shows and a screen reader says.
    pub(crate) full: String,
    pub(crate) link: Option<String>,
    pub(crate) topic: bool,
}

impl Figure {
    pub(crate) fn text_x(&self) -> i32 {
        self.x + if self.sign.is_some() { 32 } else { 16 }
    }

    pub(crate) fn second_x(&self) -> i32 {
        self.x + if self.sign.is_some() { 12 } else { 16 }
    }

    pub(crate) fn title_y(&self) -> i32 {
        self.y + self.height / 2 - 3
    }

    pub(crate) fn second_y(&self) -> i32 {
        self.y + self.height / 2 + 13
    }

    pub(crate) fn sign_y(&self) -> i32 {
        self.title_y() - 11
    }
}

pub(crate) struct Line {
    pub(crate) class: &'static str,
    pub(crate) d: String,
}

/// Draws `flow`. `topic_link` makes the address of a topic's page, where there is one.
pub(crate) fn draw(flow: &Flow, reader: &Reader<'_>, topic_link: impl Fn(&str) -> Option<Link>) -> Drawing {
    let Picture { width, height, nodes, paths, left_out } = picture::picture(flow);
    let boxes = nodes.iter().map(|node| figure(node, flow, reader, &topic_link)).collect();
    let dotted = paths.iter().any(|path| path.dotted);
    let lines = paths.iter().map(|path| Line { class: class(path), d: path.svg() }).collect();
    Drawing { width, height, boxes, lines, left_out, dotted }
}

/// A topic's page, if topics are served.
pub(crate) fn topic_link(cluster: &str, topic: &str) -> Option<Link> {
    crate::pages::nav::has_topics().then(|| links::topic(cluster, topic))
}

fn class(path: &Path) -> &'static str {
    match (path.dotted, path.passage) {
        (true, _) => "edge none guess",
        (false, Passage::Done) => "edge done",
        (false, Passage::Failed) => "edge fail",
        (false, Passage::Open) => "edge none",
    }
}

fn figure(node: &Node, flow: &Flow, reader: &Reader<'_>, topic_link: &impl Fn(&str) -> Option<Link>) -> Figure {
    let topic = matches!(node.of, Drawn::Topic(_) | Drawn::DeadLetter(_));
    let (second, link) = match node.of {
        Drawn::Source(message) => {
            (flow.message(message).map(|m| sent(m, reader)), Some(format!("#message-{}", message.0)))
        }
        Drawn::Topic(message) => {
            let node = flow.message(message);
            let link = node.and_then(|node| topic_link(node.topic.as_deref()?)).map(|link| link.to_string());
            (node.map(|node| stored(node, reader)), link)
        }
        Drawn::Operator(hop) => (operator(flow, hop, reader), Some(format!("#hop-{}", hop.0))),
        Drawn::DeadLetter(hop) => {
            let copy = flow.hop(hop).and_then(|hop| hop.dead_letters.first());
            let since =
                copy.and_then(|copy| copy.stored).map(|at| Msg::new("record-since").with("at", reader.clock(at)));
            let link = copy.and_then(|copy| topic_link(&copy.topic)).map(|link| link.to_string());
            (since.map(|msg| reader.say(&msg)), link)
        }
    };
    let second = second.unwrap_or_default();
    let unnamed =
        || reader.say(&if topic { Msg::new("record-unnamed-topic") } else { Msg::new("record-unnamed-group") });
    let title = node.title.as_ref().map_or_else(unnamed, |label| label.short.clone());
    let name = node.title.as_ref().map_or_else(unnamed, |label| label.full.clone());
    let (class, sign) = match (topic, node.look) {
        (true, Look::Bad) => ("topic bad", None),
        (true, _) => ("topic", None),
        (false, Look::Good) => ("op ok", Some("ok")),
        (false, Look::Busy) => ("op", Some("info")),
        (false, Look::Warn) => ("op warn", Some("warn")),
        (false, Look::Bad) => ("op bad", Some("bad")),
        (false, Look::Idle | Look::Plain) => ("op idle", Some("unknown")),
    };
    Figure {
        x: node.x,
        y: node.y,
        width: node.width,
        height: node.height,
        round: if topic { node.height / 2 } else { 8 },
        class,
        sign,
        full: if second.is_empty() { name } else { format!("{name}: {second}") },
        title,
        second,
        link,
        topic,
    }
}

fn sent(message: &MessageNode, reader: &Reader<'_>) -> String {
    let Some(first) = message.publications.first() else { return String::new() };
    reader.say(&Msg::new("record-sent-at").with("at", reader.clock(first.begin)))
}

/// The most telling that fits: what became of a transaction, of a batch, of a recall; else queue and cost.
fn stored(message: &MessageNode, reader: &Reader<'_>) -> String {
    let mut parts = Vec::new();
    if message.recalls.iter().any(|recall| recall.ok) {
        parts.push(reader.say(&Msg::new("record-recalled")));
    }
    if let Some(transaction) = &message.transaction
        && transaction.outcome != TransactionOutcome::Committed
    {
        parts.push(reader.say(&words::transaction(transaction.outcome).1));
    }
    if let Some(place) = message.stored.first() {
        parts.push(format!("q{}", place.queue.queue));
    }
    if !message.batch.is_empty() {
        parts.push(reader.say(&Msg::new("record-batch").with("n", message.batch.len())));
    }
    match message.publications.first() {
        Some(first) => parts.push(reader.duration(first.cost)),
        None if message.stored.is_empty() => parts.push(reader.say(&Msg::new("record-send-not-traced"))),
        None => {}
    }
    if let Some(kind) = words::kind(message.kind).filter(|_| parts.len() < 3) {
        parts.push(reader.say(&kind));
    }
    parts.truncate(3);
    parts.join(" · ")
}

fn operator(flow: &Flow, at: HopRef, reader: &Reader<'_>) -> Option<String> {
    if flow.dropped_at(at) {
        return Some(reader.say(&Msg::new("record-passed-nothing-on")));
    }
    flow.hop(at).map(|hop| consumed(hop, reader))
}

fn consumed(hop: &Hop, reader: &Reader<'_>) -> String {
    let (_, word) = words::state(&hop.state);
    let mut parts = vec![reader.say(&word)];
    match hop.state {
        HopState::Ok { .. } => {
            let ended = hop.attempts.iter().rfind(|attempt| attempt.ok == Some(true));
            parts.extend(ended.and_then(Attempt::worked).map(|ms| reader.duration(ms)));
            // Clients of a broadcasting group each have a first try.
            if let Some(retries) = ended.and_then(|attempt| attempt.retry).filter(|retries| *retries > 0) {
                parts.push(reader.say(&Msg::new("record-nth-try").with("n", retries.saturating_add(1))));
            }
        }
        HopState::Consuming { since: Some(since) } => parts.push(reader.duration(reader.now().since(since).max(0))),
        HopState::Retrying { next_due: Some(due), .. } => parts.push(reader.clock(due)),
        _ => {}
    }
    parts.join(" · ")
}
