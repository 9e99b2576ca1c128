//! A producer with message trace on.

use futures::future::BoxFuture;
use std::time::Duration;

use millrace_broker::{BrokerError, MessageToSend, Result, SendReceipt, StoreStatus};
use millrace_core::name::QueueRef;
use rocketmq_client_rust::{DefaultMQProducer, SendResult, SendStatus};
use rocketmq_model::common::message::message_queue::MessageQueue;
use rocketmq_model::common::message::message_single::Message;

use super::failure::explain;
use super::{ClientTarget, Clients};

/// Sends whole messages, one call a message, many calls at once.
pub struct TracedProducer {
    producer: DefaultMQProducer,
    timeout: Duration,
}

impl std::fmt::Debug for TracedProducer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TracedProducer").finish_non_exhaustive()
    }
}

impl TracedProducer {
    pub fn start<'a>(clients: &'a Clients, target: &'a ClientTarget, group: &'a str) -> BoxFuture<'a, Result<Self>> {
        Box::pin(Self::join(clients, target, group))
    }

    async fn join(clients: &Clients, target: &ClientTarget, group: &str) -> Result<Self> {
        let mut builder = DefaultMQProducer::builder(clients.runtime()?)
            .client_config(clients.configuration(target))
            .producer_group(group);
        if let Some(signing) = target.signing() {
            builder = builder.rpc_hook(signing);
        }
        let mut producer = builder.build();
        producer.start().await.map_err(|error| explain(&error, &format!("producer group {group}")))?;
        Ok(Self { producer, timeout: target.send_timeout })
    }

    /// The usual way: the client picks the queue.
    pub async fn send(
        &self,
        topic: &str,
        tag: Option<&str>,
        keys: &[&str],
        body: impl Into<bytes::Bytes> + Send,
        properties: &[(&str, &str)],
    ) -> Result<SendReceipt> {
        let owned = |text: &&str| (*text).to_owned();
        self.send_message(MessageToSend {
            topic: topic.to_owned(),
            tags: tag.map(str::to_owned),
            keys: keys.iter().map(owned).collect(),
            properties: properties.iter().map(|(name, value)| (owned(name), owned(value))).collect(),
            body: body.into(),
            queue: None,
        })
        .await
    }

    /// The message id, the place and the offset are the broker's answer.
    pub fn send_message(&self, message: MessageToSend) -> BoxFuture<'_, Result<SendReceipt>> {
        Box::pin(self.deliver(message))
    }

    async fn deliver(&self, message: MessageToSend) -> Result<SendReceipt> {
        let what = format!("topic {}", message.topic);
        let queue = message.queue.clone();
        let topic = message.topic.clone();
        let ready = prepare(message)?;
        let timeout = u64::try_from(self.timeout.as_millis()).unwrap_or(u64::MAX);
        let sent = match queue {
            Some((broker, number)) => {
                let queue = MessageQueue::from_parts(topic.as_str(), broker.as_str(), number);
                self.producer.send_to_queue_with_timeout(ready, queue, timeout).await
            }
            None => self.producer.send_with_timeout(ready, timeout).await,
        };
        let sent = sent.map_err(|error| explain(&error, &what))?;
        sent.and_then(receipt).ok_or_else(|| BrokerError::Protocol {
            address: "the RocketMQ client".to_owned(),
            why: "a send without a result".to_owned(),
        })
    }

    pub fn shutdown(mut self) -> BoxFuture<'static, ()> {
        Box::pin(async move { self.producer.shutdown().await })
    }
}

/// Delay and ordering properties are RocketMQ's own and go through their setters; others of its own are refused.
fn prepare(message: MessageToSend) -> Result<Message> {
    let mut builder = Message::builder().topic(message.topic.as_str()).body(message.body);
    if let Some(tags) = message.tags.filter(|tags| !tags.is_empty()) {
        builder = builder.tags(tags);
    }
    if !message.keys.is_empty() {
        builder = builder.keys(message.keys);
    }
    for (name, value) in message.properties {
        let not_a_number = |_| BrokerError::Invalid(format!("the property {name} needs a number, not '{value}'"));
        builder = match name.as_str() {
            "DELAY" => builder.delay_level(value.parse().map_err(not_a_number)?),
            "TIMER_DELAY_SEC" => builder.delay_secs(value.parse().map_err(not_a_number)?),
            "TIMER_DELAY_MS" => builder.delay_millis(value.parse().map_err(not_a_number)?),
            "TIMER_DELIVER_MS" => builder.deliver_time_ms(value.parse().map_err(not_a_number)?),
            "__SHARDINGKEY" => builder.sharding_key(value),
            _ if name.is_empty() || value.is_empty() => {
                return Err(BrokerError::Invalid("a property needs a name and a value".to_owned()));
            }
            _ if name.contains(['\u{1}', '\u{2}']) || value.contains(['\u{1}', '\u{2}']) => {
                return Err(BrokerError::Invalid(format!(
                    "the property {name} has a character that separates properties"
                )));
            }
            _ => {
                let reserved = |_| BrokerError::Invalid(format!("the property {name} is RocketMQ's own"));
                builder.raw_property(name.as_str(), value).map_err(reserved)?
            }
        };
    }
    builder.build().map_err(|error| BrokerError::Invalid(error.to_string()))
}

fn receipt(sent: SendResult) -> Option<SendReceipt> {
    let queue = sent.message_queue?;
    Some(SendReceipt {
        status: match sent.send_status {
            SendStatus::SendOk => StoreStatus::Ok,
            SendStatus::FlushDiskTimeout => StoreStatus::FlushDiskTimeout,
            SendStatus::FlushSlaveTimeout => StoreStatus::FlushSlaveTimeout,
            SendStatus::SlaveNotAvailable => StoreStatus::SlaveNotAvailable,
        },
        message_id: sent.msg_id?.to_string(),
        offset_id: sent.offset_msg_id,
        queue: QueueRef {
            topic: queue.topic().to_string(),
            broker: queue.broker_name().to_string(),
            queue: queue.queue_id(),
        },
        offset: i64::try_from(sent.queue_offset).ok()?,
    })
}

#[cfg(test)]
mod tests {
    use millrace_broker::{BrokerError, MessageToSend};

    use super::prepare;

    fn with(name: &str, value: &str) -> MessageToSend {
        let properties = vec![(name.to_owned(), value.to_owned())];
        MessageToSend { topic: "orders".to_owned(), properties, ..MessageToSend::default() }
    }

    #[test]
    fn properties_that_would_break_the_message_are_refused() {
        for (name, value) in
            [("UNIQ_KEY", "1"), ("a\u{1}b", "1"), ("a", "1\u{2}TAGS\u{1}x"), ("", "1"), ("DELAY", "soon")]
        {
            assert!(matches!(prepare(with(name, value)), Err(BrokerError::Invalid(_))), "{name}");
        }
        for (name, value) in [("tenant", "north"), ("DELAY", "3"), ("TIMER_DELIVER_MS", "1700000000000")] {
            assert!(prepare(with(name, value)).is_ok(), "{name}");
        }
    }
}
