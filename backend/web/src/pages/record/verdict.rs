//! The sentence that a record page begins with: where the record is, what proves it, what to do next.

use millrace_core::flow::{Flow, Hop, HopState, Verdict as Code};
use millrace_core::time::Millis;
use millrace_tracker::record::RecordAnswer;

use super::{Reader, words};
use crate::component::{State, Verdict};
use crate::i18n::{Arg, Msg};

/// The answer in a sentence.
pub(crate) fn verdict(answer: &RecordAnswer, reader: &Reader<'_>) -> Verdict {
    let flow = &answer.flow;
    let (state, headline, mut details) = of_code(answer, reader);
    if answer.coverage.truncated {
        details.push(Msg::new("record-truncated"));
    }
    if answer.found() && flow.records > 0 && answer.coverage.behind_ms.is_none() {
        details.push(Msg::new("record-behind-unknown"));
    }
    Verdict { state, headline, details }
}

fn of_code(answer: &RecordAnswer, reader: &Reader<'_>) -> (State, Msg, Vec<Msg>) {
    let flow = &answer.flow;
    let at = |time: &Option<Millis>| time.map(|time| reader.clock(time));
    match &flow.verdict {
        Code::NotFound => {
            (State::Unknown, Msg::new("record-says-not-found").with("text", &answer.question), Vec::new())
        }
        Code::Complete { groups, at: time } => (
            State::Ok,
            with_time(Msg::new("record-says-complete").with("groups", *groups), at(time)),
            took(flow, reader).into_iter().collect(),
        ),
        Code::TracedOk { groups, at: time } => (
            State::Ok,
            with_time(Msg::new("record-says-traced-ok").with("groups", *groups), at(time)),
            took(flow, reader).into_iter().chain(not_told(flow)).collect(),
        ),
        Code::OnlyPublished { topic, at: time } => (
            State::Info,
            with_time(Msg::new("record-says-published").with("topic", named(topic.as_ref())), at(time)),
            vec![Msg::new("record-next-published")],
        ),
        Code::StoppedAt { group, tries, dead_since, reached, of } => {
            stopped(flow, group, *tries, *dead_since, (*reached, *of), reader)
        }
        Code::Retrying { group, tries, next_due } => {
            let msg = match next_due {
                Some(due) if *due >= reader.now() => {
                    Msg::new("record-says-retrying-due").with("at", reader.clock(*due))
                }
                Some(due) => Msg::new("record-says-retrying-overdue").with("at", reader.clock(*due)),
                None => Msg::new("record-says-retrying"),
            };
            let details = last_outcome(flow, group, reader).into_iter().chain([Msg::new("record-next-retrying")]);
            (State::Warn, msg.with("group", named_group(group)).with("tries", *tries), details.collect())
        }
        Code::MissingAt { group, since } => (
            State::Bad,
            Msg::new("record-says-missing").with("group", named_group(group)).with("at", reader.clock(*since)),
            vec![Msg::new("record-next-missing")],
        ),
        Code::DroppedAt { group } => (
            State::Bad,
            Msg::new("record-says-dropped").with("group", named_group(group)),
            vec![Msg::new("record-next-dropped")],
        ),
        Code::InProgress { group, since } => (
            State::Info,
            with_time(
                Msg::new("record-says-working").with("group", named_group(group.as_deref().unwrap_or_default())),
                at(since),
            ),
            Vec::new(),
        ),
        Code::WaitingAt { group, ahead } => (
            State::Info,
            Msg::new("record-says-waiting").with("group", named_group(group)),
            ahead
                .filter(|ahead| *ahead > 0)
                .map(|ahead| Msg::new("record-ahead").with("n", ahead))
                .into_iter()
                .collect(),
        ),
        Code::RolledBack { topic, at: time } => (
            State::Idle,
            with_time(Msg::new("record-says-rolled-back").with("topic", named(topic.as_ref())), at(time)),
            Vec::new(),
        ),
        Code::TransactionOpen { topic } => (
            State::Info,
            Msg::new("record-says-transaction-open").with("topic", named(topic.as_ref())),
            vec![Msg::new("record-next-transaction")],
        ),
        Code::Recalled { topic, at: time } => (
            State::Idle,
            with_time(Msg::new("record-says-recalled").with("topic", named(topic.as_ref())), at(time)),
            Vec::new(),
        ),
        Code::Unknown { group, why } => (
            State::Unknown,
            Msg::new("record-says-unknown").with("group", named_group(group.as_deref().unwrap_or_default())),
            vec![words::why(*why)],
        ),
    }
}

fn stopped(
    flow: &Flow,
    group: &str,
    tries: i64,
    dead_since: Option<Millis>,
    (reached, of): (usize, usize),
    reader: &Reader<'_>,
) -> (State, Msg, Vec<Msg>) {
    let unconfirmed = flow.hops.iter().any(|hop| matches!(hop.state, HopState::DeadLettered { confirmed: false, .. }));
    let msg = match dead_since {
        Some(since) if tries > 0 => Msg::new("record-says-dead").with("at", reader.clock(since)).with("tries", tries),
        Some(since) => Msg::new("record-says-dead-untraced").with("at", reader.clock(since)),
        None if unconfirmed => Msg::new("record-says-used-up").with("tries", tries),
        None => Msg::new("record-says-failed").with("tries", tries),
    };
    let mut details = vec![Msg::new("record-reached").with("reached", reached).with("of", of)];
    details.extend(last_outcome(flow, group, reader));
    details.push(if dead_since.is_some() { Msg::new("record-next-dead") } else { Msg::new("record-next-failed") });
    (State::Bad, msg.with("group", named_group(group)), details)
}

/// How the last delivery to `group` failed, and where.
fn last_outcome(flow: &Flow, group: &str, reader: &Reader<'_>) -> Option<Msg> {
    let hop = flow.hops.iter().find(|hop| hop.group.as_deref() == Some(group) && failed(hop))?;
    let attempt = hop.attempts.iter().rfind(|attempt| attempt.ok == Some(false))?;
    let outcome = attempt.outcome.map_or_else(|| Msg::new("record-outcome-failed"), words::outcome);
    let at = attempt.end.or(attempt.begin).map(|at| reader.clock(at)).unwrap_or_default();
    Some(Msg::new("record-last-outcome").with("outcome", outcome).with("host", &attempt.host).with("at", at))
}

fn failed(hop: &Hop) -> bool {
    matches!(hop.state, HopState::Retrying { .. } | HopState::Failed { .. } | HopState::DeadLettered { .. })
}

fn took(flow: &Flow, reader: &Reader<'_>) -> Option<Msg> {
    let span = flow.span?;
    Some(Msg::new("record-took").with("took", reader.duration(span.end.since(span.begin))))
}

/// Groups of which it is not known whether they have the record.
fn not_told(flow: &Flow) -> Option<Msg> {
    let unknown: Vec<&str> = flow
        .hops
        .iter()
        .filter(|hop| matches!(hop.state, HopState::Unknown { .. }))
        .filter_map(|hop| hop.group.as_deref())
        .collect();
    Some(match unknown.split_first() {
        Some((first, [])) => Msg::new("record-one-not-told").with("group", *first),
        Some((first, rest)) => Msg::new("record-some-not-told").with("group", *first).with("n", rest.len()),
        None => return None,
    })
}

fn with_time(msg: Msg, at: Option<String>) -> Msg {
    // `none` chooses the variant without a time.
    msg.with("at", at.unwrap_or_else(|| "none".to_owned()))
}

/// A topic's name, or words for one that no trace names.
fn named(topic: Option<&String>) -> Arg {
    topic.map_or_else(|| Msg::new("record-unnamed-topic").into(), Arg::from)
}

fn named_group(group: &str) -> Arg {
    if group.is_empty() { Msg::new("record-unnamed-group").into() } else { group.into() }
}
