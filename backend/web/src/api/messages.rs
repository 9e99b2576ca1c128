//! Messages.

use axum::Json;
use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use axum_extra::extract::Query;
use millrace_broker::Message as Stored;
use millrace_console::messages::{Cursor, KeyQuery, Limits};
use millrace_console::topics::TestMessageForm;
use millrace_console::{ConsoleError, FieldErrors};
use millrace_core::name::QueueRef;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Covered;
use super::topics::refused;
use crate::component::code;
use crate::pages::messages::browse::{Asked, By, Times, browse_of};
use crate::pages::messages::show::Place;
use crate::pages::topics::{WHO, failure};
use crate::{ClusterView, Cx, Failure, InCluster};

/// Bytes of a body in an answer about one message, and in a list.
const WHOLE: usize = 4 * 1024 * 1024;
const START: usize = 1024;

#[derive(Debug, Serialize, ToSchema)]
#[expect(clippy::struct_field_names, reason = "the names of the JSON")]
pub(crate) struct Messages {
    messages: Vec<Message>,
    /// Messages on all pages together, as counted for the first; null for look-ups.
    total: Option<i64>,
    /// `cursor` of the next page; null at the end.
    next: Option<String>,
    /// What stopped this page early: `time`, `pulls`, `bytes`, or `broker_cap` for a key with more than a broker answers.
    limit: Option<String>,
    /// With `broker_cap`: ask again with `to` as this instant.
    older: Option<i64>,
    /// What an id was taken for.
    #[schema(value_type = Option<Object>)]
    taken_for: Option<serde_json::Value>,
    coverage: Covered,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Message {
    topic: String,
    broker: String,
    queue: i32,
    offset: i64,
    /// The client's unique id.
    uniq_id: Option<String>,
    offset_id: String,
    keys: Vec<String>,
    tag: Option<String>,
    born: i64,
    born_host: String,
    stored: i64,
    store_host: String,
    reconsume_times: i32,
    /// In the order of the wire; names may repeat.
    properties: Vec<Property>,
    /// Bytes of the whole body.
    body_size: usize,
    /// Bytes of it in `body`.
    body_shown: usize,
    /// `utf-8`, or `hex` where the bytes are not text.
    body_encoding: &'static str,
    body: String,
    /// Why a compressed body is as stored.
    inflate_error: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Property {
    name: String,
    value: String,
}

/// A message to send, with message trace on.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct NewMessage {
    keys: Vec<String>,
    tag: String,
    #[schema(value_type = Object)]
    properties: std::collections::BTreeMap<String, String>,
    body: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Receipt {
    message_id: String,
    offset_id: Option<String>,
    broker: String,
    queue: i32,
    offset: i64,
    /// `ok`, `flush_disk_timeout`, `flush_slave_timeout` or `slave_not_available`: stored in every case.
    status: &'static str,
    /// What its record is looked up by.
    look_up: String,
    audit_error: Option<String>,
}

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}

impl Message {
    fn of(message: &Stored, body_size: usize, limit: usize) -> Self {
        let bytes = message.body.bytes.as_ref();
        let start = bytes.get(..limit).unwrap_or(bytes);
        // A text that was cut within a character is text all the same.
        let text = match std::str::from_utf8(start) {
            Ok(text) => Some(text),
            Err(error) if error.error_len().is_none() && start.len() < body_size => {
                start.get(..error.valid_up_to()).and_then(|start| std::str::from_utf8(start).ok())
            }
            Err(_) => None,
        };
        let (body_encoding, body, body_shown) = match text {
            Some(text) => ("utf-8", text.to_owned(), text.len()),
            None => ("hex", hex(start), start.len()),
        };
        Self {
            topic: message.queue.topic.clone(),
            broker: message.queue.broker.clone(),
            queue: message.queue.queue,
            offset: message.offset,
            uniq_id: message.uniq_id.clone(),
            offset_id: message.offset_id.clone(),
            keys: message.keys().map(str::to_owned).collect(),
            tag: message.tags().map(str::to_owned),
            born: message.born.0,
            born_host: message.born_host.clone(),
            stored: message.stored.0,
            store_host: message.store_host.clone(),
            reconsume_times: message.reconsume_times,
            properties: message
                .properties
                .iter()
                .map(|(name, value)| Property { name: name.clone(), value: value.clone() })
                .collect(),
            body_size,
            body_shown,
            body_encoding,
            body,
            inflate_error: message.body.inflate_error.clone(),
        }
    }

    pub(super) fn start(message: &Stored) -> Self {
        Self::of(message, message.body.bytes.len(), START)
    }
}

/// Browses a topic, newest first unless asked otherwise, or looks up a key or an id.
#[utoipa::path(
    get, path = "/api/v1/clusters/{cluster}/topics/{topic}/messages", tag = "messages",
    params(
        ("cluster" = String, Path, description = "the cluster's name"), ("topic" = String, Path, description = "the topic's name"),
        ("by" = Option<String>, Query, description = "newest, time, offset, key or id"),
        ("from" = Option<String>, Query, description = "by time and key: ISO 8601 (UTC without an offset), epoch in s, ms, µs or ns, or -15m; included"),
        ("to" = Option<String>, Query, description = "by time and key: as from; included"),
        ("order" = Option<String>, Query, description = "by time and offset: newest or oldest first"),
        ("broker" = Option<String>, Query, description = "by offset"),
        ("queue" = Option<i32>, Query, description = "by offset"),
        ("offset" = Option<i64>, Query, description = "by offset"),
        ("key" = Option<String>, Query, description = "by key"),
        ("id" = Option<String>, Query, description = "by id: a client's unique id, a gRPC client's or an offset id"),
        ("size" = Option<usize>, Query, description = "rows of a page, 200 at most"),
        ("cursor" = Option<String>, Query, description = "next of the page before"),
    ),
    responses((status = 200, body = Messages), (status = 404, body = super::Problem), (status = 422, body = super::topics::WrongFields)),
)]
pub(crate) async fn browse(
    InCluster { cx, view }: InCluster,
    Path((_, topic)): Path<(String, String)>,
    Query(asked): Query<Asked>,
) -> Result<Response, Failure> {
    match find(&view, &cx, &topic, &asked).await {
        Ok(found) => Ok(Json(found).into_response()),
        Err(error) => refused(&view, error),
    }
}

async fn find(view: &ClusterView, cx: &Cx, topic: &str, asked: &Asked) -> Result<Messages, ConsoleError> {
    // Programs have no zone: what has no offset is UTC.
    let times = Times::read(asked, &crate::format::Zone::default(), cx.now)?;
    match asked.by() {
        By::Key => {
            let query = KeyQuery {
                key: asked.key.clone(),
                from: times.from.map(|instant| instant.at),
                to: times.to.map(|instant| instant.at),
            };
            let keyed = view.console.messages_by_key(topic, &query).await?;
            Ok(Messages {
                messages: keyed.messages.iter().map(Message::start).collect(),
                total: None,
                next: None,
                limit: (!keyed.capped.is_empty()).then(|| "broker_cap".to_owned()),
                older: keyed.older.map(|at| at.0),
                taken_for: None,
                coverage: Covered::from(&keyed.coverage),
            })
        }
        By::Id => {
            let looked = view.console.messages_by_id(Some(topic), &asked.id).await?;
            Ok(Messages {
                messages: looked.messages.iter().map(Message::start).collect(),
                total: None,
                next: None,
                limit: None,
                older: None,
                taken_for: serde_json::to_value(&looked.taken_for).ok(),
                coverage: Covered::from(&looked.coverage),
            })
        }
        By::Newest | By::Time | By::Offset => {
            let browse = browse_of(asked, times, cx.now)?;
            let cursor = (!asked.cursor.is_empty())
                .then(|| Cursor::parse(&asked.cursor, topic))
                .transpose()
                .map_err(|_| FieldErrors::one("cursor", "cursor-damaged"))?;
            let size = asked.size.unwrap_or(32);
            let page = view.console.browse(topic, &browse, size, cursor, Limits::default()).await?;
            Ok(Messages {
                messages: page.rows.iter().map(|row| Message::of(&row.message, row.body_size, START)).collect(),
                total: Some(page.total),
                next: page.next.map(|next| next.encode()),
                limit: page.limit.map(code),
                older: None,
                taken_for: None,
                coverage: Covered::from(&page.coverage),
            })
        }
    }
}

/// One message, whole.
#[utoipa::path(
    get, path = "/api/v1/clusters/{cluster}/topics/{topic}/messages/{broker}/{queue}/{offset}", tag = "messages",
    params(
        ("cluster" = String, Path, description = "the cluster's name"), ("topic" = String, Path, description = "the topic's name"),
        ("broker" = String, Path, description = "the broker's name"), ("queue" = i32, Path, description = "the queue's number"),
        ("offset" = i64, Path, description = "the offset in the queue"),
    ),
    responses((status = 200, body = Message), (status = 404, body = super::Problem)),
)]
pub(crate) async fn show(
    InCluster { view, .. }: InCluster,
    Path((_, topic, broker, queue, offset)): Place,
) -> Result<Json<Message>, Failure> {
    let queue = QueueRef { topic, broker, queue };
    let message = view.console.message_at(&queue, offset).await.map_err(|error| failure(&view, error))?;
    Ok(Json(Message::of(&message, message.body.bytes.len(), WHOLE)))
}

/// Sends one message with message trace on.
#[utoipa::path(
    post, path = "/api/v1/clusters/{cluster}/topics/{topic}/messages", tag = "messages", request_body = NewMessage,
    params(("cluster" = String, Path, description = "the cluster's name"), ("topic" = String, Path, description = "the topic's name")),
    responses((status = 200, body = Receipt), (status = 403, body = super::Problem), (status = 404, body = super::Problem), (status = 422, body = super::topics::WrongFields)),
)]
pub(crate) async fn send(
    InCluster { view, .. }: InCluster,
    Path((_, topic)): Path<(String, String)>,
    Json(new): Json<NewMessage>,
) -> Result<Response, Failure> {
    // The form has a line each: what would read as another line or another name is refused, not reshaped.
    let breaks = |text: &str| text.contains(['\n', '\r']);
    if new.properties.iter().any(|(name, value)| breaks(name) || breaks(value) || name.contains('=')) {
        return refused(&view, FieldErrors::one("properties", "property-shape").into());
    }
    let properties: Vec<String> = new.properties.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let form =
        TestMessageForm { keys: new.keys.join(" "), tag: new.tag, properties: properties.join("\n"), body: new.body };
    match view.console.send_test_message(WHO, &topic, &form).await {
        Ok(sent) => Ok(Json(Receipt {
            message_id: sent.receipt.message_id,
            offset_id: sent.receipt.offset_id,
            broker: sent.receipt.queue.broker,
            queue: sent.receipt.queue.queue,
            offset: sent.receipt.offset,
            status: sent.receipt.status.code(),
            look_up: sent.look_up,
            audit_error: sent.audit_error,
        })
        .into_response()),
        Err(error) => refused(&view, error),
    }
}
