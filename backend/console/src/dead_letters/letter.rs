//! A group's dead letters, with where each came from and whether it was sent again.

use std::collections::BTreeMap;

use millrace_broker::Message;
use millrace_core::name::{DLQ_PREFIX, QueueRef};
use millrace_store::Resent;

use crate::console::Console;
use crate::error::Result;
use crate::messages::{Browse, Cursor, Limits, Page};

/// What a dead letter says of the message that it is a copy of.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Origin {
    pub topic: Option<String>,
    /// Offset message id of the original.
    pub message_id: Option<String>,
}

impl Origin {
    /// Brokers name both in properties of the copy; 5.x brokers in two more of their own.
    pub fn of(message: &Message) -> Self {
        let first = |names: [&str; 2]| {
            names.into_iter().find_map(|name| message.property(name)).filter(|text| !text.is_empty()).map(str::to_owned)
        };
        Self {
            topic: first(["RETRY_TOPIC", "DLQ_ORIGIN_TOPIC"]),
            message_id: first(["ORIGIN_MESSAGE_ID", "DLQ_ORIGIN_MESSAGE_ID"]),
        }
    }
}

#[derive(Debug)]
pub struct DeadLetters {
    /// As every topic is browsed.
    pub page: Page,
    pub letters: Vec<DeadLetter>,
    /// Why it is not known which were sent again.
    pub resent_error: Option<String>,
}

/// What is said of one row of the page, in its order.
#[derive(Debug, Clone)]
pub struct DeadLetter {
    pub origin: Origin,
    /// The last time that it was sent again.
    pub resent: Option<Resent>,
}

impl Console {
    /// # Errors
    /// As [`Console::browse`]: `NotFound` where the group has no dead-letter topic.
    pub async fn dead_letters(
        &self,
        group: &str,
        browse: &Browse,
        size: usize,
        cursor: Option<Cursor>,
        limits: Limits,
    ) -> Result<DeadLetters> {
        let topic = format!("{DLQ_PREFIX}{group}");
        let page = self.browse(&topic, browse, size, cursor, limits).await?;
        let mut spans: BTreeMap<&QueueRef, (i64, i64)> = BTreeMap::new();
        for message in page.rows.iter().map(|row| &row.message) {
            let span = spans.entry(&message.queue).or_insert((message.offset, message.offset));
            *span = (span.0.min(message.offset), span.1.max(message.offset));
        }
        let mut resent: BTreeMap<(QueueRef, i64), Resent> = BTreeMap::new();
        let mut resent_error = None;
        for (queue, (from, to)) in spans {
            match self.resends().resent(self.name(), queue, from, to).await {
                // Newest first: the first of a place stays.
                Ok(found) => found.into_iter().for_each(|one| {
                    resent.entry((one.queue.clone(), one.offset)).or_insert(one);
                }),
                Err(error) => resent_error = Some(error.to_string()),
            }
        }
        let letters = page.rows.iter().map(|row| DeadLetter {
            origin: Origin::of(&row.message),
            resent: resent.remove(&(row.message.queue.clone(), row.message.offset)),
        });
        Ok(DeadLetters { letters: letters.collect(), page, resent_error })
    }
}
