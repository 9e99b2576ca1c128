//! One message: who and where it is, its properties, its body for reading, and its body as it was sent.

use askama::Template;
use axum::body::Body;
use axum::extract::Path;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum_extra::extract::Query;
use millrace_broker::Message;
use millrace_console::messages::{BodyText, BodyView, Charset};
use millrace_core::name::QueueRef;
use millrace_core::time::Millis;
use serde::Deserialize;

use crate::i18n::Msg;
use crate::links::{self, Link};
use crate::pages::topics::failure;
use crate::pages::topics::head::{Head, Part};
use crate::render::filters;
use crate::{ClusterView, Failure, InCluster, format};

/// Bytes of a body that are shown at first, and on demand. More can be had as a file.
const SHOWN: usize = 64 * 1024;
const SHOWN_ON_DEMAND: usize = 2 * 1024 * 1024;

#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Asked {
    /// `auto`, `gbk` or `hex`.
    #[serde(default, rename = "as")]
    charset: String,
    /// `1`: as much of the body as the page can bear.
    #[serde(default)]
    all: String,
}

pub(crate) type Place = Path<(String, String, String, i32, i64)>;

#[derive(Template)]
#[template(path = "messages/show.html")]
struct Show {
    head: Head,
    queue: QueueRef,
    offset: i64,
    stored: Millis,
    born: Millis,
    born_host: String,
    store_host: String,
    uniq_id: Option<String>,
    offset_id: String,
    keys: Vec<(String, Link)>,
    tag: String,
    reconsumed: i32,
    store_size: i32,
    sys_flag: i32,
    commit_log_offset: i64,
    properties: Vec<(String, String)>,
    body: BodyView,
    size: String,
    shown: String,
    text: Option<String>,
    how: Msg,
    ways: Vec<(Msg, bool, Link)>,
    more: Option<Link>,
    download: Link,
    earlier: Option<Link>,
    later: Link,
}

impl Show {
    fn of(view: &ClusterView, message: &Message, asked: &Asked) -> Self {
        let charset = Charset::parse(&asked.charset).unwrap_or_default();
        let limit = if asked.all == "1" { SHOWN_ON_DEMAND } else { SHOWN };
        let body = BodyView::of(&message.body, charset, limit);
        let here = links::message(&view.name, &message.queue, message.offset);
        let way = |word, way: Charset| (word, way == charset, here.clone().with("as", way.word()));
        let at = |offset| links::message(&view.name, &message.queue, offset);
        Self {
            head: Head::of(view, &message.queue.topic, Part::Messages),
            queue: message.queue.clone(),
            offset: message.offset,
            stored: message.stored,
            born: message.born,
            born_host: message.born_host.clone(),
            store_host: message.store_host.clone(),
            uniq_id: message.uniq_id.clone(),
            offset_id: message.offset_id.clone(),
            keys: message.keys().map(|key| (key.to_owned(), links::record(&view.name, key))).collect(),
            tag: message.tags().unwrap_or_default().to_owned(),
            reconsumed: message.reconsume_times,
            store_size: message.store_size,
            sys_flag: message.sys_flag,
            commit_log_offset: message.commit_log_offset,
            properties: message.properties.clone(),
            text: (body.text != BodyText::Empty).then(|| body.text.as_str().to_owned()),
            size: format::bytes(body.size as u64),
            shown: format::bytes(body.shown as u64),
            how: how(&body),
            ways: vec![
                way(Msg::new("messages-as-auto"), Charset::Auto),
                way(Msg::new("messages-as-gbk"), Charset::Gbk),
                way(Msg::new("messages-as-hex"), Charset::Hex),
            ],
            more: (body.truncated() && asked.all != "1")
                .then(|| here.clone().with("as", charset.word()).with("all", "1")),
            download: links::message_body(&view.name, &message.queue, message.offset),
            earlier: (message.offset > 0).then(|| at(message.offset - 1)),
            later: at(message.offset + 1),
            body,
        }
    }
}

/// How the body is shown.
fn how(body: &BodyView) -> Msg {
    match &body.text {
        BodyText::Empty => Msg::new("messages-body-empty"),
        BodyText::Json(_) => Msg::new("messages-body-json"),
        BodyText::Text(_) if body.damaged => Msg::new("messages-body-damaged"),
        BodyText::Text(_) => Msg::new("messages-body-text"),
        BodyText::Hex(_) if body.not_utf8 => Msg::new("messages-body-binary"),
        BodyText::Hex(_) => Msg::new("messages-body-hex"),
    }
}

async fn read(view: &ClusterView, place: Place) -> Result<Message, Failure> {
    let Path((_, topic, broker, queue, offset)) = place;
    let queue = QueueRef { topic, broker, queue };
    view.console.message_at(&queue, offset).await.map_err(|error| failure(view, error))
}

pub(crate) async fn show(
    InCluster { cx, view }: InCluster,
    place: Place,
    Query(asked): Query<Asked>,
) -> Result<Response, Failure> {
    let message = read(&view, place).await?;
    cx.html(&Show::of(&view, &message, &asked))
}

/// The body's bytes as a file: never shown by the browser, whatever they are.
pub(crate) async fn body(InCluster { view, .. }: InCluster, place: Place) -> Result<Response, Failure> {
    let message = read(&view, place).await?;
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '_' };
    let topic: String = message.queue.topic.chars().map(plain).collect();
    let name = format!("attachment; filename=\"{topic}-{}-{}.bin\"", message.queue.queue, message.offset);
    let mut response = Body::from(message.body.bytes).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    if let Ok(name) = HeaderValue::try_from(name) {
        headers.insert(header::CONTENT_DISPOSITION, name);
    }
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}
