//! A test message: what is typed becomes a message that RocketMQ accepts, and is sent with message trace on.

use std::time::Duration;

use bytes::Bytes;
use millrace_broker::{BrokerError, MessageToSend, Properties, SendReceipt, StoreStatus};
use millrace_core::name::TopicKind;
use serde::{Deserialize, Serialize};

use crate::console::{Act, Console, Outcome};
use crate::error::{ConsoleError, Result};
use crate::form::FieldErrors;
use crate::snapshot::{TopicState, within};

/// For the send.
const DEADLINE: Duration = Duration::from_secs(10);
/// A broker's usual `maxMessageSize`: body and properties.
pub const MAX_MESSAGE_BYTES: usize = 4 * 1024 * 1024;
/// Properties have a two-byte length on the wire.
const MAX_PROPERTY_BYTES: usize = 32_767;

/// Names that RocketMQ's clients and brokers use themselves (`MessageConst.STRING_HASH_SET` and what 5.x added).
const RESERVED: [&str; 52] = [
    "KEYS",
    "TAGS",
    "WAIT",
    "DELAY",
    "RETRY_TOPIC",
    "REAL_TOPIC",
    "REAL_QID",
    "TRAN_MSG",
    "PGROUP",
    "MIN_OFFSET",
    "MAX_OFFSET",
    "BUYER_ID",
    "ORIGIN_MESSAGE_ID",
    "TRANSFER_FLAG",
    "CORRECTION_FLAG",
    "MQ2_FLAG",
    "RECONSUME_TIME",
    "MSG_REGION",
    "TRACE_ON",
    "UNIQ_KEY",
    "EXTEND_UNIQ_INFO",
    "MAX_RECONSUME_TIMES",
    "CONSUME_START_TIME",
    "INSTANCE_ID",
    "CORRELATION_ID",
    "REPLY_TO_CLIENT",
    "TTL",
    "ARRIVE_TIME",
    "PUSH_REPLY_TIME",
    "CLUSTER",
    "MSG_TYPE",
    "POP_CK",
    "POP_CK_OFFSET",
    "1ST_POP_TIME",
    "__SHARDINGKEY",
    "__transactionId__",
    "TRAN_PREPARED_QUEUE_OFFSET",
    "TRANSACTION_CHECK_TIMES",
    "CHECK_IMMUNITY_TIME_IN_SECONDS",
    "TIMER_DELIVER_MS",
    "TIMER_DELAY_MS",
    "TIMER_DELAY_SEC",
    "TIMER_OUT_MS",
    "TIMER_DEQUEUE_MS",
    "TIMER_ENQUEUE_MS",
    "TIMER_ROLL_TIMES",
    "TIMER_DEL_UNIQKEY",
    "INNER_NUM",
    "INNER_BASE",
    "DUP_INFO",
    "DLQ_ORIGIN_TOPIC",
    "DLQ_ORIGIN_MESSAGE_ID",
];

pub(crate) fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name)
}

/// As typed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TestMessageForm {
    /// Record keys, with blanks between them.
    pub keys: String,
    pub tag: String,
    /// One `name=value` a line.
    pub properties: String,
    pub body: String,
}

/// What came of it.
#[derive(Debug, Clone)]
pub struct Sent {
    pub receipt: SendReceipt,
    /// What its record page is looked up by: its first key, else its id.
    pub look_up: String,
    /// Why the audit trail does not have it.
    pub audit_error: Option<String>,
}

impl TestMessageForm {
    /// # Errors
    /// Every field's error.
    pub fn parse(&self, topic: &str, state: Option<&TopicState>) -> std::result::Result<MessageToSend, FieldErrors> {
        let mut errors = FieldErrors::default();
        let keys: Vec<String> = self.keys.split_whitespace().map(str::to_owned).collect();
        if self.keys.chars().any(is_separator) {
            errors.add("keys", "control-character");
        }
        let tag = self.tag.trim();
        if tag.contains("||") || tag.contains(char::is_whitespace) || tag.chars().any(is_separator) {
            errors.add("tag", "tag-character");
        }
        let properties = parse_properties(&self.properties, &mut errors);
        let property_bytes: usize = properties.iter().map(|(name, value)| name.len() + value.len() + 2).sum::<usize>()
            + self.keys.len()
            + tag.len();
        if property_bytes > MAX_PROPERTY_BYTES {
            let args = vec![("max", MAX_PROPERTY_BYTES.to_string()), ("size", property_bytes.to_string())];
            errors.add_with("properties", "properties-too-large", args);
        }
        let size = self.body.len() + property_bytes;
        if self.body.is_empty() {
            errors.add("body", "body-empty");
        } else if size > MAX_MESSAGE_BYTES {
            let args = vec![("max", MAX_MESSAGE_BYTES.to_string()), ("size", size.to_string())];
            errors.add_with("body", "body-too-large", args);
        }
        let writable = |state: &TopicState| state.brokers.iter().any(|place| place.config.perm.writable());
        if state.is_some_and(|state| !state.brokers.is_empty() && !writable(state)) {
            errors.add("topic", "topic-not-writable");
        }
        errors.or(Some(MessageToSend {
            topic: topic.to_owned(),
            tags: (!tag.is_empty()).then(|| tag.to_owned()),
            keys,
            properties,
            body: Bytes::from(self.body.clone()),
            queue: None,
        }))
    }
}

fn is_separator(c: char) -> bool {
    matches!(c, '\u{1}' | '\u{2}' | '\u{0}')
}

fn parse_properties(text: &str, errors: &mut FieldErrors) -> Properties {
    let mut properties = Properties::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let at = ("line", (index + 1).to_string());
        let Some((name, value)) = line.split_once('=').map(|(name, value)| (name.trim(), value.trim())) else {
            errors.add_with("properties", "property-without-equals", vec![at]);
            continue;
        };
        let name_arg = ("name", name.to_owned());
        if name.is_empty() || value.is_empty() {
            errors.add_with("properties", "property-empty", vec![at]);
        } else if line.chars().any(is_separator) {
            errors.add_with("properties", "control-character", vec![at]);
        } else if is_reserved(name) {
            errors.add_with("properties", "property-reserved", vec![at, name_arg]);
        } else if properties.iter().any(|(seen, _)| seen == name) {
            errors.add_with("properties", "property-twice", vec![at, name_arg]);
        } else {
            properties.push((name.to_owned(), value.to_owned()));
        }
    }
    properties
}

impl Console {
    /// Sends one message.
    ///
    /// # Errors
    /// `Invalid` before anything was sent; `ReadOnly`, `SystemTopic`; the broker's error, which the audit trail has too.
    pub async fn send_test_message(&self, who: &str, topic: &str, form: &TestMessageForm) -> Result<Sent> {
        let sender = self.sender()?;
        if TopicKind::of(topic) == TopicKind::System {
            return Err(ConsoleError::SystemTopic(topic.to_owned()));
        }
        let snapshot = self.snapshot();
        let message = form.parse(topic, snapshot.topic(topic).map(AsRef::as_ref))?;
        // A client would ask for a topic that is not there, and the broker might make it.
        within(DEADLINE, "the name servers", self.read().route(topic)).await?;
        let first_key = message.keys.first().cloned();
        // The audit trail names the record, and leaves its content to the topic.
        let detail = serde_json::json!({
            "keys": message.keys, "tag": message.tags, "body_bytes": message.body.len(),
            "properties": message.properties.iter().map(|(name, _)| name).collect::<Vec<_>>(),
        });
        let result = within(DEADLINE, topic, sender.send(message)).await;
        let outcome = match &result {
            Ok(receipt) => Outcome {
                at: receipt.queue.broker.clone(),
                error: (receipt.status != StoreStatus::Ok).then(|| format!("stored, but {}", receipt.status.code())),
            },
            Err(error) => Outcome { at: place_of(error), error: Some(error.to_string()) },
        };
        let audit_error = self.audit(Act { who, action: "message.send", target: topic, detail }, &[outcome]).await;
        let receipt = result?;
        Ok(Sent { look_up: first_key.unwrap_or_else(|| receipt.message_id.clone()), receipt, audit_error })
    }
}

fn place_of(error: &BrokerError) -> String {
    match error {
        BrokerError::Unreachable { address, .. }
        | BrokerError::TimedOut { address, .. }
        | BrokerError::NotPermitted { address, .. }
        | BrokerError::Answered { address, .. }
        | BrokerError::Protocol { address, .. } => address.clone(),
        _ => "cluster".to_owned(),
    }
}
