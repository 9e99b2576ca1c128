//! Look-up by record key. A broker answers at most 64; that more may exist is told, with the time to go on from.

use futures::future::join_all;
use millrace_broker::{BrokerError, KeyHits, Message};
use millrace_core::coverage::Coverage;
use millrace_core::time::Millis;

use super::place;
use super::window::DEADLINE;
use crate::console::Console;
use crate::error::{ConsoleError, Result};
use crate::form::FieldErrors;
use crate::snapshot::within;

/// The most that a broker answers to one look-up.
pub const KEY_CAP: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyQuery {
    pub key: String,
    /// `None`: since ever.
    pub from: Option<Millis>,
    /// `None`: until now and a day, as clocks differ.
    pub to: Option<Millis>,
}

/// What was found for a key.
#[derive(Debug)]
pub struct Keyed {
    /// Newest first, each place once.
    pub messages: Vec<Message>,
    /// The key that was searched: what was typed, without the blanks around it.
    pub key: String,
    pub from: Millis,
    pub to: Millis,
    /// Brokers that answered as many as they ever do: they may have more.
    pub capped: Vec<String>,
    /// With a cap: searching up to here finds older ones.
    pub older: Option<Millis>,
    /// Hits that had another key: the broker's index goes by a hash.
    pub foreign: usize,
    pub coverage: Coverage,
}

impl Console {
    /// # Errors
    /// `Invalid` for an empty key or a range whose end is before its start; `NotFound` for a topic that is not there;
    /// the broker's error where no broker answered.
    pub async fn messages_by_key(&self, topic: &str, query: &KeyQuery) -> Result<Keyed> {
        let key = query.key.trim();
        if key.is_empty() {
            return Err(FieldErrors::one("key", "key-empty").into());
        }
        let from = query.from.unwrap_or(Millis(0));
        let to = query.to.unwrap_or_else(|| self.now().plus(86_400_000));
        if to < from {
            return Err(FieldErrors::one("to", "range-reversed").into());
        }
        let brokers = self.brokers_for_look_up(topic).await?;
        let answers = join_all(brokers.iter().map(|broker| async move {
            (broker, within(DEADLINE, broker, self.read().messages_by_key(broker, topic, key, from, to)).await)
        }))
        .await;
        let mut found = Keyed {
            messages: Vec::new(),
            key: key.to_owned(),
            from,
            to,
            capped: Vec::new(),
            older: None,
            foreign: 0,
            coverage: Coverage::default(),
        };
        let mut error = None;
        for (broker, answer) in answers {
            match answer {
                Ok(hits) => {
                    found.coverage.answer();
                    found.take(broker, hits, topic);
                }
                // No match is an answer.
                Err(BrokerError::NotFound(_)) => found.coverage.answer(),
                Err(failed) => {
                    found.coverage.miss(broker, &failed);
                    error = Some(failed);
                }
            }
        }
        if let (0, Some(error)) = (found.coverage.answered, error) {
            return Err(error.into());
        }
        found.coverage.as_of = Some(self.now());
        found.messages.sort_by(|a, b| place(b).cmp(&place(a)));
        found.messages.dedup_by(|a, b| place(a) == place(b));
        Ok(found)
    }

    /// Brokers to search in.
    pub(super) async fn brokers_for_look_up(&self, topic: &str) -> Result<std::collections::BTreeSet<String>> {
        let route = within(DEADLINE, "the name servers", self.read().route(topic)).await;
        let brokers = self.brokers_of(topic, None, route.as_ref().ok());
        if brokers.is_empty() {
            return Err(route.err().map_or_else(|| ConsoleError::NotFound(format!("topic {topic}")), Into::into));
        }
        Ok(brokers)
    }
}

impl Keyed {
    fn take(&mut self, broker: &str, hits: KeyHits, topic: &str) {
        if hits.capped {
            self.capped.push(broker.to_owned());
            // Each capped broker is complete down to its own oldest hit: the newest of those is where to go on. Where
            // they are not older than what was asked for, the broker has no way to tell more.
            self.older = self.older.max(hits.oldest.filter(|oldest| *oldest < self.to));
        }
        for message in hits.messages {
            if message.queue.topic == topic && message.keys().any(|key| key == self.key) {
                if (self.from..=self.to).contains(&message.stored) {
                    self.messages.push(message);
                }
            } else {
                self.foreign += 1;
            }
        }
    }
}
