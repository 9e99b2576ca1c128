//! A client of a group in the making.

use std::collections::BTreeMap;

/// Who is online, and how it gets messages: by push and in a cluster, unless said otherwise.
#[derive(Debug, Clone)]
pub struct FakeClient {
    pub(super) group: String,
    pub(super) id: String,
    pub(super) subscriptions: BTreeMap<String, String>,
    pub(super) consume_type: String,
    pub(super) message_model: String,
}

impl FakeClient {
    pub fn of(group: &str, id: &str) -> Self {
        Self {
            group: group.to_owned(),
            id: id.to_owned(),
            subscriptions: BTreeMap::new(),
            consume_type: "CONSUME_PASSIVELY".to_owned(),
            message_model: "CLUSTERING".to_owned(),
        }
    }

    #[must_use]
    pub fn subscribed(mut self, topic: &str, expression: &str) -> Self {
        self.subscriptions.insert(topic.to_owned(), expression.to_owned());
        self
    }

    #[must_use]
    pub fn broadcasting(self) -> Self {
        Self { message_model: "BROADCASTING".to_owned(), ..self }
    }

    #[must_use]
    pub fn pop(self) -> Self {
        Self { consume_type: "CONSUME_POP".to_owned(), ..self }
    }
}
