//! The fake cluster's memory: brokers with their topics, groups, members, offsets and queues.

use std::collections::{BTreeMap, HashMap, VecDeque};

use millrace_core::name::QueueRef;
use millrace_core::time::Millis;

use super::{Call, FakeMessage, Fault, Forwarded, PULL_CAP};
use crate::{
    Body, Broker, BrokerError, ClientConnection, GroupConfig, Message, PulledBatch, Replica, Result, TopicConfig,
};

pub(super) const NAME_SERVER: &str = "192.0.2.250:9876";
/// Bytes that a stored message takes beside its body and properties.
const ENVELOPE: i32 = 100;

#[derive(Debug)]
pub(super) struct State {
    pub(super) brokers: BTreeMap<String, FakeBroker>,
    pub(super) faults: HashMap<(String, Option<Call>), Fault>,
    pub(super) name_server_fault: Option<Fault>,
    pub(super) calls: HashMap<Call, usize>,
    pub(super) deleted_routes: Vec<(String, String)>,
    /// What becomes of the next forwarded messages; of more nothing special.
    pub(super) forwards: VecDeque<Forwarded>,
    /// Store time of the next message.
    pub(super) now: Millis,
    /// Messages stored so far; also the counter of unique ids.
    stored: u32,
}

impl Default for State {
    fn default() -> Self {
        Self {
            brokers: BTreeMap::new(),
            faults: HashMap::new(),
            name_server_fault: None,
            calls: HashMap::new(),
            deleted_routes: Vec::new(),
            forwards: VecDeque::new(),
            now: Millis(1_800_000_000_000),
            stored: 0,
        }
    }
}

#[derive(Debug)]
pub(super) struct FakeBroker {
    pub(super) described: Broker,
    pub(super) topics: BTreeMap<String, TopicConfig>,
    pub(super) queues: BTreeMap<(String, i32), FakeQueue>,
    pub(super) groups: BTreeMap<String, GroupConfig>,
    /// By group and client id.
    pub(super) members: BTreeMap<String, BTreeMap<String, Membership>>,
    /// By group and queue.
    pub(super) offsets: BTreeMap<(String, String), BTreeMap<i32, i64>>,
    pub(super) config: BTreeMap<String, String>,
    pub(super) runtime: BTreeMap<String, String>,
    commit_log: i64,
    number: u8,
}

#[derive(Debug)]
pub(super) struct Membership {
    /// Topic and expression.
    pub(super) subscriptions: BTreeMap<String, String>,
    pub(super) consume_type: String,
    pub(super) message_model: String,
    pub(super) connection: ClientConnection,
}

#[derive(Debug, Default)]
pub(super) struct FakeQueue {
    pub(super) min: i64,
    pub(super) messages: VecDeque<Message>,
}

impl FakeQueue {
    pub(super) fn max(&self) -> i64 {
        self.min + i64::try_from(self.messages.len()).unwrap_or(i64::MAX)
    }

    /// Messages from `offset` on; outside of the queue's bounds it answers where to go on instead.
    pub(super) fn pull(&self, offset: i64, most: u32) -> PulledBatch {
        let start = offset.clamp(self.min, self.max());
        let most = usize::try_from(most).unwrap_or(PULL_CAP).min(PULL_CAP);
        let skip = usize::try_from(start - self.min).unwrap_or_default();
        let messages: Vec<Message> =
            if start == offset { self.messages.iter().skip(skip).take(most).cloned().collect() } else { Vec::new() };
        PulledBatch {
            next: start + i64::try_from(messages.len()).unwrap_or_default(),
            messages,
            min: self.min,
            max: self.max(),
        }
    }
}

impl FakeBroker {
    pub(super) fn address(&self) -> String {
        self.described.address().unwrap_or_default().to_owned()
    }

    pub(super) fn put_topic(&mut self, topic: TopicConfig) {
        for queue in 0..topic.read_queues.max(topic.write_queues) {
            let queue = i32::try_from(queue).unwrap_or(i32::MAX);
            self.queues.entry((topic.name.clone(), queue)).or_default();
        }
        self.topics.insert(topic.name.clone(), topic);
    }

    pub(super) fn queue(&self, queue: &QueueRef) -> Result<&FakeQueue> {
        self.queues.get(&(queue.topic.clone(), queue.queue)).ok_or_else(|| BrokerError::NotFound(queue.to_string()))
    }

    pub(super) fn messages(&self, topic: &str) -> impl Iterator<Item = &Message> {
        self.queues.iter().filter(move |((name, _), _)| name == topic).flat_map(|(_, queue)| &queue.messages)
    }
}

impl State {
    pub(super) fn add_broker(&mut self, name: &str, replicas: &[i64]) {
        let number = u8::try_from(self.brokers.len() + 1).unwrap_or(u8::MAX);
        let replicas = replicas
            .iter()
            .map(|id| Replica { id: *id, address: format!("192.0.2.{number}:{}", 10_911 + id * 20) })
            .collect();
        let described = Broker { name: name.to_owned(), cluster: "FakeCluster".to_owned(), replicas };
        let broker = FakeBroker {
            described,
            topics: BTreeMap::new(),
            queues: BTreeMap::new(),
            groups: BTreeMap::new(),
            members: BTreeMap::new(),
            offsets: BTreeMap::new(),
            config: BTreeMap::from([("brokerName".to_owned(), name.to_owned())]),
            runtime: BTreeMap::from([
                ("brokerVersionDesc".to_owned(), "V5_5_0".to_owned()),
                ("putTps".to_owned(), "12.5 11.0 10.0".to_owned()),
                ("getTransferredTps".to_owned(), "25.0 22.0 20.0".to_owned()),
                ("bootTimestamp".to_owned(), "1799999000000".to_owned()),
                ("commitLogDiskRatio".to_owned(), "0.31".to_owned()),
            ]),
            commit_log: 0,
            number,
        };
        self.brokers.insert(name.to_owned(), broker);
    }

    pub(super) fn broker(&self, name: &str) -> Result<&FakeBroker> {
        self.brokers.get(name).ok_or_else(|| BrokerError::NoSuchBroker(name.to_owned()))
    }

    pub(super) fn broker_mut(&mut self, name: &str) -> Result<&mut FakeBroker> {
        self.brokers.get_mut(name).ok_or_else(|| BrokerError::NoSuchBroker(name.to_owned()))
    }

    pub(super) fn add_group(&mut self, group: &str) {
        for broker in self.brokers.values_mut() {
            broker.groups.entry(group.to_owned()).or_insert_with(|| GroupConfig {
                name: group.to_owned(),
                consume_enable: true,
                broadcast_enable: true,
                orderly: false,
                retry_queues: 1,
                retry_max_times: 16,
            });
        }
    }

    pub(super) fn commit(&mut self, group: &str, queue: &QueueRef, offset: i64) {
        if let Some(broker) = self.brokers.get_mut(&queue.broker) {
            let offsets = broker.offsets.entry((group.to_owned(), queue.topic.clone())).or_default();
            offsets.insert(queue.queue, offset);
        }
    }

    pub(super) fn committed(&self, group: &str, queue: &QueueRef) -> Option<i64> {
        let broker = self.brokers.get(&queue.broker)?;
        broker.offsets.get(&(group.to_owned(), queue.topic.clone()))?.get(&queue.queue).copied()
    }

    pub(super) fn members(&self, broker: &str, group: &str) -> Vec<String> {
        let members = self.brokers.get(broker).and_then(|broker| broker.members.get(group));
        members.map(|members| members.keys().cloned().collect()).unwrap_or_default()
    }

    /// The queues that a client reads: members of a topic take turns over its queues, as in RocketMQ.
    pub(super) fn queues_of(&self, group: &str, client: &str) -> Vec<QueueRef> {
        let mut queues = Vec::new();
        for (name, broker) in &self.brokers {
            let Some(members) = broker.members.get(group) else { continue };
            for (topic, queue) in broker.queues.keys() {
                let readers: Vec<&String> =
                    members.iter().filter(|(_, m)| m.subscriptions.contains_key(topic)).map(|(id, _)| id).collect();
                let turn = usize::try_from(*queue).unwrap_or_default().checked_rem(readers.len());
                if turn.and_then(|turn| readers.get(turn)).is_some_and(|id| *id == client) {
                    queues.push(QueueRef { topic: topic.clone(), broker: name.clone(), queue: *queue });
                }
            }
        }
        queues
    }

    pub(super) fn expire(&mut self, queue: &QueueRef, min: i64) {
        let broker = self.brokers.get_mut(&queue.broker);
        if let Some(queue) = broker.and_then(|broker| broker.queues.get_mut(&(queue.topic.clone(), queue.queue))) {
            let gone = usize::try_from(min - queue.min).unwrap_or_default().min(queue.messages.len());
            queue.messages.drain(..gone);
            queue.min = queue.min.max(min);
        }
    }

    pub(super) fn append(&mut self, message: FakeMessage) -> Message {
        let with_topic = || {
            let mut having = self.brokers.iter().filter(|(_, broker)| broker.topics.contains_key(&message.topic));
            having.next().map(|(name, _)| name.clone())
        };
        let broker_name = message.broker.clone().or_else(with_topic);
        let broker_name = broker_name.unwrap_or_else(|| panic!("no broker of the fake has topic {}", message.topic));
        let stored = message.stored.unwrap_or(self.now);
        self.now = Millis(self.now.0.max(stored.0)).plus(1);
        self.stored += 1;
        let broker = self.brokers.get_mut(&broker_name).unwrap_or_else(|| panic!("no broker {broker_name}"));
        let place = QueueRef { topic: message.topic.clone(), broker: broker_name, queue: message.queue };
        let address = broker.address();
        let number = broker.number;
        let commit_log_offset = broker.commit_log;
        let stored_message = describe(message, &place, stored, self.stored, commit_log_offset, (number, address));
        broker.commit_log += i64::from(stored_message.store_size);
        let queue = broker.queues.get_mut(&(place.topic.clone(), place.queue));
        let queue = queue.unwrap_or_else(|| panic!("the fake has no {place}"));
        let stored_message = Message { offset: queue.max(), ..stored_message };
        queue.messages.push_back(stored_message.clone());
        stored_message
    }
}

/// The message as a broker would store it, its queue offset still open.
fn describe(
    message: FakeMessage,
    place: &QueueRef,
    stored: Millis,
    counter: u32,
    commit_log_offset: i64,
    (number, address): (u8, String),
) -> Message {
    let uniq_id =
        message.uniq_id.unwrap_or_else(|| format!("C0000264000A11223344{:08X}{:04X}", counter, counter & 0xffff));
    let mut properties = message.properties;
    if !message.keys.is_empty() {
        properties.push(("KEYS".to_owned(), message.keys.join(" ")));
    }
    if !properties.iter().any(|(name, _)| name == "UNIQ_KEY") {
        properties.push(("UNIQ_KEY".to_owned(), uniq_id));
    }
    let uniq_id = properties.iter().find(|(name, _)| name == "UNIQ_KEY").map(|(_, id)| id.clone());
    let property_bytes: usize = properties.iter().map(|(name, value)| name.len() + value.len() + 2).sum();
    let size = i32::try_from(property_bytes + message.body.len()).unwrap_or(i32::MAX - ENVELOPE);
    Message {
        queue: place.clone(),
        offset: 0,
        commit_log_offset,
        offset_id: format!("C00002{number:02X}{:08X}{commit_log_offset:016X}", 10_911),
        uniq_id,
        born: message.born.unwrap_or(stored),
        born_host: message.born_host,
        stored,
        store_host: address,
        sys_flag: 0,
        flag: 0,
        reconsume_times: message.reconsume_times,
        properties,
        body: Body { bytes: message.body, inflate_error: message.inflate_error },
        store_size: size + ENVELOPE,
    }
}
