//! The same facts as a table: a line for each send, each delivery, each dead letter, and each group that should have got
//! the message.

use millrace_core::flow::{Attempt, Edge, Evidence, Flow, Hop, HopState, MessageNode, MessageRef};
use millrace_core::time::Millis;

use super::{Reader, words};
use crate::component::State;
use crate::i18n::Msg;

pub(crate) struct Line {
    /// The anchor that the drawing links to.
    pub(crate) anchor: Option<String>,
    pub(crate) at: Option<Millis>,
    pub(crate) group: Option<String>,
    pub(crate) topic: Option<String>,
    pub(crate) queue: Option<i32>,
    pub(crate) result: (State, Msg),
    pub(crate) notes: Vec<Msg>,
    pub(crate) waited: Option<i64>,
    pub(crate) worked: Option<i64>,
    pub(crate) number: Option<i64>,
    pub(crate) evidence: (State, Msg),
    /// Where a message came from, and how that is known.
    pub(crate) origin: Vec<Msg>,
    pub(crate) client: Option<String>,
}

pub(crate) fn lines(flow: &Flow, reader: &Reader<'_>) -> Vec<Line> {
    let mut lines = Vec::new();
    for (place, message) in flow.messages.iter().enumerate() {
        sent(flow, MessageRef(place), message, reader, &mut lines);
        for (at, hop) in flow.hops_of(MessageRef(place)) {
            let first = lines.len();
            for attempt in &hop.attempts {
                lines.push(delivered(message, hop, attempt, reader));
            }
            if hop.attempts.is_empty() && hop.dead_letters.is_empty() {
                lines.push(expected(message, hop, reader));
            }
            for copy in &hop.dead_letters {
                lines.push(Line {
                    at: copy.stored,
                    topic: Some(copy.topic.clone()),
                    queue: None,
                    result: (State::Bad, Msg::new("record-dead")),
                    evidence: words::evidence(Evidence::FoundInTopic),
                    waited: None,
                    ..expected(message, hop, reader)
                });
            }
            if let Some(line) = lines.get_mut(first) {
                line.anchor = Some(format!("hop-{}", at.0));
                line.waited = hop.waited;
            }
        }
    }
    lines
}

fn sent(flow: &Flow, at: MessageRef, message: &MessageNode, reader: &Reader<'_>, lines: &mut Vec<Line>) {
    let anchor = Some(format!("message-{}", at.0));
    let origin: Vec<Msg> = flow.parents_of(at).map(|edge| origin(flow, edge)).collect();
    let line = Line {
        anchor,
        at: message.begin(),
        group: None,
        topic: message.topic.clone(),
        queue: message.stored.first().map(|place| place.queue.queue),
        result: (State::Unknown, Msg::new("record-send-not-traced")),
        notes: notes(message, reader),
        waited: None,
        worked: None,
        number: None,
        evidence: words::evidence(message.evidence),
        origin,
        client: None,
    };
    let mut line = Some(line);
    for publication in &message.publications {
        let result = if publication.ok {
            (State::Ok, Msg::new("record-sent"))
        } else {
            (State::Warn, Msg::new("record-sent-unsafe"))
        };
        let first = line.take();
        lines.push(Line {
            anchor: first.as_ref().and_then(|line| line.anchor.clone()),
            at: Some(publication.begin),
            group: Some(publication.group.clone()),
            topic: message.topic.clone(),
            queue: message.stored.first().map(|place| place.queue.queue),
            result,
            notes: first.as_ref().map(|line| line.notes.clone()).unwrap_or_default(),
            waited: None,
            worked: Some(publication.cost),
            number: None,
            evidence: words::evidence(Evidence::Traced),
            origin: first.map(|line| line.origin).unwrap_or_default(),
            client: Some(publication.host.clone()),
        });
    }
    lines.extend(line);
}

/// What is out of the ordinary with the message.
fn notes(message: &MessageNode, reader: &Reader<'_>) -> Vec<Msg> {
    let mut notes = Vec::new();
    notes.extend(words::kind(message.kind));
    if let Some(transaction) = &message.transaction {
        notes.push(words::transaction(transaction.outcome).1);
    }
    if !message.batch.is_empty() {
        notes.push(Msg::new("record-batch").with("n", message.batch.len()));
    }
    if let Some(recall) = message.recalls.iter().find(|recall| recall.ok) {
        notes.push(Msg::new("record-recalled-at").with("at", reader.clock(recall.at)));
    }
    notes
}

fn origin(flow: &Flow, edge: &Edge) -> Msg {
    let group = flow.hop(edge.from).and_then(|hop| hop.group.clone());
    let group = group.map_or_else(|| Msg::new("record-unnamed-group").into(), crate::i18n::Arg::from);
    Msg::new("record-from")
        .with("group", group)
        .with("confidence", words::confidence(edge.confidence))
        .with("rule", words::rule(edge.rule))
        .with("score", edge.score.to_string())
}

fn delivered(message: &MessageNode, hop: &Hop, attempt: &Attempt, reader: &Reader<'_>) -> Line {
    let result = match attempt.ok {
        Some(true) => (State::Ok, Msg::new("record-consumed")),
        Some(false) => (State::Bad, attempt.outcome.map_or_else(|| Msg::new("record-outcome-failed"), words::outcome)),
        None if matches!(hop.state, HopState::Consuming { .. }) => (State::Info, Msg::new("record-consuming")),
        None => (State::Unknown, Msg::new("record-end-not-traced")),
    };
    let mut notes = Vec::new();
    if attempt.timed_out() && attempt.ok == Some(true) {
        notes.push(words::outcome(millrace_core::trace::Outcome::TimeOut));
    }
    if let (HopState::Retrying { next_due: Some(due), .. }, true) = (&hop.state, hop.attempts.last() == Some(attempt)) {
        notes.push(Msg::new("record-next-try").with("at", reader.clock(*due)));
    }
    if !hop.or_messages.is_empty() {
        notes.push(Msg::new("record-topic-unsure"));
    }
    Line {
        anchor: None,
        at: attempt.begin.or(attempt.end),
        group: hop.group.clone(),
        topic: hop.read_from.as_ref().map(|copy| &copy.topic).or(message.topic.as_ref()).cloned(),
        queue: message.stored.first().filter(|_| hop.read_from.is_none()).map(|place| place.queue.queue),
        result,
        notes,
        waited: None,
        worked: attempt.worked(),
        number: attempt.retry.map(|retry| retry.saturating_add(1)),
        evidence: words::evidence(Evidence::Traced),
        origin: Vec::new(),
        client: Some(attempt.host.clone()),
    }
}

/// A group without a traced delivery.
fn expected(message: &MessageNode, hop: &Hop, reader: &Reader<'_>) -> Line {
    let mut notes: Vec<Msg> = words::reason(&hop.state).into_iter().collect();
    match &hop.state {
        HopState::Waiting { ahead: Some(ahead) } if *ahead > 0 => {
            notes.push(Msg::new("record-ahead").with("n", *ahead));
        }
        HopState::Missing { since } => notes.push(Msg::new("record-since").with("at", reader.clock(*since))),
        _ => {}
    }
    Line {
        anchor: None,
        at: None,
        group: hop.group.clone(),
        topic: message.topic.clone(),
        queue: message.stored.first().map(|place| place.queue.queue),
        result: words::state(&hop.state),
        notes,
        waited: hop.waited,
        worked: None,
        number: None,
        evidence: words::evidence(hop.evidence),
        origin: Vec::new(),
        client: None,
    }
}
