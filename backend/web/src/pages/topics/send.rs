//! A test message: the form, and the form again with what is wrong, or straight on to the record.

use askama::Template;
use axum::extract::{Path, RawForm};
use axum::http::StatusCode;
use axum::response::Response;
use millrace_broker::StoreStatus;
use millrace_console::topics::{MAX_MESSAGE_BYTES, Sent, TestMessageForm};
use millrace_console::{ConsoleError, FieldErrors};

use super::fields::{Fields, wrong};
use super::head::{Head, Part};
use super::{WHO, failure};
use crate::cx::Flash;
use crate::i18n::Msg;
use crate::render::filters;
use crate::{ClusterView, Cx, Failure, InCluster, format, links, pages};

#[derive(Template)]
#[template(path = "topics/send.html", blocks = ["form"])]
struct Send {
    head: Head,
    form: TestMessageForm,
    most: String,
    topic_error: Option<String>,
    keys_error: Option<String>,
    tag_error: Option<String>,
    properties_error: Option<String>,
    body_error: Option<String>,
}

impl Send {
    fn of(view: &ClusterView, cx: &Cx, topic: &str, form: TestMessageForm, errors: &FieldErrors) -> Self {
        let of = |field| wrong(errors, field, cx.locale);
        Self {
            head: Head::of(view, topic, Part::Form),
            form,
            most: format::bytes(MAX_MESSAGE_BYTES as u64),
            topic_error: of("topic"),
            keys_error: of("keys"),
            tag_error: of("tag"),
            properties_error: of("properties"),
            body_error: of("body"),
        }
    }
}

pub(crate) async fn form(
    InCluster { cx, view }: InCluster,
    Path((_, topic)): Path<(String, String)>,
) -> Result<Response, Failure> {
    if !view.console.sendable() {
        return Err(Failure::ReadOnly(view.name.clone()));
    }
    view.console.topic(&topic).await.map_err(|error| failure(&view, error))?;
    cx.html(&Send::of(&view, &cx, &topic, TestMessageForm::default(), &FieldErrors::default()))
}

pub(crate) async fn send(
    InCluster { cx, view }: InCluster,
    Path((_, topic)): Path<(String, String)>,
    RawForm(bytes): RawForm,
) -> Result<Response, Failure> {
    let fields = Fields::read(&bytes);
    let form = TestMessageForm {
        keys: fields.one("keys"),
        tag: fields.one("tag"),
        properties: fields.lines("properties"),
        body: fields.lines("body"),
    };
    match view.console.send_test_message(WHO, &topic, &form).await {
        Ok(sent) => {
            let to = if pages::nav::has_records() {
                links::record(&view.name, &sent.look_up)
            } else {
                links::message(&view.name, &sent.receipt.queue, sent.receipt.offset)
            };
            Ok(cx.see_other(&to, Some(flash(&sent))))
        }
        Err(ConsoleError::Invalid(errors)) => {
            let page = Send::of(&view, &cx, &topic, form, &errors);
            match cx.hx.target() {
                Some("form") => cx.html_with(StatusCode::UNPROCESSABLE_ENTITY, &page.as_form()),
                _ => cx.html_with(StatusCode::UNPROCESSABLE_ENTITY, &page),
            }
        }
        Err(error) => Err(failure(&view, error)),
    }
}

fn flash(sent: &Sent) -> Flash {
    let place = |msg: Msg| {
        msg.with("id", &sent.receipt.message_id)
            .with("broker", &sent.receipt.queue.broker)
            .with("queue", sent.receipt.queue.queue)
            .with("offset", sent.receipt.offset)
    };
    match sent.receipt.status {
        StoreStatus::Ok if sent.audit_error.is_none() => Flash::ok(place(Msg::new("topics-sent"))),
        StoreStatus::Ok => {
            Flash::warn(Msg::new("topics-not-audited").with("why", sent.audit_error.as_deref().unwrap_or_default()))
        }
        StoreStatus::FlushDiskTimeout => Flash::warn(place(Msg::new("topics-sent-flush"))),
        StoreStatus::FlushSlaveTimeout | StoreStatus::SlaveNotAvailable => {
            Flash::warn(place(Msg::new("topics-sent-replica")))
        }
    }
}
