//! A form becomes a topic: texts become a value that RocketMQ accepts, collecting every field's error; then each chosen
//! broker is asked, and each outcome told and written to the audit trail.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::future::join_all;
use millrace_broker::{MessageType, Perm, TopicConfig};
use millrace_core::name::{NameError, TOPIC_MAX_LENGTH, TopicName};
use serde::{Deserialize, Serialize};

use crate::console::{Act, Console, Outcome, Outcomes};
use crate::error::Result;
use crate::form::{FieldErrors, chosen_brokers};
use crate::snapshot::{Snapshot, within};

/// For each call to a broker.
const DEADLINE: Duration = Duration::from_secs(5);
/// More queues than this on one broker is a slip of the keyboard.
const MAX_QUEUES: u32 = 1024;

/// As typed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct NewTopicForm {
    pub name: String,
    pub write_queues: String,
    /// Empty: as many as write queues.
    pub read_queues: String,
    /// `rw`, `r` or `w`.
    pub perm: String,
    /// `normal`, `fifo`, `delay`, `transaction`, `mixed`, or empty for none.
    pub message_type: String,
    pub brokers: Vec<String>,
}

impl NewTopicForm {
    /// What the page starts with: every broker chosen, RocketMQ's usual eight queues.
    pub fn suggested(snapshot: &Snapshot) -> Self {
        Self {
            name: String::new(),
            write_queues: "8".to_owned(),
            read_queues: String::new(),
            perm: "rw".to_owned(),
            message_type: "normal".to_owned(),
            brokers: snapshot.brokers.iter().map(|state| state.broker.name.clone()).collect(),
        }
    }
}

/// What a broker can be asked to make.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NewTopic {
    pub name: TopicName,
    pub write_queues: u32,
    pub read_queues: u32,
    pub perm: Perm,
    pub message_type: MessageType,
    pub brokers: Vec<String>,
}

impl NewTopic {
    /// # Errors
    /// Every field's error.
    pub fn parse(form: &NewTopicForm, snapshot: &Snapshot) -> std::result::Result<Self, FieldErrors> {
        let mut errors = FieldErrors::default();
        let name = parse_name(&form.name, &mut errors);
        let write_queues = parse_queues("write_queues", &form.write_queues, &mut errors);
        let read_queues = if form.read_queues.trim().is_empty() {
            write_queues
        } else {
            parse_queues("read_queues", &form.read_queues, &mut errors)
        };
        let perm = match form.perm.trim() {
            "" | "rw" => Some(Perm::READ_WRITE),
            "r" => Some(Perm::READ),
            "w" => Some(Perm::WRITE),
            _ => None,
        };
        if perm.is_none() {
            errors.add("perm", "perm-unknown");
        }
        let message_type = match form.message_type.trim() {
            "" | "unspecified" => Some(MessageType::Unspecified),
            word => match MessageType::from_attribute(Some(&word.to_ascii_uppercase())) {
                MessageType::Unspecified => None,
                known => Some(known),
            },
        };
        if message_type.is_none() {
            errors.add("message_type", "message-type-unknown");
        }
        let brokers = chosen_brokers(&form.brokers, snapshot, &mut errors);
        let topic = (|| {
            Some(Self {
                name: name?,
                write_queues: write_queues?,
                read_queues: read_queues?,
                perm: perm?,
                message_type: message_type?,
                brokers,
            })
        })();
        errors.or(topic)
    }

    fn config(&self) -> TopicConfig {
        let attribute = self.message_type.attribute();
        TopicConfig {
            name: self.name.as_str().to_owned(),
            read_queues: self.read_queues,
            write_queues: self.write_queues,
            perm: self.perm,
            message_type: self.message_type,
            order: false,
            attributes: attribute
                .map(|value| BTreeMap::from([("message.type".to_owned(), value.to_owned())]))
                .unwrap_or_default(),
        }
    }
}

fn parse_name(text: &str, errors: &mut FieldErrors) -> Option<TopicName> {
    match TopicName::parse(text.trim()) {
        Ok(name) => Some(name),
        Err(error) => {
            match error {
                NameError::Empty => errors.add("name", "name-empty"),
                NameError::TooLong => {
                    errors.add_with("name", "name-too-long", vec![("max", TOPIC_MAX_LENGTH.to_string())]);
                }
                NameError::Character(bad) => {
                    errors.add_with("name", "name-character", vec![("character", bad.to_string())]);
                }
                NameError::Reserved => errors.add("name", "name-reserved"),
            }
            None
        }
    }
}

fn parse_queues(field: &'static str, text: &str, errors: &mut FieldErrors) -> Option<u32> {
    match text.trim().parse::<u32>() {
        Ok(queues) if (1..=MAX_QUEUES).contains(&queues) => Some(queues),
        _ => {
            errors.add_with(field, "queues-range", vec![("max", MAX_QUEUES.to_string())]);
            None
        }
    }
}

impl Console {
    /// Makes the topic on each chosen broker. One that has it already keeps it as it is: creating is not changing.
    ///
    /// # Errors
    /// `Invalid` before any broker is changed; `ReadOnly`.
    pub async fn create_topic(&self, who: &str, form: &NewTopicForm) -> Result<Outcomes> {
        let write = self.write()?;
        let topic = NewTopic::parse(form, &self.snapshot())?;
        let config = topic.config();
        let present = self.having(&topic).await;
        let already: Vec<&str> =
            present.iter().filter(|(_, has)| matches!(has, Ok(true))).map(|(broker, _)| broker.as_str()).collect();
        if !already.is_empty() {
            let mut errors = FieldErrors::default();
            errors.add_with("name", "topic-exists", vec![("brokers", already.join(", "))]);
            return Err(errors.into());
        }
        let each = join_all(present.into_iter().map(|(broker, has)| {
            let config = &config;
            async move {
                // Where it could not be seen whether the topic is there, writing might change somebody's.
                let result = match has {
                    Ok(_) => within(DEADLINE, &broker, write.put_topic(&broker, config)).await,
                    Err(error) => Err(error),
                };
                Outcome { at: broker, error: result.err().map(|error| error.to_string()) }
            }
        }))
        .await;
        let act = Act {
            who,
            action: "topic.create",
            target: topic.name.as_str(),
            detail: serde_json::to_value(&topic).unwrap_or_default(),
        };
        let audit_error = self.audit(act, &each).await;
        Ok(Outcomes { each, audit_error })
    }

    async fn having(&self, topic: &NewTopic) -> Vec<(String, millrace_broker::Result<bool>)> {
        join_all(topic.brokers.iter().map(|broker| async move {
            let topics = within(DEADLINE, broker, self.read().topics(broker)).await;
            let has = topics.map(|topics| topics.iter().any(|config| config.name == topic.name.as_str()));
            (broker.clone(), has)
        }))
        .await
    }
}
