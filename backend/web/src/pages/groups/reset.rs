//! Setting a group's offsets: what to set, the preview of what that does to each queue, and the act with what the brokers
//! keep afterwards.

use askama::Template;
use axum::extract::{Path, RawForm};
use axum::http::StatusCode;
use axum::response::Response;
use axum_extra::extract::Query;
use millrace_console::groups::{QueueReset, ResetForm, ResetPlan, ResetRefused, Resets};
use millrace_console::{ConsoleError, FieldErrors};
use millrace_core::coverage::Known;

use super::head::{Head, Part};
use crate::i18n::Msg;
use crate::pages::topics::fields::{Fields, wrong};
use crate::pages::topics::{WHO, failure};
use crate::render::filters;
use crate::{ClusterView, Cx, Failure, InCluster};

#[derive(Template)]
#[template(path = "groups/reset.html")]
struct Reset {
    head: Head,
    form: ResetForm,
    /// Topics that it has offsets on.
    topics: Vec<String>,
    plan: Option<ResetPlan>,
    /// The group has moved since the preview that was sent.
    moved: bool,
    done: Option<Done>,
    topic_error: Option<String>,
    queue_error: Option<String>,
    to_error: Option<String>,
    time_error: Option<String>,
    offset_error: Option<String>,
}

/// What came of it.
struct Done {
    rows: Vec<DoneRow>,
    failed: usize,
    audit_error: Option<String>,
}

struct DoneRow {
    queue: QueueReset,
    now: Known<Option<i64>>,
    error: Option<String>,
}

impl Done {
    fn of(resets: Resets) -> Self {
        let failed = resets.outcomes.failed();
        let rows = resets.queues.into_iter().zip(resets.outcomes.each).map(|((queue, now), outcome)| DoneRow {
            queue,
            now,
            error: outcome.error,
        });
        Self { rows: rows.collect(), failed, audit_error: resets.outcomes.audit_error }
    }
}

impl Reset {
    fn of(view: &ClusterView, cx: &Cx, group: &str, form: ResetForm, errors: &FieldErrors) -> Self {
        let of = |field| wrong(errors, field, cx.locale);
        let snapshot = view.console.snapshot();
        let state = snapshot.group(group);
        Self {
            head: Head::of(view, group, Part::Form),
            topics: state.into_iter().flat_map(|state| state.topics.iter().map(|on| on.topic.clone())).collect(),
            form,
            plan: None,
            moved: false,
            done: None,
            topic_error: of("topic"),
            queue_error: of("queue"),
            to_error: of("to"),
            time_error: of("time"),
            offset_error: of("offset"),
        }
    }
}

/// As in the page's address, so that a preview is a link.
pub(crate) async fn form(
    InCluster { cx, view }: InCluster,
    Path((_, group)): Path<(String, String)>,
    Query(form): Query<ResetForm>,
) -> Result<Response, Failure> {
    if !view.console.writable() {
        return Err(Failure::ReadOnly(view.name.clone()));
    }
    if form.to.is_empty() {
        return cx.html(&Reset::of(&view, &cx, &group, form, &FieldErrors::default()));
    }
    match view.console.reset_plan(&group, &form, cx.zone.time_zone()).await {
        Ok(plan) => {
            let page = Reset::of(&view, &cx, &group, form, &FieldErrors::default());
            cx.html(&Reset { plan: Some(plan), ..page })
        }
        Err(error) => refused(&view, &cx, &group, form, error),
    }
}

pub(crate) async fn reset(
    InCluster { cx, view }: InCluster,
    Path((_, group)): Path<(String, String)>,
    RawForm(bytes): RawForm,
) -> Result<Response, Failure> {
    let fields = Fields::read(&bytes);
    let form = ResetForm {
        topic: fields.one("topic"),
        queue: fields.one("queue"),
        to: fields.one("to"),
        time: fields.one("time"),
        offset: fields.one("offset"),
        seen: fields.one("seen"),
        moving: fields.one("moving"),
    };
    match view.console.reset(WHO, &group, &form, cx.zone.time_zone()).await {
        Ok(resets) => {
            let page = Reset::of(&view, &cx, &group, form, &FieldErrors::default());
            cx.html(&Reset { done: Some(Done::of(resets)), ..page })
        }
        Err(ResetRefused::Moved(plan)) => {
            let page = Reset::of(&view, &cx, &group, form, &FieldErrors::default());
            cx.html_with(StatusCode::CONFLICT, &Reset { plan: Some(*plan), moved: true, ..page })
        }
        Err(ResetRefused::Console(error)) => refused(&view, &cx, &group, form, error),
    }
}

fn refused(
    view: &ClusterView,
    cx: &Cx,
    group: &str,
    form: ResetForm,
    error: ConsoleError,
) -> Result<Response, Failure> {
    match error {
        ConsoleError::Invalid(errors) => {
            cx.html_with(StatusCode::UNPROCESSABLE_ENTITY, &Reset::of(view, cx, group, form, &errors))
        }
        other => Err(failure(view, other)),
    }
}

/// What a queue's new offset means.
fn effect(queue: &QueueReset) -> Msg {
    match (queue.committed, queue.again(), queue.skipped()) {
        (None, ..) => Msg::new("groups-reset-begins"),
        (_, again @ 1.., _) => Msg::new("groups-reset-again").with("n", again),
        (_, _, Some(skipped @ 1..)) => Msg::new("groups-reset-skips").with("n", skipped),
        _ if queue.changes() => Msg::new("groups-reset-moves"),
        _ => Msg::new("groups-reset-same"),
    }
}
