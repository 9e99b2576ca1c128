//! Look-up by message id: says what the id was taken for, and dials no address but the cluster's own.

use futures::future::join_all;
use millrace_broker::{Broker, BrokerError, Located, Message, locate};
use millrace_core::coverage::Coverage;
use millrace_core::id::IdKind;
use millrace_core::time::Millis;
use serde::Serialize;

use super::place;
use super::window::DEADLINE;
use crate::console::Console;
use crate::error::{ConsoleError, Result};
use crate::form::FieldErrors;
use crate::snapshot::within;

/// What an id was taken for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TakenFor {
    /// A client's unique id.
    Uniq,
    /// A gRPC client's unique id.
    Grpc,
    /// A broker's offset id, of this broker.
    Offset { broker: String },
    /// It looks like an offset id, but no broker of this cluster has its address; so it was searched as a unique id.
    UniqDespiteShape { address: String },
    /// No known shape; searched as a unique id all the same, as clients may set their own.
    Other,
}

#[derive(Debug)]
pub struct Looked {
    pub taken_for: TakenFor,
    /// Newest first. Several with one unique id: the client sent again.
    pub messages: Vec<Message>,
    pub coverage: Coverage,
}

impl Console {
    /// Finds messages by id. An offset id says where it lies; any other needs the topic.
    ///
    /// # Errors
    /// `Invalid` for an empty id, or where the topic is needed; the broker's error where no broker answered. An id that
    /// is not there is an empty answer.
    pub async fn messages_by_id(&self, topic: Option<&str>, id: &str) -> Result<Looked> {
        let id = id.trim();
        if id.is_empty() {
            return Err(FieldErrors::one("id", "id-empty").into());
        }
        let mut failed = Vec::new();
        let taken_for = match IdKind::of(id) {
            IdKind::Offset(offset) => {
                let brokers: Vec<Broker> = self.snapshot().brokers.iter().map(|state| state.broker.clone()).collect();
                let located = locate(self.read(), &brokers, &offset).await;
                if let Some(broker) = located.broker.clone() {
                    return self.by_offset_id(topic, broker, located, id).await;
                }
                failed = located.failed;
                TakenFor::UniqDespiteShape { address: format!("{}:{}", offset.address, offset.port) }
            }
            IdKind::Uniq(_) => TakenFor::Uniq,
            IdKind::Grpc(_) => TakenFor::Grpc,
            IdKind::Key => TakenFor::Other,
        };
        // A broker that does not answer may be the one that has it.
        if let (None, Some((_, error))) = (topic, failed.first()) {
            return Err(error.clone().into());
        }
        let Some(topic) = topic else {
            return Err(FieldErrors::one("topic", "topic-needed-for-id").into());
        };
        // Clients write their ids in upper case; people paste them in any.
        let id = if taken_for == TakenFor::Other { id.to_owned() } else { id.to_ascii_uppercase() };
        let mut looked = self.by_uniq_id(topic, &id, taken_for).await?;
        for (broker, error) in &failed {
            looked.coverage.miss(broker, error);
        }
        Ok(looked)
    }

    async fn by_offset_id(&self, topic: Option<&str>, broker: String, located: Located, id: &str) -> Result<Looked> {
        let Located { message, answered, failed, .. } = located;
        if let (0, Some((_, error))) = (answered, failed.first()) {
            return Err(error.clone().into());
        }
        let mut coverage = Coverage::default();
        (0..answered).for_each(|_| coverage.answer());
        for (broker, error) in &failed {
            coverage.miss(broker, error);
        }
        coverage.as_of = Some(self.now());
        // Another process may have the shape by chance: then the id is a unique one.
        if let (None, Some(topic)) = (&message, topic)
            && let Ok(looked) = self.by_uniq_id(topic, &id.to_ascii_uppercase(), TakenFor::Uniq).await
            && !looked.messages.is_empty()
        {
            return Ok(looked);
        }
        let taken_for = TakenFor::Offset { broker };
        Ok(Looked { taken_for, messages: message.into_iter().collect(), coverage })
    }

    async fn by_uniq_id(&self, topic: &str, id: &str, taken_for: TakenFor) -> Result<Looked> {
        let brokers = self.brokers_for_look_up(topic).await?;
        // Times inside ids are not relied on: the zone is unknown, and the epoch differs by client.
        let (from, to) = (Millis(0), self.now().plus(86_400_000));
        let answers = join_all(brokers.iter().map(|broker| async move {
            (broker, within(DEADLINE, broker, self.read().messages_by_uniq_id(broker, topic, id, from, to)).await)
        }))
        .await;
        let mut looked = Looked { taken_for, messages: Vec::new(), coverage: Coverage::default() };
        let mut error = None;
        for (broker, answer) in answers {
            match answer {
                Ok(messages) => {
                    looked.coverage.answer();
                    looked.messages.extend(messages.into_iter().filter(|message| {
                        message.queue.topic == topic
                            && message.uniq_id.as_deref().is_some_and(|uniq| uniq.eq_ignore_ascii_case(id))
                    }));
                }
                Err(BrokerError::NotFound(_)) => looked.coverage.answer(),
                Err(failed) => {
                    looked.coverage.miss(broker, &failed);
                    error = Some(failed);
                }
            }
        }
        if let (0, Some(error)) = (looked.coverage.answered, error) {
            return Err(ConsoleError::from(error));
        }
        looked.coverage.as_of = Some(self.now());
        looked.messages.sort_by(|a, b| place(b).cmp(&place(a)));
        looked.messages.dedup_by(|a, b| place(a) == place(b));
        Ok(looked)
    }
}
