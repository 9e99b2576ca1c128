//! The port's writing side.

use std::collections::BTreeMap;

use async_trait::async_trait;
use millrace_broker::{BrokerError, BrokerWrite, GroupConfig, Result, TopicConfig};
use millrace_core::name::QueueRef;
use serde_json::{Map, Value};

use super::Link;
use super::groups::{PAGES, TABLE};
use crate::remoting::{Request, RequestCode};

#[async_trait]
impl BrokerWrite for Link {
    async fn put_topic(&self, broker: &str, topic: &TopicConfig) -> Result<()> {
        let wanted = wanted_attributes(topic)?;
        // A broker before 5.0 knows neither the question nor attributes: for it the topic is as good as new.
        let present = match self.ask_topic(broker, &topic.name).await {
            Ok(present) => present.attributes,
            Err(BrokerError::NotFound(_) | BrokerError::Answered { .. }) => BTreeMap::new(),
            Err(error) => return Err(error),
        };
        let request = Request::new(RequestCode::UpdateAndCreateTopic)
            .field("topic", &topic.name)
            .field("defaultTopic", "TBW102")
            .field("readQueueNums", topic.read_queues)
            .field("writeQueueNums", topic.write_queues)
            .field("perm", topic.perm.0)
            .field("topicFilterType", "SINGLE_TAG")
            .field("topicSysFlag", 0)
            .field("order", topic.order)
            .field("attributes", attribute_changes(&present, &wanted));
        self.ask(broker, &request).await?.success(|| format!("topic {}", topic.name)).map(drop)
    }

    async fn delete_topic(&self, broker: &str, topic: &str) -> Result<()> {
        let request = Request::new(RequestCode::DeleteTopicInBroker).field("topic", topic);
        self.ask(broker, &request).await?.success(|| format!("topic {topic}")).map(drop)
    }

    async fn delete_route(&self, name_server: &str, topic: &str) -> Result<()> {
        self.forget_route(name_server, topic).await
    }

    async fn put_group(&self, broker: &str, group: &GroupConfig) -> Result<()> {
        let present = self.group_as_told(broker, &group.name).await?;
        let body = Value::Object(changed(present, group)).to_string();
        let request = Request::new(RequestCode::UpdateAndCreateSubscriptionGroup).body(body);
        self.ask(broker, &request).await?.success(|| format!("group {}", group.name)).map(drop)
    }

    async fn delete_group(&self, broker: &str, group: &str) -> Result<()> {
        let request =
            Request::new(RequestCode::DeleteSubscriptionGroup).field("groupName", group).field("cleanOffset", true);
        self.ask(broker, &request).await?.success(|| format!("group {group}")).map(drop)
    }

    async fn reset_offset(&self, group: &str, queue: &QueueRef, offset: i64) -> Result<()> {
        // Brokers that do not reset offsets themselves would take the time in this request for all queues.
        let config = self.ask_config(&queue.broker).await?;
        if config.get("useServerSideResetOffset").is_none_or(|value| value != "true") {
            return Err(BrokerError::Invalid(format!(
                "broker {} sets no offset of one queue: it needs RocketMQ 5 and useServerSideResetOffset=true",
                queue.broker
            )));
        }
        let request = Request::new(RequestCode::InvokeBrokerToResetOffset)
            .field("group", group)
            .field("topic", &queue.topic)
            .field("queueId", queue.queue)
            .field("offset", offset)
            .field("timestamp", -1)
            .field("isForce", true);
        self.ask(&queue.broker, &request).await?.success(|| queue.to_string()).map(drop)
    }
}

impl Link {
    /// The group's configuration with everything that the broker tells; empty where it has none.
    async fn group_as_told(&self, broker: &str, group: &str) -> Result<Map<String, Value>> {
        for reply in self.ask_pages(broker, PAGES, TABLE).await? {
            let answer: Value =
                serde_json::from_slice(&reply.body).map_err(|error| reply.misunderstood(error.to_string()))?;
            if let Some(told) = answer.get(TABLE).and_then(|table| table.get(group)).and_then(Value::as_object) {
                return Ok(told.clone());
            }
        }
        Ok(Map::new())
    }
}

/// `present` with what `group` says.
fn changed(mut present: Map<String, Value>, group: &GroupConfig) -> Map<String, Value> {
    let said = [
        ("groupName", Value::from(group.name.as_str())),
        ("consumeEnable", Value::from(group.consume_enable)),
        ("consumeBroadcastEnable", Value::from(group.broadcast_enable)),
        ("consumeMessageOrderly", Value::from(group.orderly)),
        ("retryQueueNums", Value::from(group.retry_queues)),
        ("retryMaxTimes", Value::from(group.retry_max_times)),
    ];
    present.extend(said.map(|(name, value)| (name.to_owned(), value)));
    present
}

/// The topic's attributes with its message type among them.
fn wanted_attributes(topic: &TopicConfig) -> Result<BTreeMap<String, String>> {
    let mut wanted = topic.attributes.clone();
    if let Some(message_type) = topic.message_type.attribute() {
        wanted.insert("message.type".to_owned(), message_type.to_owned());
    }
    for (name, value) in &wanted {
        if name.contains([',', '=', '+', '-']) || value.contains([',', '=']) {
            return Err(BrokerError::Invalid(format!(
                "the attribute {name}={value} has a character that separates attributes"
            )));
        }
    }
    Ok(wanted)
}

/// `+name=value` for what is new or different, `-name` for what goes (`AttributeUtil`). What stays the same is left
/// out: brokers refuse some attributes even unchanged.
fn attribute_changes(present: &BTreeMap<String, String>, wanted: &BTreeMap<String, String>) -> String {
    let set = wanted.iter().filter(|(name, value)| present.get(*name) != Some(value));
    let set = set.map(|(name, value)| format!("+{name}={value}"));
    let gone = present.keys().filter(|name| !wanted.contains_key(*name)).map(|name| format!("-{name}"));
    set.chain(gone).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::collections::BTreeMap;

    use millrace_broker::{GroupConfig, MessageType, Perm, TopicConfig};

    use super::{attribute_changes, changed, wanted_attributes};

    fn table(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn only_changes_are_sent() {
        let present = table(&[("message.type", "NORMAL"), ("queue.type", "SimpleCQ"), ("cleanup.policy", "DELETE")]);
        let wanted = table(&[("message.type", "FIFO"), ("queue.type", "SimpleCQ")]);
        assert_eq!(attribute_changes(&present, &wanted), "+message.type=FIFO,-cleanup.policy");
        assert_eq!(attribute_changes(&BTreeMap::new(), &wanted), "+message.type=FIFO,+queue.type=SimpleCQ");
        assert_eq!(attribute_changes(&wanted, &wanted), "");
    }

    #[test]
    fn what_a_group_does_not_say_stays() {
        let told = serde_json::json!({"groupName": "billing", "retryMaxTimes": 16, "consumeTimeoutMinute": 3});
        let group = GroupConfig {
            name: "billing".to_owned(),
            consume_enable: false,
            broadcast_enable: true,
            orderly: false,
            retry_queues: 1,
            retry_max_times: 4,
        };
        let sent = changed(told.as_object().unwrap().clone(), &group);
        let number = |name: &str| sent.get(name).and_then(serde_json::Value::as_i64);
        assert_eq!((number("consumeTimeoutMinute"), number("retryMaxTimes")), (Some(3), Some(4)));
        assert_eq!(sent.get("consumeEnable"), Some(&serde_json::Value::Bool(false)));
    }

    #[test]
    fn an_attribute_cannot_smuggle_another() {
        let mut topic = TopicConfig {
            name: "orders".to_owned(),
            read_queues: 4,
            write_queues: 4,
            perm: Perm::READ_WRITE,
            message_type: MessageType::Fifo,
            order: false,
            attributes: BTreeMap::new(),
        };
        assert_eq!(wanted_attributes(&topic).unwrap(), table(&[("message.type", "FIFO")]));
        topic.attributes = table(&[("a", "b,+queue.type=BatchCQ")]);
        assert!(wanted_attributes(&topic).is_err());
    }
}
