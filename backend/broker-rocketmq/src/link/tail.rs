//! Membership of a consumer group, long pulls and committed offsets.
//!
//! Invariant: a group that some brokers cannot be told of still works at the others.

use std::collections::BTreeSet;
use std::time::Duration;

use async_trait::async_trait;
use millrace_broker::{Broker, BrokerError, BrokerTail, PulledBatch, Result};
use millrace_core::name::QueueRef;
use serde_json::json;

use super::Link;
use crate::json::Json;
use crate::remoting::{Reply, Request, RequestCode, ResponseCode};

/// What one pull asks for. Brokers answer 32 at most unless told otherwise (`maxTransferCountOnMessageInMemory`).
const BATCH: u32 = 512;
/// Beyond the wait at the broker, before a long pull counts as lost. Brokers look every 5 s for pulls that waited enough.
const GRACE: Duration = Duration::from_secs(15);

#[async_trait]
impl BrokerTail for Link {
    async fn heartbeat(&self, group: &str, client: &str, topics: &[String]) -> Result<()> {
        let body = self.heartbeat_body(group, client, topics);
        let request = Request::new(RequestCode::HeartBeat).body(body);
        self.tell_every_broker(&request).await
    }

    async fn members(&self, group: &str, topic: &str) -> Result<Vec<String>> {
        let route = self.ask_route(topic).await?;
        let request = Request::new(RequestCode::ConsumerListByGroup).field("consumerGroup", group);
        let names = route.brokers.iter().map(|broker| broker.name.as_str());
        let replies = futures::future::join_all(names.map(|broker| self.ask(broker, &request))).await;
        let mut members = BTreeSet::new();
        let mut outcome = Err(BrokerError::NotFound(format!("topic {topic}")));
        for reply in replies {
            match reply.and_then(|reply| read_members(reply, group)) {
                Ok(some) => {
                    members.extend(some);
                    outcome = Ok(());
                }
                Err(error) if outcome.is_err() => outcome = Err(error),
                Err(_) => {}
            }
        }
        outcome.map(|()| members.into_iter().collect())
    }

    async fn leave(&self, group: &str, client: &str) -> Result<()> {
        let request =
            Request::new(RequestCode::UnregisterClient).field("clientID", client).field("consumerGroup", group);
        self.tell_every_broker(&request).await
    }

    async fn tail(&self, group: &str, queue: &QueueRef, offset: i64, wait: Duration) -> Result<PulledBatch> {
        self.pull_waiting(group, queue, offset, BATCH, wait, GRACE).await
    }

    async fn committed(&self, group: &str, queue: &QueueRef) -> Result<Option<i64>> {
        self.ask_committed(group, queue).await
    }

    async fn commit(&self, group: &str, queue: &QueueRef, offset: i64) -> Result<()> {
        let request = Request::new(RequestCode::UpdateConsumerOffset)
            .field("consumerGroup", group)
            .field("topic", &queue.topic)
            .field("queueId", queue.queue)
            .field("commitOffset", offset);
        self.ask(&queue.broker, &request).await?.success(|| queue.to_string()).map(drop)
    }
}

impl Link {
    /// A push consumer's heartbeat: the broker then counts the client among the group's members.
    fn heartbeat_body(&self, group: &str, client: &str, topics: &[String]) -> Vec<u8> {
        let subscriptions: Vec<_> = topics
            .iter()
            .map(|topic| {
                json!({
                    "classFilterMode": false, "codeSet": [], "expressionType": "TAG", "subString": "*",
                    "subVersion": self.subscribed_at.0, "tagsSet": [], "topic": topic,
                })
            })
            .collect();
        let consumer = json!({
            "consumeFromWhere": "CONSUME_FROM_FIRST_OFFSET", "consumeType": "CONSUME_PASSIVELY", "groupName": group,
            "messageModel": "CLUSTERING", "subscriptionDataSet": subscriptions, "unitMode": false,
        });
        json!({"clientID": client, "consumerDataSet": [consumer], "producerDataSet": []}).to_string().into_bytes()
    }

    /// Succeeds where one broker takes it; fails with one of the errors where none does.
    async fn tell_every_broker(&self, request: &Request) -> Result<()> {
        let topology = self.known_topology().await?;
        let brokers: Vec<&Broker> = topology.brokers.iter().collect();
        let replies = futures::future::join_all(brokers.iter().map(|broker| self.ask(&broker.name, request))).await;
        let mut outcome = Err(BrokerError::NotFound("a broker".to_owned()));
        for (reply, broker) in replies.into_iter().zip(brokers) {
            match reply.and_then(|reply| reply.success(|| format!("the group at {}", broker.name))) {
                Ok(_) => outcome = Ok(()),
                Err(error) => {
                    tracing::debug!(broker = %broker.name, %error, "a broker did not hear of a group member");
                    if outcome.is_err() {
                        outcome = Err(error);
                    }
                }
            }
        }
        outcome
    }
}

/// A broker where the group has no member answers an error, whose text names none.
fn read_members(reply: Reply, group: &str) -> Result<Vec<String>> {
    if reply.code == ResponseCode::SYSTEM_ERROR && reply.remark.starts_with("no consumer for this group") {
        return Ok(Vec::new());
    }
    let reply = reply.success(|| format!("group {group}"))?;
    let json = reply.json()?;
    let members = json.get("consumerIdList").map(Json::items).unwrap_or_default();
    Ok(members.iter().filter_map(Json::text).map(str::to_owned).collect())
}
