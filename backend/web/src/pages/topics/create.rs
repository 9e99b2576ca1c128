//! A new topic: the form, and the form again with what is wrong, or on to the topic with what came of it.

use std::time::Duration;

use askama::Template;
use axum::extract::RawForm;
use axum::http::StatusCode;
use axum::response::Response;
use millrace_console::topics::NewTopicForm;
use millrace_console::{ConsoleError, FieldErrors};

use super::fields::{Fields, wrong};
use super::{WHO, failure, outcome_flash};
use crate::i18n::Msg;
use crate::links;
use crate::render::filters;
use crate::{ClusterView, Cx, Failure, InCluster};

/// How long the next page waits for a snapshot that has what was just done.
pub(crate) const REFRESH: Duration = Duration::from_secs(3);

#[derive(Template)]
#[template(path = "topics/new.html", blocks = ["form"])]
struct New {
    cluster: String,
    form: NewTopicForm,
    /// All brokers, with whether they are chosen.
    brokers: Vec<(String, bool)>,
    name_error: Option<String>,
    write_queues_error: Option<String>,
    read_queues_error: Option<String>,
    perm_error: Option<String>,
    type_error: Option<String>,
    brokers_error: Option<String>,
    wrong: usize,
}

impl New {
    fn of(view: &ClusterView, cx: &Cx, form: NewTopicForm, errors: &FieldErrors) -> Self {
        let of = |field| wrong(errors, field, cx.locale);
        let snapshot = view.console.snapshot();
        let brokers = snapshot.brokers.iter().map(|state| {
            let name = state.broker.name.clone();
            let chosen = form.brokers.contains(&name);
            (name, chosen)
        });
        Self {
            cluster: view.name.clone(),
            brokers: brokers.collect(),
            name_error: of("name"),
            write_queues_error: of("write_queues"),
            read_queues_error: of("read_queues"),
            perm_error: of("perm"),
            type_error: of("message_type"),
            brokers_error: of("brokers"),
            wrong: errors.0.len(),
            form,
        }
    }
}

pub(crate) async fn form(InCluster { cx, view }: InCluster) -> Result<Response, Failure> {
    if !view.console.writable() {
        return Err(Failure::ReadOnly(view.name.clone()));
    }
    let form = NewTopicForm::suggested(&view.console.snapshot());
    cx.html(&New::of(&view, &cx, form, &FieldErrors::default()))
}

pub(crate) async fn create(InCluster { cx, view }: InCluster, RawForm(bytes): RawForm) -> Result<Response, Failure> {
    let fields = Fields::read(&bytes);
    let form = NewTopicForm {
        name: fields.one("name"),
        write_queues: fields.one("write_queues"),
        read_queues: fields.one("read_queues"),
        perm: fields.one("perm"),
        message_type: fields.one("message_type"),
        brokers: fields.all("brokers"),
    };
    match view.console.create_topic(WHO, &form).await {
        Ok(outcomes) => {
            let name = form.name.trim();
            let all = Msg::new("topics-created").with("topic", name);
            let some = Msg::new("topics-created-some").with("topic", name);
            let to = if outcomes.succeeded() > 0 {
                view.console.snapshots().refresh(REFRESH).await;
                links::topic(&view.name, name)
            } else {
                links::topics(&view.name)
            };
            Ok(cx.see_other(&to, Some(outcome_flash(&outcomes, all, some))))
        }
        Err(ConsoleError::Invalid(errors)) => {
            let page = New::of(&view, &cx, form, &errors);
            match cx.hx.target() {
                Some("form") => cx.html_with(StatusCode::UNPROCESSABLE_ENTITY, &page.as_form()),
                _ => cx.html_with(StatusCode::UNPROCESSABLE_ENTITY, &page),
            }
        }
        Err(error) => Err(failure(&view, error)),
    }
}
