//! Groups of a broker: configurations, offsets, lag and online clients.

use std::collections::BTreeMap;

use millrace_broker::{
    BrokerError, ClientConnection, ClientRunning, ConsumerConnection, GroupConfig, GroupOffsets, QueueLag, Result,
    Subscription,
};
use millrace_core::name::QueueRef;
use millrace_core::time::Millis;

use super::Link;
use super::topics::{Pages, read_queue};
use crate::json::Json;
use crate::remoting::{Request, RequestCode, ResponseCode};

/// The table of a broker's groups.
pub(super) const TABLE: &str = "subscriptionGroupTable";
pub(super) const PAGES: Pages =
    Pages { code: RequestCode::AllSubscriptionGroupConfig, sequence: "groupSeq", total: "totalGroupNum" };

impl Link {
    pub(super) async fn ask_groups(&self, broker: &str) -> Result<Vec<GroupConfig>> {
        let mut groups = Vec::new();
        for reply in self.ask_pages(broker, PAGES, TABLE).await? {
            let json = reply.json()?;
            let table = json.get(TABLE).map(Json::entries).unwrap_or_default();
            groups.extend(table.iter().filter_map(|(_, config)| read_group(config)));
        }
        groups.sort_by(|a: &GroupConfig, b| a.name.cmp(&b.name));
        groups.dedup_by(|a, b| a.name == b.name);
        Ok(groups)
    }

    pub(super) async fn ask_group_offsets(&self, broker: &str) -> Result<Vec<GroupOffsets>> {
        let reply = self.ask(broker, &Request::new(RequestCode::AllConsumerOffset)).await?;
        if reply.code == ResponseCode::SYSTEM_ERROR && reply.remark.starts_with("No consumer offset") {
            return Ok(Vec::new());
        }
        let reply = reply.success(|| format!("offsets of {broker}"))?;
        let json = reply.json()?;
        let table = json.get("offsetTable").ok_or_else(|| reply.misunderstood("no offsets in its answer"))?;
        Ok(table.entries().iter().filter_map(|(key, offsets)| read_offsets(key, offsets)).collect())
    }

    pub(super) async fn ask_lag(&self, broker: &str, group: &str, topic: Option<&str>) -> Result<Vec<QueueLag>> {
        // Blank: every topic. The embedded broker refuses a request without the field.
        let topic = topic.unwrap_or_default();
        let request = Request::new(RequestCode::ConsumeStats).field("consumerGroup", group).field("topic", topic);
        let reply = self.ask(broker, &request).await?.success(|| format!("group {group}"))?;
        let json = reply.json()?;
        let table = json.get("offsetTable").ok_or_else(|| reply.misunderstood("no offsets in its answer"))?;
        let mut lags = Vec::new();
        for (key, offsets) in table.entries() {
            let (Some(queue), Some(broker_offset)) = (read_queue(key), offsets.number_of("brokerOffset")) else {
                return Err(reply.misunderstood("a queue without offsets"));
            };
            lags.push(QueueLag {
                queue,
                broker_offset,
                consumer_offset: offsets.number_of("consumerOffset").filter(|offset: &i64| *offset >= 0),
                last_consumed: offsets.number_of("lastTimestamp").filter(|ms: &i64| *ms > 0).map(Millis),
            });
        }
        self.tell_zero_from_never(group, &mut lags).await?;
        lags.sort_by(|a, b| a.queue.cmp(&b.queue));
        Ok(lags)
    }

    /// Brokers write 0 for a queue where the group never committed. Where they write 0, they are asked for the offset.
    async fn tell_zero_from_never(&self, group: &str, lags: &mut [QueueLag]) -> Result<()> {
        let zeros = lags.iter_mut().filter(|lag| lag.consumer_offset == Some(0));
        let asked = zeros.map(|lag| async {
            lag.consumer_offset = self.ask_committed(group, &lag.queue).await?;
            Ok(())
        });
        futures::future::try_join_all(asked).await.map(drop)
    }

    pub(super) async fn ask_committed(&self, group: &str, queue: &QueueRef) -> Result<Option<i64>> {
        let request = Request::new(RequestCode::QueryConsumerOffset)
            .field("consumerGroup", group)
            .field("topic", &queue.topic)
            .field("queueId", queue.queue)
            .field("setZeroIfNotFound", false);
        let reply = self.ask(&queue.broker, &request).await?;
        if reply.code == ResponseCode::QUERY_NOT_FOUND {
            return Ok(None);
        }
        reply.success(|| queue.to_string())?.number("offset").map(|offset| Some(offset).filter(|offset| *offset >= 0))
    }

    pub(super) async fn ask_consumers(&self, broker: &str, group: &str) -> Result<ConsumerConnection> {
        let request = Request::new(RequestCode::ConsumerConnectionList).field("consumerGroup", group);
        let offline = || format!("an online client of group {group}");
        let reply = self.ask(broker, &request).await?.success(offline)?;
        let connection = read_connection(&reply.json()?);
        if connection.clients.is_empty() { Err(BrokerError::NotFound(offline())) } else { Ok(connection) }
    }

    pub(super) async fn ask_running(
        &self,
        broker: &str,
        group: &str,
        client: &str,
        stacks: bool,
    ) -> Result<ClientRunning> {
        let request = Request::new(RequestCode::ConsumerRunningInfo)
            .field("consumerGroup", group)
            .field("clientId", client)
            .field("jstackEnable", stacks);
        let reply = self.ask(broker, &request).await?.success(|| format!("client {client}"))?;
        Ok(read_running(&reply.json()?))
    }
}

fn read_group(config: &Json) -> Option<GroupConfig> {
    let flag = |name| config.get(name).and_then(Json::flag);
    Some(GroupConfig {
        name: config.text_of("groupName")?,
        consume_enable: flag("consumeEnable").unwrap_or(true),
        broadcast_enable: flag("consumeBroadcastEnable").unwrap_or(true),
        orderly: flag("consumeMessageOrderly").unwrap_or_default(),
        retry_queues: config.number_of("retryQueueNums")?,
        retry_max_times: config.number_of("retryMaxTimes")?,
    })
}

/// Key `topic@group`, queues as keys of the offsets.
fn read_offsets(key: &Json, offsets: &Json) -> Option<GroupOffsets> {
    let (topic, group) = key.text()?.split_once('@')?;
    let offsets: BTreeMap<i32, i64> = offsets
        .entries()
        .iter()
        .filter_map(|(queue, offset)| Some((i32::try_from(queue.integer()?).ok()?, offset.integer()?)))
        .collect();
    Some(GroupOffsets { group: group.to_owned(), topic: topic.to_owned(), offsets })
}

fn read_connection(json: &Json) -> ConsumerConnection {
    let clients = json.get("connectionSet").map(Json::items).unwrap_or_default();
    let clients = clients.iter().filter_map(|client| {
        let version = client.number_of::<u32>("version");
        Some(ClientConnection {
            client_id: client.text_of("clientId")?,
            address: client.text_of("clientAddr").unwrap_or_default(),
            language: client.text_of("language").unwrap_or_default(),
            version: version
                .map(|number| format!("{:?}", rocketmq_model::version::value2version(number)))
                .unwrap_or_default(),
        })
    });
    let mut clients: Vec<ClientConnection> = clients.collect();
    clients.sort_by(|a, b| a.client_id.cmp(&b.client_id));
    let subscriptions = json.get("subscriptionTable").map(Json::entries).unwrap_or_default();
    let subscriptions = subscriptions.iter().filter_map(|(topic, subscription)| {
        Some((topic.text()?.to_owned(), subscription.text_of("subString").unwrap_or_default()))
    });
    ConsumerConnection {
        clients,
        consume_type: json.text_of("consumeType").unwrap_or_default(),
        message_model: json.text_of("messageModel").unwrap_or_default(),
        subscriptions: subscriptions.collect(),
    }
}

fn read_running(json: &Json) -> ClientRunning {
    let texts = |name| json.get(name).map(Json::entries).unwrap_or_default();
    let properties = texts("properties").iter().filter_map(|(name, value)| {
        let value = match value {
            Json::Text(text) => text.clone(),
            other => other.integer().map(|n| n.to_string()).or_else(|| other.flag().map(|f| f.to_string()))?,
        };
        Some((name.text()?.to_owned(), value))
    });
    let subscriptions = json.get("subscriptionSet").map(Json::items).unwrap_or_default();
    let subscriptions = subscriptions.iter().filter_map(|subscription| {
        Some(Subscription {
            topic: subscription.text_of("topic")?,
            expression: subscription.text_of("subString").unwrap_or_default(),
            expression_type: subscription.text_of("expressionType").unwrap_or_else(|| "TAG".to_owned()),
        })
    });
    let queues = texts("mqTable").iter().chain(texts("mqPopTable")).filter_map(|(queue, _)| read_queue(queue));
    let mut running = ClientRunning {
        properties: properties.collect(),
        subscriptions: subscriptions.collect(),
        queues: queues.collect(),
        stacks: json.text_of("jstack").filter(|text| !text.is_empty()),
    };
    running.subscriptions.sort();
    running.queues.sort();
    running.queues.dedup();
    running
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::{read_connection, read_group, read_offsets, read_running};
    use crate::json::Json;

    #[test]
    fn offsets_belong_to_a_topic_and_a_group() {
        let table = Json::parse(br#"{"%RETRY%billing@billing":{0:7,1:0},"nonsense":{0:1}}"#).unwrap();
        let read: Vec<_> = table.entries().iter().filter_map(|(key, offsets)| read_offsets(key, offsets)).collect();
        let offsets = read.first().unwrap();
        assert_eq!((offsets.topic.as_str(), offsets.group.as_str(), read.len()), ("%RETRY%billing", "billing", 1));
        assert_eq!(offsets.offsets.iter().map(|(q, o)| (*q, *o)).collect::<Vec<_>>(), [(0, 7), (1, 0)]);
    }

    #[test]
    fn a_connection_names_its_clients() {
        let json = br#"{"connectionSet":[{"clientAddr":"192.0.2.9:40000","clientId":"192.0.2.9@7","language":"JAVA","version":477}],
            "consumeType":"CONSUME_PASSIVELY","messageModel":"CLUSTERING","subscriptionTable":{"orders":{"subString":"a||b"}}}"#;
        let connection = read_connection(&Json::parse(json).unwrap());
        assert_eq!(connection.clients.first().unwrap().client_id, "192.0.2.9@7");
        assert!(connection.clients.first().unwrap().version.starts_with("V5_"), "{connection:?}");
        assert_eq!(connection.subscriptions.get("orders").map(String::as_str), Some("a||b"));
    }

    #[test]
    fn a_client_tells_its_subscriptions_and_queues() {
        let json = br#"{"jstack":"main","mqPopTable":{},"mqTable":{{"brokerName":"broker-a","queueId":1,"topic":"orders"}:{"commitOffset":7},
            {"brokerName":"broker-a","queueId":0,"topic":"orders"}:{}},"properties":{"PROP_CONSUMEORDERLY":"false","maxReconsumeTimes":"-1"},
            "subscriptionSet":[{"classFilterMode":false,"codeSet":[65],"expressionType":"TAG","subString":"a","tagsSet":["a"],"topic":"orders"}]}"#;
        let running = read_running(&Json::parse(json).unwrap());
        let queues: Vec<i32> = running.queues.iter().map(|queue| queue.queue).collect();
        assert_eq!((queues, running.stacks.as_deref()), (vec![0, 1], Some("main")));
        assert_eq!(running.subscriptions.first().unwrap().expression, "a");
        assert_eq!(running.properties.get("maxReconsumeTimes").map(String::as_str), Some("-1"));
    }

    #[test]
    fn a_group_without_its_numbers_is_not_made_up() {
        assert!(read_group(&Json::parse(br#"{"groupName":"billing"}"#).unwrap()).is_none());
        let whole = br#"{"groupName":"billing","consumeEnable":false,"retryQueueNums":1,"retryMaxTimes":16}"#;
        assert!(!read_group(&Json::parse(whole).unwrap()).unwrap().consume_enable);
    }
}
