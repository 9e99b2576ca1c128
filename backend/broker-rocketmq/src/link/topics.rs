//! Topics of a broker: configurations, offsets, and who reads them.

use std::collections::BTreeMap;

use millrace_broker::{MessageType, Perm, QueueStats, Result, TopicConfig};
use millrace_core::name::QueueRef;
use millrace_core::time::Millis;

use super::Link;
use crate::json::Json;
use crate::remoting::{Reply, Request, RequestCode};

impl Link {
    pub(super) async fn ask_topics(&self, broker: &str) -> Result<Vec<TopicConfig>> {
        let pages = Pages { code: RequestCode::AllTopicConfig, sequence: "topicSeq", total: "totalTopicNum" };
        let mut topics = Vec::new();
        for reply in self.ask_pages(broker, pages, "topicConfigTable").await? {
            let json = reply.json()?;
            let table = json.get("topicConfigTable").map(Json::entries).unwrap_or_default();
            topics.extend(table.iter().filter_map(|(_, config)| read_topic(config)));
        }
        topics.sort_by(|a: &TopicConfig, b| a.name.cmp(&b.name));
        topics.dedup_by(|a, b| a.name == b.name);
        Ok(topics)
    }

    /// `NotFound` where the broker has no such topic.
    pub(super) async fn ask_topic(&self, broker: &str, topic: &str) -> Result<TopicConfig> {
        let request = Request::new(RequestCode::TopicConfig).field("topic", topic);
        let reply = self.ask(broker, &request).await?.success(|| format!("topic {topic}"))?;
        read_topic(&reply.json()?).ok_or_else(|| reply.misunderstood("no topic in its answer"))
    }

    pub(super) async fn ask_topic_stats(&self, broker: &str, topic: &str) -> Result<Vec<QueueStats>> {
        let request = Request::new(RequestCode::TopicStatsInfo).field("topic", topic);
        let reply = self.ask(broker, &request).await?.success(|| format!("topic {topic}"))?;
        let json = reply.json()?;
        let table = json.get("offsetTable").ok_or_else(|| reply.misunderstood("no offsets in its answer"))?;
        let mut stats = Vec::new();
        for (key, offsets) in table.entries() {
            let (Some(queue), Some(min), Some(max)) =
                (read_queue(key), offsets.number_of("minOffset"), offsets.number_of("maxOffset"))
            else {
                return Err(reply.misunderstood("a queue without offsets"));
            };
            let last_update = offsets.number_of("lastUpdateTimestamp").filter(|ms: &i64| *ms > 0).map(Millis);
            stats.push(QueueStats { queue, min: i64::max(min, 0), max: i64::max(max, 0), last_update });
        }
        stats.sort_by(|a, b| a.queue.cmp(&b.queue));
        Ok(stats)
    }

    pub(super) async fn ask_groups_of_topic(&self, broker: &str, topic: &str) -> Result<Vec<String>> {
        let request = Request::new(RequestCode::QueryTopicConsumeByWho).field("topic", topic);
        let reply = self.ask(broker, &request).await?.success(|| format!("topic {topic}"))?;
        let json = reply.json()?;
        let groups = json.get("groupList").map(Json::items).unwrap_or_default();
        let mut groups: Vec<String> = groups.iter().filter_map(Json::text).map(str::to_owned).collect();
        groups.sort();
        Ok(groups)
    }

    /// All pages of a table. Brokers of 5.4 and later may cut it (`enableSplitMetadata`) and then tell the total;
    /// others answer the whole and ignore where we want to go on.
    pub(super) async fn ask_pages(&self, broker: &str, pages: Pages, table: &str) -> Result<Vec<Reply>> {
        let mut replies = Vec::new();
        let mut seen = 0;
        let mut version = String::new();
        loop {
            let request = Request::new(pages.code).field(pages.sequence, seen).field("dataVersion", &version);
            let reply = self.ask(broker, &request).await?.success(|| format!("the table of {broker}"))?;
            let json = reply.json()?;
            let length = json.get(table).map_or(0, |table| table.entries().len());
            let total = reply.fields.get(pages.total).and_then(|total| total.parse::<usize>().ok());
            let now = json.get("dataVersion").map(version_text).unwrap_or_default();
            if seen > 0 && now != version {
                // It changed between two pages, and the broker began anew: so do we.
                replies.clear();
                seen = 0;
            }
            version = now;
            seen += length;
            replies.push(reply);
            if length == 0 || total.is_none_or(|total| seen >= total) {
                return Ok(replies);
            }
        }
    }
}

/// How a table is paged: the request, its field for the first entry, the answer's field for the total.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pages {
    pub(super) code: RequestCode,
    pub(super) sequence: &'static str,
    pub(super) total: &'static str,
}

/// A `DataVersion` as the broker parses it.
fn version_text(version: &Json) -> String {
    let number = |name| version.number_of::<i64>(name).unwrap_or_default();
    format!(
        r#"{{"counter":{},"stateVersion":{},"timestamp":{}}}"#,
        number("counter"),
        number("stateVersion"),
        number("timestamp")
    )
}

fn read_topic(config: &Json) -> Option<TopicConfig> {
    let attributes = config.get("attributes").map(Json::entries).unwrap_or_default();
    let attributes = attributes.iter().filter_map(|(name, value)| {
        let name = name.text()?;
        Some((name.strip_prefix('+').unwrap_or(name).to_owned(), value.text()?.to_owned()))
    });
    let attributes: BTreeMap<String, String> = attributes.collect();
    Some(TopicConfig {
        name: config.text_of("topicName")?,
        read_queues: config.number_of("readQueueNums")?,
        write_queues: config.number_of("writeQueueNums")?,
        perm: Perm(config.number_of("perm")?),
        message_type: MessageType::from_attribute(attributes.get("message.type").map(String::as_str)),
        order: config.get("order").and_then(Json::flag).unwrap_or_default(),
        attributes,
    })
}

/// A queue as a key of a table: an object, or the same object as text.
pub(super) fn read_queue(key: &Json) -> Option<QueueRef> {
    if let Json::Text(text) = key {
        return read_queue(&Json::parse(text.as_bytes()).ok().filter(|json| !json.entries().is_empty())?);
    }
    Some(QueueRef {
        topic: key.text_of("topic")?,
        broker: key.text_of("brokerName")?,
        queue: key.number_of("queueId")?,
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use millrace_broker::MessageType;

    use super::{read_queue, read_topic, version_text};
    use crate::json::Json;

    #[test]
    fn a_topic_tells_its_type_and_attributes() {
        let json = br#"{"attributes":{"+message.type":"FIFO","cleanup.policy":"DELETE"},"order":true,"perm":6,
            "readQueueNums":8,"topicFilterType":"SINGLE_TAG","topicName":"orders","topicSysFlag":0,"writeQueueNums":4}"#;
        let topic = read_topic(&Json::parse(json).unwrap()).unwrap();
        assert_eq!(
            (topic.message_type, topic.order, topic.read_queues, topic.write_queues),
            (MessageType::Fifo, true, 8, 4)
        );
        assert_eq!(topic.attributes.get("cleanup.policy").map(String::as_str), Some("DELETE"));
    }

    #[test]
    fn a_queue_is_a_key_as_object_and_as_text() {
        let object = Json::parse(br#"{"brokerName":"broker-a","queueId":3,"topic":"orders"}"#).unwrap();
        let queue = read_queue(&object).unwrap();
        assert_eq!(queue.to_string(), "orders@broker-a queue 3");
        let text = Json::Text(r#"{"brokerName":"broker-a","queueId":3,"topic":"orders"}"#.to_owned());
        assert_eq!(read_queue(&text), Some(queue));
        assert_eq!(read_queue(&Json::Text("orders".to_owned())), None);
    }

    #[test]
    fn a_version_goes_back_as_it_came() {
        let json = Json::parse(br#"{"counter":7,"stateVersion":0,"timestamp":1700000000000}"#).unwrap();
        assert_eq!(version_text(&json), r#"{"counter":7,"stateVersion":0,"timestamp":1700000000000}"#);
    }
}
