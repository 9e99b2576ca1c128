//! A push consumer with message trace on.

use futures::future::LocalBoxFuture;
use std::sync::Arc;

use millrace_broker::{Body, Message, Result};
use millrace_core::name::QueueRef;
use millrace_core::time::Millis;
use rocketmq_client_rust::{
    ClientResult, ConsumeConcurrentlyContext, ConsumeConcurrentlyStatus, DefaultMQPushConsumer, MQPushConsumer as _,
    MessageListenerConcurrently,
};
use rocketmq_model::common::consumer::consume_from_where::ConsumeFromWhere;
use rocketmq_model::common::message::message_ext::MessageExt;

use super::failure::explain;
use super::{ClientTarget, Clients};

/// What a listener made of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consumed {
    Ok,
    /// Again later; after the group's last retry the message goes to its dead-letter topic.
    Retry,
}

/// Called on a thread of its own for each message, many at once: it may block.
pub trait Listener: Send + Sync {
    fn consume(&self, message: &Message) -> Consumed;
}

/// What a consumer reads, and how.
#[derive(Debug, Clone)]
pub struct Subscription {
    pub topic: String,
    /// `*`, or tags joined by `||`.
    pub expression: String,
    /// Deliveries after the first, before the message is dead.
    pub max_retries: i32,
    pub threads: u32,
}

pub struct PushConsumer {
    consumer: DefaultMQPushConsumer,
}

impl std::fmt::Debug for PushConsumer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PushConsumer").finish_non_exhaustive()
    }
}

impl PushConsumer {
    /// A new group begins at the topic's first message.
    pub fn start<'a>(
        clients: &'a Clients,
        target: &'a ClientTarget,
        group: &'a str,
        subscription: &'a Subscription,
        listener: Arc<dyn Listener>,
    ) -> LocalBoxFuture<'a, Result<Self>> {
        Box::pin(Self::join(clients, target, group, subscription, listener))
    }

    async fn join(
        clients: &Clients,
        target: &ClientTarget,
        group: &str,
        subscription: &Subscription,
        listener: Arc<dyn Listener>,
    ) -> Result<Self> {
        let mut consumer = DefaultMQPushConsumer::builder(clients.runtime()?)
            .client_config(clients.configuration(target))
            .consumer_group(group)
            .consume_from_where(ConsumeFromWhere::ConsumeFromFirstOffset)
            .max_reconsume_times(subscription.max_retries)
            .consume_thread_min(subscription.threads)
            .consume_thread_max(subscription.threads)
            .rpc_hook(target.signing().map(|signing| signing as _))
            .build();
        let what = format!("topic {} for group {group}", subscription.topic);
        let expression = without_blanks(&subscription.expression);
        let subscribed = consumer.subscribe(subscription.topic.as_str(), expression).await;
        subscribed.map_err(|error| explain(&error, &what))?;
        consumer.register_message_listener_concurrently(EachMessage(listener));
        consumer.start().await.map_err(|error| explain(&error, &what))?;
        Ok(Self { consumer })
    }

    pub fn shutdown(mut self) -> LocalBoxFuture<'static, ()> {
        Box::pin(async move { self.consumer.shutdown().await })
    }
}

/// The client compares tags as they stand between the bars: with blanks round them, none ever matches.
fn without_blanks(expression: &str) -> String {
    expression.split("||").map(str::trim).collect::<Vec<_>>().join("||")
}

struct EachMessage(Arc<dyn Listener>);

impl MessageListenerConcurrently for EachMessage {
    fn consume_message(
        &self,
        messages: &[&MessageExt],
        _context: &ConsumeConcurrentlyContext,
    ) -> ClientResult<ConsumeConcurrentlyStatus> {
        let retry = messages.iter().any(|message| self.0.consume(&convert(message)) == Consumed::Retry);
        Ok(if retry { ConsumeConcurrentlyStatus::ReconsumeLater } else { ConsumeConcurrentlyStatus::ConsumeSuccess })
    }
}

fn convert(message: &MessageExt) -> Message {
    let properties = message.properties().iter().map(|(name, value)| (name.to_string(), value.to_string()));
    let mut properties: Vec<(String, String)> = properties.collect();
    properties.sort();
    let uniq_id = properties.iter().find(|(name, _)| name == "UNIQ_KEY").map(|(_, id)| id.clone());
    Message {
        queue: QueueRef {
            topic: message.topic().to_string(),
            broker: message.broker_name().to_owned(),
            queue: message.queue_id(),
        },
        offset: message.queue_offset(),
        commit_log_offset: message.commit_log_offset(),
        offset_id: message.msg_id().to_string(),
        uniq_id,
        born: Millis(message.born_timestamp()),
        born_host: message.born_host().to_string(),
        stored: Millis(message.store_timestamp()),
        store_host: message.store_host().to_string(),
        sys_flag: message.sys_flag(),
        flag: message.flag(),
        reconsume_times: message.reconsume_times(),
        properties,
        body: Body { bytes: message.body().unwrap_or_default(), inflate_error: None },
        store_size: message.store_size(),
    }
}

#[cfg(test)]
mod tests {
    use super::without_blanks;

    #[test]
    fn blanks_round_tags_are_dropped() {
        assert_eq!(without_blanks("paid || shipped||returned "), "paid||shipped||returned");
        assert_eq!(without_blanks("*"), "*");
    }
}
