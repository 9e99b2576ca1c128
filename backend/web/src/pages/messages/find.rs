//! Messages of all topics: choose one to browse, or find a message by its id alone.

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;
use axum_extra::extract::Query;
use millrace_console::{ConsoleError, FieldErrors};
use millrace_core::coverage::Coverage;
use millrace_core::name::TopicKind;
use serde::Deserialize;

use super::browse::taken_for;
use super::row::MessageRow;
use crate::i18n::Msg;
use crate::links;
use crate::pages::topics::failure;
use crate::pages::topics::fields::wrong;
use crate::render::filters;
use crate::{Failure, InCluster};

#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Asked {
    #[serde(default)]
    topic: String,
    #[serde(default)]
    id: String,
}

#[derive(Template)]
#[template(path = "messages/find.html")]
struct Find {
    cluster: String,
    asked: Asked,
    topics: Vec<String>,
    topic_error: Option<String>,
    found: Option<Found>,
}

struct Found {
    rows: Vec<MessageRow>,
    said: Msg,
    taken_for: Msg,
    coverage: Coverage,
    covered: Msg,
}

pub(crate) async fn show(InCluster { cx, view }: InCluster, Query(asked): Query<Asked>) -> Result<Response, Failure> {
    let topic = asked.topic.trim().to_owned();
    let id = asked.id.trim().to_owned();
    if id.is_empty() && !topic.is_empty() {
        return Ok(cx.see_other(&links::topic_part(&view.name, &topic, "messages"), None));
    }
    let mut errors = FieldErrors::default();
    let mut found = None;
    if !id.is_empty() {
        let topic = (!topic.is_empty()).then_some(topic.as_str());
        match view.console.messages_by_id(topic, &id).await {
            Ok(looked) => {
                found = Some(Found {
                    rows: looked.messages.iter().map(|m| MessageRow::of_message(&view.name, m)).collect(),
                    said: Msg::new("messages-found-id").with("n", looked.messages.len()),
                    taken_for: taken_for(&looked.taken_for),
                    covered: crate::pages::brokers_covered(&looked.coverage),
                    coverage: looked.coverage,
                });
            }
            Err(ConsoleError::Invalid(wrong)) => errors = wrong,
            Err(error) => return Err(failure(&view, error)),
        }
    }
    let status = if errors.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let snapshot = view.console.snapshot();
    let own = snapshot.topics.values().filter(|topic| topic.kind != TopicKind::System);
    let page = Find {
        cluster: view.name.clone(),
        topics: own.take(1_000).map(|topic| topic.name.clone()).collect(),
        topic_error: wrong(&errors, "topic", cx.locale),
        asked,
        found,
    };
    cx.html_with(status, &page)
}
