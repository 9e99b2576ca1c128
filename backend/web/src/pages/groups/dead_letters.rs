//! A group's dead letters: what they were, which of them were sent again, and sending those that are chosen.

use askama::Template;
use axum::extract::{Path, RawForm};
use axum::http::StatusCode;
use axum::response::Response;
use axum_extra::extract::Query;
use millrace_console::dead_letters::{DeadLetter, ResendForm, ResendOutcome, ResentLetters};
use millrace_console::messages::{Cursor, Limits};
use millrace_console::{ConsoleError, FieldErrors};
use millrace_core::coverage::Coverage;
use millrace_core::name::DLQ_PREFIX;
use millrace_core::time::Millis;

use super::head::{Head, Part};
use crate::i18n::{Locale, Msg};
use crate::links::{self, Link};
use crate::pages::messages::browse::{Asked, Times, browse_of};
use crate::pages::messages::row::MessageRow;
use crate::pages::topics::fields::{Fields, say, wrong};
use crate::pages::topics::{WHO, failure};
use crate::render::filters;
use crate::{ClusterView, Cx, Failure, InCluster};

/// Rows of one page, unless asked otherwise.
const SIZE: usize = 32;

/// A dead letter in the list.
struct Row {
    message: MessageRow,
    /// As the form sends it.
    place: String,
    origin: Option<(String, Link)>,
    resent: Option<(Millis, Link)>,
    chosen: bool,
}

impl Row {
    fn of(view: &ClusterView, message: MessageRow, letter: &DeadLetter, chosen: &[String]) -> Self {
        let place = format!("{}/{}/{}", message.broker, message.queue, message.offset);
        Self {
            chosen: chosen.contains(&place),
            origin: letter.origin.topic.clone().map(|topic| {
                let link = links::topic(&view.name, &topic);
                (topic, link)
            }),
            resent: letter.resent.as_ref().map(|resent| (resent.at, links::record(&view.name, &resent.message_id))),
            place,
            message,
        }
    }
}

/// What became of the chosen.
struct Done {
    /// In a sentence.
    said: Msg,
    whole: bool,
    rows: Vec<DoneRow>,
    /// Places that the same press may send yet.
    left: Vec<String>,
    audit_error: Option<String>,
}

struct DoneRow {
    place: String,
    link: Link,
    outcome: ResendOutcome,
}

impl Done {
    fn of(view: &ClusterView, group: &str, sent: ResentLetters) -> Self {
        let topic = format!("{DLQ_PREFIX}{group}");
        Self {
            said: Msg::new("dead-done").with("n", sent.done()).with("all", sent.each.len()),
            whole: sent.done() == sent.each.len(),
            left: sent
                .each
                .iter()
                .filter(|(_, outcome)| !outcome.done() && *outcome != ResendOutcome::Gone)
                .map(|(place, _)| place.to_string())
                .collect(),
            rows: sent
                .each
                .into_iter()
                .map(|(place, outcome)| {
                    let queue = millrace_core::name::QueueRef {
                        topic: topic.clone(),
                        broker: place.broker.clone(),
                        queue: place.queue,
                    };
                    DoneRow {
                        link: links::message(&view.name, &queue, place.offset),
                        place: place.to_string(),
                        outcome,
                    }
                })
                .collect(),
            audit_error: sent.audit_error,
        }
    }
}

/// The letters of one page.
struct Found {
    rows: Vec<Row>,
    /// In a sentence.
    said: Msg,
    coverage: Coverage,
    first: Option<Link>,
    next: Option<Link>,
    resent_error: Option<String>,
}

#[derive(Template)]
#[template(path = "groups/dead_letters.html")]
struct Show {
    head: Head,
    asked: Asked,
    form: ResendForm,
    /// Its clients read by POP: they do not read the retry topic.
    pop: bool,
    can_send: bool,
    done: Option<Done>,
    /// `None`: it has no dead-letter topic.
    found: Option<Found>,
    from_error: Option<String>,
    to_error: Option<String>,
    /// What is wrong with the chosen.
    errors: Vec<String>,
}

impl Show {
    fn of(view: &ClusterView, group: &str, asked: Asked, form: ResendForm, found: Option<Found>) -> Self {
        let snapshot = view.console.snapshot();
        let state = snapshot.group(group);
        Self {
            head: Head::of(view, group, Part::DeadLetters),
            pop: state.is_some_and(|state| state.clients.consume_type == "CONSUME_POP"),
            can_send: view.console.sendable() && found.as_ref().is_some_and(|found| !found.rows.is_empty()),
            asked,
            form,
            done: None,
            found,
            from_error: None,
            to_error: None,
            errors: Vec::new(),
        }
    }

    fn with_errors(self, errors: &FieldErrors, locale: Locale) -> Self {
        let of = |field| wrong(errors, field, locale);
        let others = errors.0.iter().filter(|error| !matches!(error.field, "from" | "to"));
        Self {
            from_error: of("from"),
            to_error: of("to"),
            errors: others.map(|error| say(error).text(locale)).collect(),
            ..self
        }
    }
}

async fn find(
    view: &ClusterView,
    cx: &Cx,
    group: &str,
    asked: &Asked,
    chosen: &[String],
) -> Result<Option<Found>, ConsoleError> {
    let times = Times::read(asked, &cx.zone, cx.now)?;
    let browse = browse_of(asked, times, cx.now)?;
    let topic = format!("{DLQ_PREFIX}{group}");
    let cursor = (!asked.cursor.is_empty())
        .then(|| Cursor::parse(&asked.cursor, &topic))
        .transpose()
        .map_err(|_| FieldErrors::one("cursor", "cursor-damaged"))?;
    let later = cursor.is_some();
    let size = asked.size.unwrap_or(SIZE);
    let told = match view.console.dead_letters(group, &browse, size, cursor, Limits::default()).await {
        Ok(told) => told,
        // A group that exists and never gave up has no such topic.
        Err(ConsoleError::NotFound(_)) if view.console.snapshot().group(group).is_some() => return Ok(None),
        Err(error) => return Err(error),
    };
    let rows = told.page.rows.iter().zip(&told.letters);
    let here = links::group_part(&view.name, group, "dead-letters").with("from", &asked.from).with("to", &asked.to);
    Ok(Some(Found {
        rows: rows.map(|(row, letter)| Row::of(view, MessageRow::of_row(&view.name, row), letter, chosen)).collect(),
        said: Msg::new("messages-shown").with("n", told.page.rows.len()).with("total", told.page.total),
        coverage: told.page.coverage,
        first: later.then(|| here.clone()),
        next: told.page.next.map(|next| here.with("cursor", next.encode())),
        resent_error: told.resent_error,
    }))
}

/// Two fields of time are asked for, and nothing else.
fn in_time(asked: Asked) -> Asked {
    let by = if asked.from.trim().is_empty() && asked.to.trim().is_empty() { "newest" } else { "time" };
    Asked {
        by: by.to_owned(),
        from: asked.from,
        to: asked.to,
        cursor: asked.cursor,
        size: asked.size,
        ..Asked::default()
    }
}

pub(crate) async fn show(
    InCluster { cx, view }: InCluster,
    Path((_, group)): Path<(String, String)>,
    Query(asked): Query<Asked>,
) -> Result<Response, Failure> {
    let asked = in_time(asked);
    let form = ResendForm { attempt: view.console.new_attempt(), ..ResendForm::default() };
    match find(&view, &cx, &group, &asked, &[]).await {
        Ok(found) => cx.html(&Show::of(&view, &group, asked, form, found)),
        Err(ConsoleError::Invalid(errors)) => {
            let page = Show::of(&view, &group, asked, form, None).with_errors(&errors, cx.locale);
            cx.html_with(StatusCode::UNPROCESSABLE_ENTITY, &page)
        }
        Err(error) => Err(failure(&view, error)),
    }
}

pub(crate) async fn resend(
    InCluster { cx, view }: InCluster,
    Path((_, group)): Path<(String, String)>,
    RawForm(bytes): RawForm,
) -> Result<Response, Failure> {
    let fields = Fields::read(&bytes);
    let form = ResendForm {
        attempt: fields.one("attempt"),
        target: fields.one("target"),
        places: fields.all("places"),
        per_second: fields.one("per_second"),
    };
    let asked = in_time(Asked {
        from: fields.one("from"),
        to: fields.one("to"),
        cursor: fields.one("cursor"),
        ..Asked::default()
    });
    match view.console.resend(WHO, &group, &form).await {
        Ok(sent) => {
            let done = Done::of(&view, &group, sent);
            let page = Show::of(&view, &group, asked, form, None);
            cx.html(&Show { done: Some(done), ..page })
        }
        Err(ConsoleError::Invalid(errors)) => {
            let found = find(&view, &cx, &group, &asked, &form.places).await.ok().flatten();
            let page = Show::of(&view, &group, asked, form, found).with_errors(&errors, cx.locale);
            cx.html_with(StatusCode::UNPROCESSABLE_ENTITY, &page)
        }
        Err(error) => Err(failure(&view, error)),
    }
}

/// What became of one, in words.
fn said(outcome: &ResendOutcome) -> Msg {
    match outcome {
        ResendOutcome::Sent { .. } => Msg::new("dead-sent"),
        ResendOutcome::SentBefore { .. } => Msg::new("dead-sent-before"),
        ResendOutcome::Weakly { status, .. } => Msg::new("dead-weakly").with("status", status.code()),
        ResendOutcome::InDoubt { why } => Msg::new("dead-in-doubt").with("why", why),
        ResendOutcome::DeadAgain => Msg::new("dead-again"),
        ResendOutcome::Gone => Msg::new("dead-gone"),
        ResendOutcome::Refused { why } => Msg::new("dead-refused").with("why", why),
    }
}

fn look(outcome: &ResendOutcome) -> &'static str {
    match outcome {
        ResendOutcome::Sent { .. } | ResendOutcome::SentBefore { .. } => "ok",
        ResendOutcome::Weakly { .. } => "warn",
        ResendOutcome::InDoubt { .. } => "unknown",
        ResendOutcome::Gone => "idle",
        ResendOutcome::DeadAgain | ResendOutcome::Refused { .. } => "bad",
    }
}
