//! Look-up by message id: says what the id was taken for, and dials no address but the cluster's own.

use futures::future::join_all;
use millrace_broker::{BrokerError, Message};
use millrace_core::coverage::Coverage;
use millrace_core::id::{IdKind, OffsetId};
use millrace_core::time::Millis;
use serde::Serialize;

use super::place;
use super::window::DEADLINE;
use crate::console::Console;
use crate::error::{ConsoleError, Result};
use crate::form::FieldErrors;
use crate::snapshot::{Snapshot, within};

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
        let taken_for = match IdKind::of(id) {
            IdKind::Offset(offset) => match broker_at(&self.snapshot(), &offset) {
                Some(broker) => return self.by_offset_id(topic, &broker, &offset, id).await,
                None => match self.by_foreign_offset_id(&offset).await {
                    Some(looked) => return Ok(looked),
                    None => TakenFor::UniqDespiteShape { address: format!("{}:{}", offset.address, offset.port) },
                },
            },
            IdKind::Uniq(_) => TakenFor::Uniq,
            IdKind::Grpc(_) => TakenFor::Grpc,
            IdKind::Key => TakenFor::Other,
        };
        let Some(topic) = topic else {
            return Err(FieldErrors::one("topic", "topic-needed-for-id").into());
        };
        // Clients write their ids in upper case; people paste them in any.
        let id = if taken_for == TakenFor::Other { id.to_owned() } else { id.to_ascii_uppercase() };
        self.by_uniq_id(topic, &id, taken_for).await
    }

    async fn by_offset_id(&self, topic: Option<&str>, broker: &str, offset: &OffsetId, id: &str) -> Result<Looked> {
        let mut coverage = Coverage::default();
        let found = within(DEADLINE, broker, self.read().message_at(broker, offset.offset)).await;
        let message = match found {
            Ok(message) => Some(message),
            Err(BrokerError::NotFound(_)) => None,
            Err(error) => return Err(error.into()),
        };
        coverage.answer();
        coverage.as_of = Some(self.now());
        // Another process may have the shape by chance: then the id is a unique one.
        if let (None, Some(topic)) = (&message, topic)
            && let Ok(looked) = self.by_uniq_id(topic, &id.to_ascii_uppercase(), TakenFor::Uniq).await
            && !looked.messages.is_empty()
        {
            return Ok(looked);
        }
        let taken_for = TakenFor::Offset { broker: broker.to_owned() };
        Ok(Looked { taken_for, messages: message.into_iter().collect(), coverage })
    }

    /// A broker that moved, or that registered by its name, still has the message at this offset: all are asked, and
    /// what they have is believed if it has this very id.
    async fn by_foreign_offset_id(&self, offset: &OffsetId) -> Option<Looked> {
        let snapshot = self.snapshot();
        let wanted = offset.to_string();
        let answers = join_all(snapshot.brokers.iter().map(|state| async {
            let broker = state.broker.name.clone();
            let found = within(DEADLINE, &broker, self.read().message_at(&broker, offset.offset)).await;
            found
                .ok()
                .filter(|message| message.offset_id.eq_ignore_ascii_case(&wanted))
                .map(|message| (broker, message))
        }));
        let (broker, message) = answers.await.into_iter().flatten().next()?;
        let mut coverage = Coverage::default();
        coverage.answer();
        coverage.as_of = Some(self.now());
        Some(Looked { taken_for: TakenFor::Offset { broker }, messages: vec![message], coverage })
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

/// The broker of this cluster with the id's address. An address out of an id is never dialled as such.
fn broker_at(snapshot: &Snapshot, id: &OffsetId) -> Option<String> {
    let address = std::net::SocketAddr::new(id.address, u16::try_from(id.port).ok()?);
    let of = |text: &str| text.parse::<std::net::SocketAddr>().ok() == Some(address);
    let found = snapshot.brokers.iter().find(|state| state.broker.replicas.iter().any(|replica| of(&replica.address)));
    found.map(|state| state.broker.name.clone())
}
