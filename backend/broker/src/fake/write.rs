//! The fake's sides that change something: topics, group membership, offsets and sends.

use std::time::Duration;

use async_trait::async_trait;
use millrace_core::name::{DLQ_PREFIX, QueueRef, RETRY_PREFIX};

use super::state::NAME_SERVER;
use super::{Call, FakeClient, FakeCluster, FakeMessage, Forwarded, PULL_CAP};
use crate::{
    BrokerError, BrokerSend, BrokerTail, BrokerWrite, GroupConfig, MessageToForward, MessageToSend, PulledBatch,
    Result, SendReceipt, StoreStatus, TopicConfig,
};

#[async_trait]
impl BrokerWrite for FakeCluster {
    async fn put_topic(&self, broker: &str, topic: &TopicConfig) -> Result<()> {
        self.enter(broker, Call::PutTopic).await?;
        self.lock().broker_mut(broker)?.put_topic(topic.clone());
        Ok(())
    }

    async fn delete_topic(&self, broker: &str, topic: &str) -> Result<()> {
        self.enter(broker, Call::DeleteTopic).await?;
        let mut state = self.lock();
        let known = state.broker_mut(broker)?;
        known.topics.remove(topic);
        known.queues.retain(|(name, _), _| name != topic);
        known.offsets.retain(|(_, name), _| name != topic);
        Ok(())
    }

    async fn delete_route(&self, name_server: &str, topic: &str) -> Result<()> {
        self.enter_name_server(Call::DeleteRoute).await?;
        if name_server != NAME_SERVER {
            return Err(BrokerError::Invalid(format!("{name_server} is no name server of this cluster")));
        }
        self.lock().deleted_routes.push((name_server.to_owned(), topic.to_owned()));
        Ok(())
    }

    async fn put_group(&self, broker: &str, group: &GroupConfig) -> Result<()> {
        self.enter(broker, Call::PutGroup).await?;
        self.lock().broker_mut(broker)?.groups.insert(group.name.clone(), group.clone());
        Ok(())
    }

    async fn delete_group(&self, broker: &str, group: &str) -> Result<()> {
        self.enter(broker, Call::DeleteGroup).await?;
        let mut state = self.lock();
        let known = state.broker_mut(broker)?;
        known.groups.remove(group);
        known.offsets.retain(|(name, _), _| name != group);
        Ok(())
    }

    async fn reset_offset(&self, group: &str, queue: &QueueRef, offset: i64) -> Result<()> {
        self.enter(&queue.broker, Call::ResetOffset).await?;
        let mut state = self.lock();
        let known = state.broker(&queue.broker)?.queue(queue)?;
        if !(known.min..=known.max()).contains(&offset) {
            return Err(BrokerError::Invalid(format!("offset {offset} is not in {queue}")));
        }
        state.commit(group, queue, offset);
        Ok(())
    }
}

#[async_trait]
impl BrokerTail for FakeCluster {
    async fn heartbeat(&self, group: &str, client: &str, topics: &[String]) -> Result<()> {
        let mut outcome = Ok(());
        let mut taken = 0;
        for broker in self.broker_names() {
            match self.enter(&broker, Call::Heartbeat).await {
                Ok(()) => taken += 1,
                Err(error) => outcome = Err(error),
            }
        }
        if taken == 0 {
            return outcome;
        }
        let member = topics.iter().fold(FakeClient::of(group, client), |member, topic| member.subscribed(topic, "*"));
        self.join(&member);
        Ok(())
    }

    async fn members(&self, group: &str, topic: &str) -> Result<Vec<String>> {
        let mut members = std::collections::BTreeSet::new();
        let mut outcome = Err(BrokerError::NotFound(format!("topic {topic}")));
        for broker in self.broker_names() {
            if !self.lock().broker(&broker)?.topics.contains_key(topic) {
                continue;
            }
            match self.enter(&broker, Call::Members).await {
                Ok(()) => {
                    members.extend(self.lock().members(&broker, group));
                    outcome = Ok(());
                }
                Err(error) if outcome.is_err() => outcome = Err(error),
                Err(_) => {}
            }
        }
        outcome.map(|()| members.into_iter().collect())
    }

    async fn leave(&self, group: &str, client: &str) -> Result<()> {
        for broker in self.broker_names() {
            self.enter(&broker, Call::Leave).await?;
            if let Some(members) = self.lock().broker_mut(&broker)?.members.get_mut(group) {
                members.remove(client);
            }
        }
        Ok(())
    }

    async fn tail(&self, _group: &str, queue: &QueueRef, offset: i64, wait: Duration) -> Result<PulledBatch> {
        self.enter(&queue.broker, Call::Tail).await?;
        let most = u32::try_from(PULL_CAP).unwrap_or(u32::MAX);
        let deadline = tokio::time::Instant::now() + wait;
        loop {
            let arrived = self.arrived.notified();
            tokio::pin!(arrived);
            // Waiting begins before the look, so that no message slips in between.
            arrived.as_mut().enable();
            let batch = self.lock().broker(&queue.broker)?.queue(queue)?.pull(offset, most);
            if !batch.messages.is_empty() || batch.next != offset {
                return Ok(batch);
            }
            if tokio::time::timeout_at(deadline, arrived).await.is_err() {
                return Ok(batch);
            }
        }
    }

    async fn committed(&self, group: &str, queue: &QueueRef) -> Result<Option<i64>> {
        self.enter(&queue.broker, Call::Committed).await?;
        Ok(self.lock().committed(group, queue))
    }

    async fn commit(&self, group: &str, queue: &QueueRef, offset: i64) -> Result<()> {
        self.enter(&queue.broker, Call::Commit).await?;
        self.lock().commit(group, queue, offset);
        Ok(())
    }
}

#[async_trait]
impl BrokerSend for FakeCluster {
    async fn send(&self, message: MessageToSend) -> Result<SendReceipt> {
        let (broker, queue) = match message.queue.clone() {
            Some(place) => place,
            None => self.any_writable(&message.topic)?,
        };
        self.enter(&broker, Call::Send).await?;
        let place = QueueRef { topic: message.topic.clone(), broker, queue };
        self.lock().broker(&place.broker)?.queue(&place)?;
        let mut sent = FakeMessage::to(&message.topic).on(&place.broker, place.queue).body(message.body);
        sent.keys = message.keys;
        sent.properties = message.properties;
        if let Some(tags) = message.tags {
            sent = sent.tag(&tags);
        }
        let stored = self.append(sent);
        Ok(SendReceipt {
            status: StoreStatus::Ok,
            message_id: stored.id().to_owned(),
            offset_id: Some(stored.offset_id.clone()),
            queue: stored.queue,
            offset: stored.offset,
        })
    }

    async fn forward(&self, broker: &str, message: MessageToForward) -> Result<SendReceipt> {
        self.enter(broker, Call::Forward).await?;
        let outcome = {
            let mut state = self.lock();
            let known = state.broker_mut(broker)?;
            if !known.topics.contains_key(&message.topic) {
                // Retry topics are made by the first message.
                if !message.topic.starts_with(RETRY_PREFIX) {
                    return Err(BrokerError::NotFound(format!("topic {}", message.topic)));
                }
                known.put_topic(super::plain_topic(&message.topic, 1));
            }
            state.forwards.pop_front().unwrap_or(Forwarded::As(StoreStatus::Ok))
        };
        let place = match outcome {
            Forwarded::DeadAgain => message.topic.replacen(RETRY_PREFIX, DLQ_PREFIX, 1),
            _ => message.topic.clone(),
        };
        let mut sent = FakeMessage::to(&place).on(broker, 0).body(message.body);
        sent.properties = message.properties;
        let stored = self.append(sent);
        let said = |status| SendReceipt {
            status,
            message_id: stored.id().to_owned(),
            offset_id: Some(stored.offset_id.clone()),
            queue: QueueRef { topic: message.topic.clone(), ..stored.queue.clone() },
            offset: stored.offset,
        };
        match outcome {
            Forwarded::AnswerLost => Err(BrokerError::TimedOut { address: broker.to_owned(), millis: 3_000 }),
            Forwarded::As(status) => Ok(said(status)),
            Forwarded::DeadAgain => Ok(said(StoreStatus::Ok)),
        }
    }
}

impl FakeCluster {
    /// The writable queue with the fewest messages, the first of several.
    fn any_writable(&self, topic: &str) -> Result<(String, i32)> {
        let state = self.lock();
        let mut fewest: Option<(usize, String, i32)> = None;
        for (name, broker) in &state.brokers {
            let Some(config) = broker.topics.get(topic).filter(|config| config.perm.writable()) else { continue };
            for queue in 0..i32::try_from(config.write_queues).unwrap_or(i32::MAX) {
                let length = broker.queues.get(&(topic.to_owned(), queue)).map_or(0, |queue| queue.messages.len());
                if fewest.as_ref().is_none_or(|(least, ..)| length < *least) {
                    fewest = Some((length, name.clone(), queue));
                }
            }
        }
        let found = fewest.map(|(_, broker, queue)| (broker, queue));
        found.ok_or_else(|| BrokerError::NotFound(format!("topic {topic}")))
    }
}
