//! A message in a list.

use millrace_broker::Message;
use millrace_console::messages::{BodyText, Row};
use millrace_core::time::Millis;

use crate::links::{self, Link};

/// Bytes of a body that a list shows.
const PREVIEW: usize = 160;

pub(crate) struct MessageRow {
    pub(crate) link: Link,
    pub(crate) stored: Millis,
    pub(crate) broker: String,
    pub(crate) queue: i32,
    pub(crate) offset: i64,
    /// With the page of each record.
    pub(crate) keys: Vec<(String, Link)>,
    pub(crate) id: String,
    pub(crate) tag: String,
    pub(crate) size: u64,
    pub(crate) body: String,
    pub(crate) binary: bool,
    pub(crate) redelivered: i32,
}

impl MessageRow {
    pub(crate) fn of(cluster: &str, message: &Message, body_size: usize) -> Self {
        let body = BodyText::first_line(&message.body, PREVIEW);
        Self {
            link: links::message(cluster, &message.queue, message.offset),
            stored: message.stored,
            broker: message.queue.broker.clone(),
            queue: message.queue.queue,
            offset: message.offset,
            keys: message.keys().map(|key| (key.to_owned(), links::record(cluster, key))).collect(),
            id: message.id().to_owned(),
            tag: message.tags().unwrap_or_default().to_owned(),
            size: body_size as u64,
            binary: matches!(body, BodyText::Hex(_)),
            body: body.as_str().to_owned(),
            redelivered: message.reconsume_times,
        }
    }

    pub(crate) fn of_row(cluster: &str, row: &Row) -> Self {
        Self::of(cluster, &row.message, row.body_size)
    }

    pub(crate) fn of_message(cluster: &str, message: &Message) -> Self {
        Self::of(cluster, message, message.body.bytes.len())
    }
}
