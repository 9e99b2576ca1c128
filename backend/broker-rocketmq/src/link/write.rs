//! The port's writing side.

use std::collections::BTreeMap;

use async_trait::async_trait;
use millrace_broker::{BrokerError, BrokerWrite, Result, TopicConfig};

use super::Link;
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

    use millrace_broker::{MessageType, Perm, TopicConfig};

    use super::{attribute_changes, wanted_attributes};

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
