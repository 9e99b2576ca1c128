//! The fake's reading side.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use millrace_core::name::QueueRef;
use millrace_core::time::Millis;

use super::state::NAME_SERVER;
use super::{Call, FakeCluster, KEY_CAP};
use crate::{
    BrokerError, BrokerRead, BrokerRuntime, ClientRunning, ConsumerConnection, GroupConfig, GroupOffsets, KeyHits,
    Message, PulledBatch, QueueLag, QueueRoute, QueueStats, Result, Subscription, TopicConfig, TopicRoute, Topology,
};

#[async_trait]
impl BrokerRead for FakeCluster {
    async fn topology(&self) -> Result<Topology> {
        self.enter_name_server(Call::Topology).await?;
        Ok(Topology { brokers: self.lock().brokers.values().map(|broker| broker.described.clone()).collect() })
    }

    async fn name_servers(&self) -> Vec<(String, Result<()>)> {
        let answer = self.enter_name_server(Call::NameServers).await;
        vec![(NAME_SERVER.to_owned(), answer)]
    }

    async fn reachable(&self, address: &str) -> Result<()> {
        let broker = {
            let state = self.lock();
            let mut brokers = state.brokers.values();
            let having = brokers.find(|broker| broker.described.replicas.iter().any(|r| r.address == address));
            having.map(|broker| broker.described.name.clone())
        };
        match broker {
            Some(broker) => self.enter(&broker, Call::Reachable).await,
            None => Err(BrokerError::Invalid(format!("{address} is no address of this cluster"))),
        }
    }

    async fn runtime(&self, broker: &str) -> Result<BrokerRuntime> {
        self.enter(broker, Call::Runtime).await?;
        let raw = self.lock().broker(broker)?.runtime.clone();
        let first = |name: &str| raw.get(name).and_then(|text| text.split(' ').next()).and_then(|n| n.parse().ok());
        Ok(BrokerRuntime {
            version: raw.get("brokerVersionDesc").cloned(),
            put_per_second: first("putTps"),
            get_per_second: first("getTransferredTps"),
            boot: raw.get("bootTimestamp").and_then(|ms| ms.parse().ok()).map(Millis),
            disk_used: first("commitLogDiskRatio"),
            clock_offset_ms: raw.get("clockOffset").and_then(|ms| ms.parse().ok()),
            raw,
        })
    }

    async fn config(&self, broker: &str) -> Result<BTreeMap<String, String>> {
        self.enter(broker, Call::Config).await?;
        Ok(self.lock().broker(broker)?.config.clone())
    }

    async fn topics(&self, broker: &str) -> Result<Vec<TopicConfig>> {
        self.enter(broker, Call::Topics).await?;
        Ok(self.lock().broker(broker)?.topics.values().cloned().collect())
    }

    async fn route(&self, topic: &str) -> Result<TopicRoute> {
        self.enter_name_server(Call::Route).await?;
        let state = self.lock();
        let having: Vec<_> = state.brokers.values().filter_map(|b| Some((b, b.topics.get(topic)?))).collect();
        if having.is_empty() {
            return Err(BrokerError::NotFound(format!("topic {topic}")));
        }
        let queues = having.iter().map(|(broker, config)| QueueRoute {
            broker: broker.described.name.clone(),
            read_queues: config.read_queues,
            write_queues: config.write_queues,
            perm: config.perm,
        });
        let brokers = having.iter().map(|(broker, _)| broker.described.clone());
        Ok(TopicRoute { queues: queues.collect(), brokers: brokers.collect() })
    }

    async fn topic_stats(&self, broker: &str, topic: &str) -> Result<Vec<QueueStats>> {
        self.enter(broker, Call::TopicStats).await?;
        let state = self.lock();
        let known = state.broker(broker)?;
        if !known.topics.contains_key(topic) {
            return Err(BrokerError::NotFound(format!("topic {topic}")));
        }
        let queues = known.queues.iter().filter(|((name, _), _)| name == topic);
        let stats = queues.map(|((_, number), queue)| QueueStats {
            queue: QueueRef { topic: topic.to_owned(), broker: broker.to_owned(), queue: *number },
            min: queue.min,
            max: queue.max(),
            last_update: queue.messages.back().map(|message| message.stored),
        });
        Ok(stats.collect())
    }

    async fn groups_of_topic(&self, broker: &str, topic: &str) -> Result<Vec<String>> {
        self.enter(broker, Call::GroupsOfTopic).await?;
        let state = self.lock();
        let known = state.broker(broker)?;
        let with_offsets = known.offsets.keys().filter(|(_, name)| name == topic).map(|(group, _)| group.clone());
        let mut groups: BTreeSet<String> = with_offsets.collect();
        for (group, members) in &known.members {
            if members.values().any(|member| member.subscriptions.contains_key(topic)) {
                groups.insert(group.clone());
            }
        }
        Ok(groups.into_iter().collect())
    }

    async fn groups(&self, broker: &str) -> Result<Vec<GroupConfig>> {
        self.enter(broker, Call::Groups).await?;
        Ok(self.lock().broker(broker)?.groups.values().cloned().collect())
    }

    async fn group_offsets(&self, broker: &str) -> Result<Vec<GroupOffsets>> {
        self.enter(broker, Call::GroupOffsets).await?;
        let state = self.lock();
        let offsets = state.broker(broker)?.offsets.iter().map(|((group, topic), offsets)| GroupOffsets {
            group: group.clone(),
            topic: topic.clone(),
            offsets: offsets.clone(),
        });
        Ok(offsets.collect())
    }

    async fn lag(&self, broker: &str, group: &str, topic: Option<&str>) -> Result<Vec<QueueLag>> {
        self.enter(broker, Call::Lag).await?;
        let state = self.lock();
        let known = state.broker(broker)?;
        let of_group = known.offsets.iter().filter(|((name, on), _)| name == group && topic.is_none_or(|t| t == on));
        let mut lags = Vec::new();
        for ((_, on), offsets) in of_group {
            for ((_, number), queue) in known.queues.iter().filter(|((name, _), _)| name == on) {
                let consumer_offset = offsets.get(number).copied();
                let passed = consumer_offset.and_then(|offset| usize::try_from(offset - 1 - queue.min).ok());
                let passed = passed.and_then(|index| queue.messages.get(index));
                lags.push(QueueLag {
                    queue: QueueRef { topic: on.clone(), broker: broker.to_owned(), queue: *number },
                    broker_offset: queue.max(),
                    consumer_offset,
                    last_consumed: passed.map(|message| message.stored),
                });
            }
        }
        Ok(lags)
    }

    async fn consumers(&self, broker: &str, group: &str) -> Result<ConsumerConnection> {
        self.enter(broker, Call::Consumers).await?;
        let state = self.lock();
        let Some(members) = state.broker(broker)?.members.get(group).filter(|members| !members.is_empty()) else {
            return Err(BrokerError::NotFound(format!("an online client of group {group}")));
        };
        // As a broker keeps it: of the client that came last.
        let last = members.values().next_back();
        let subscriptions = members.values().flat_map(|member| member.subscriptions.clone());
        Ok(ConsumerConnection {
            clients: members.values().map(|member| member.connection.clone()).collect(),
            consume_type: last.map(|member| member.consume_type.clone()).unwrap_or_default(),
            message_model: last.map(|member| member.message_model.clone()).unwrap_or_default(),
            subscriptions: subscriptions.collect(),
        })
    }

    async fn running(&self, broker: &str, group: &str, client: &str, stacks: bool) -> Result<ClientRunning> {
        self.enter(broker, Call::Running).await?;
        let state = self.lock();
        let members = state.broker(broker)?.members.get(group);
        let Some(member) = members.and_then(|members| members.get(client)) else {
            return Err(BrokerError::NotFound(format!("client {client}")));
        };
        let subscriptions = member.subscriptions.iter().map(|(topic, expression)| Subscription {
            topic: topic.clone(),
            expression: expression.clone(),
            expression_type: "TAG".to_owned(),
        });
        Ok(ClientRunning {
            properties: BTreeMap::from([("PROP_CONSUMEORDERLY".to_owned(), "false".to_owned())]),
            subscriptions: subscriptions.collect(),
            queues: state.queues_of(group, client),
            stacks: stacks.then(|| "main [RUNNABLE]".to_owned()),
        })
    }

    async fn messages_by_key(&self, broker: &str, topic: &str, key: &str, from: Millis, to: Millis) -> Result<KeyHits> {
        self.enter(broker, Call::MessagesByKey).await?;
        let state = self.lock();
        let known = state.broker(broker)?;
        let found = known.messages(topic).filter(|message| message.keys().any(|k| k == key));
        let messages = newest(found, from, to);
        let capped = messages.len() >= KEY_CAP;
        let oldest = messages.iter().map(|message| message.stored).min();
        Ok(KeyHits { messages, capped, oldest })
    }

    async fn messages_by_uniq_id(
        &self,
        broker: &str,
        topic: &str,
        id: &str,
        from: Millis,
        to: Millis,
    ) -> Result<Vec<Message>> {
        self.enter(broker, Call::MessagesByUniqId).await?;
        let state = self.lock();
        let known = state.broker(broker)?;
        let found = known.messages(topic).filter(|message| message.uniq_id.as_deref() == Some(id));
        Ok(newest(found, from, to))
    }

    async fn message_at(&self, broker: &str, commit_log_offset: i64) -> Result<Message> {
        self.enter(broker, Call::MessageAt).await?;
        let state = self.lock();
        let mut messages = state.broker(broker)?.queues.values().flat_map(|queue| &queue.messages);
        let found = messages.find(|message| message.commit_log_offset == commit_log_offset);
        found.cloned().ok_or_else(|| BrokerError::NotFound(format!("a message at {broker} {commit_log_offset}")))
    }

    async fn offset_at(&self, queue: &QueueRef, time: Millis) -> Result<i64> {
        self.enter(&queue.broker, Call::OffsetAt).await?;
        let state = self.lock();
        let known = state.broker(&queue.broker)?.queue(queue)?;
        let found = known.messages.iter().find(|message| message.stored >= time);
        Ok(found.map_or_else(|| known.max(), |message| message.offset))
    }

    async fn bounds(&self, queue: &QueueRef) -> Result<(i64, i64)> {
        self.enter(&queue.broker, Call::Bounds).await?;
        let state = self.lock();
        let known = state.broker(&queue.broker)?.queue(queue)?;
        Ok((known.min, known.max()))
    }

    async fn pull(&self, queue: &QueueRef, offset: i64, max: u32) -> Result<PulledBatch> {
        self.enter(&queue.broker, Call::Pull).await?;
        let state = self.lock();
        Ok(state.broker(&queue.broker)?.queue(queue)?.pull(offset, max))
    }
}

/// Those stored within the range (both ends included), newest first, at most [`KEY_CAP`].
fn newest<'a>(found: impl Iterator<Item = &'a Message>, from: Millis, to: Millis) -> Vec<Message> {
    let mut found: Vec<&Message> = found.filter(|message| (from..=to).contains(&message.stored)).collect();
    found.sort_by_key(|message| std::cmp::Reverse((message.stored, message.commit_log_offset)));
    found.into_iter().take(KEY_CAP).cloned().collect()
}
