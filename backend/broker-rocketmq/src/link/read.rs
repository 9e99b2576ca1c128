//! The port's reading side: each call goes to the module of its subject.

use std::collections::BTreeMap;

use async_trait::async_trait;
use millrace_broker::{
    BrokerRead, BrokerRuntime, ClientRunning, ConsumerConnection, GroupConfig, GroupOffsets, KeyHits, Message,
    PulledBatch, QueueLag, QueueStats, Result, TopicConfig, TopicRoute, Topology,
};
use millrace_core::name::QueueRef;
use millrace_core::time::Millis;

use super::Link;
use super::messages::KeyKind;

#[async_trait]
impl BrokerRead for Link {
    async fn topology(&self) -> Result<Topology> {
        self.ask_topology().await
    }

    async fn name_servers(&self) -> Vec<(String, Result<()>)> {
        self.ask_name_server_states().await
    }

    async fn reachable(&self, address: &str) -> Result<()> {
        self.reach(address).await
    }

    async fn runtime(&self, broker: &str) -> Result<BrokerRuntime> {
        self.ask_runtime(broker).await
    }

    async fn config(&self, broker: &str) -> Result<BTreeMap<String, String>> {
        self.ask_config(broker).await
    }

    async fn topics(&self, broker: &str) -> Result<Vec<TopicConfig>> {
        self.ask_topics(broker).await
    }

    async fn route(&self, topic: &str) -> Result<TopicRoute> {
        self.ask_route(topic).await
    }

    async fn topic_stats(&self, broker: &str, topic: &str) -> Result<Vec<QueueStats>> {
        self.ask_topic_stats(broker, topic).await
    }

    async fn groups_of_topic(&self, broker: &str, topic: &str) -> Result<Vec<String>> {
        self.ask_groups_of_topic(broker, topic).await
    }

    async fn groups(&self, broker: &str) -> Result<Vec<GroupConfig>> {
        self.ask_groups(broker).await
    }

    async fn group_offsets(&self, broker: &str) -> Result<Vec<GroupOffsets>> {
        self.ask_group_offsets(broker).await
    }

    async fn lag(&self, broker: &str, group: &str, topic: Option<&str>) -> Result<Vec<QueueLag>> {
        self.ask_lag(broker, group, topic).await
    }

    async fn consumers(&self, broker: &str, group: &str) -> Result<ConsumerConnection> {
        self.ask_consumers(broker, group).await
    }

    async fn running(&self, broker: &str, group: &str, client: &str, stacks: bool) -> Result<ClientRunning> {
        self.ask_running(broker, group, client, stacks).await
    }

    async fn messages_by_key(&self, broker: &str, topic: &str, key: &str, from: Millis, to: Millis) -> Result<KeyHits> {
        self.look_up(broker, topic, KeyKind::Key(key), from, to).await
    }

    async fn messages_by_uniq_id(
        &self,
        broker: &str,
        topic: &str,
        id: &str,
        from: Millis,
        to: Millis,
    ) -> Result<Vec<Message>> {
        Ok(self.look_up(broker, topic, KeyKind::UniqId(id), from, to).await?.messages)
    }

    async fn message_at(&self, broker: &str, commit_log_offset: i64) -> Result<Message> {
        self.ask_message_at(broker, commit_log_offset).await
    }

    async fn offset_at(&self, queue: &QueueRef, time: Millis) -> Result<i64> {
        self.ask_offset_at(queue, time).await
    }

    async fn bounds(&self, queue: &QueueRef) -> Result<(i64, i64)> {
        self.ask_bounds(queue).await
    }

    async fn pull(&self, queue: &QueueRef, offset: i64, max: u32) -> Result<PulledBatch> {
        self.pull_now(queue, offset, max).await
    }
}
