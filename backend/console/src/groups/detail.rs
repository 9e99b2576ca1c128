//! One group, read now: how far it is on every queue and who reads it, who is online, and what they subscribe to.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures::StreamExt;
use futures::future::join_all;
use millrace_broker::{BrokerError, ClientConnection, ClientRunning, ConsumerConnection, Subscription};
use millrace_core::coverage::{Coverage, Known, Why};
use millrace_core::name::QueueRef;
use millrace_core::time::Millis;

use super::DEADLINE;
use crate::console::Console;
use crate::error::{ConsoleError, Result};
use crate::snapshot::{GroupState, Snapshot, within};

/// Clients that are asked what they read; of more, the first.
const CLIENTS_ASKED: usize = 100;
/// Queues whose oldest unread message is looked at; of more, the first.
const QUEUES_LOOKED_AT: usize = 64;
const AT_ONCE: usize = 16;

#[derive(Debug, Clone)]
pub struct GroupDetail {
    pub name: String,
    /// `None`: the snapshot does not know it yet.
    pub state: Option<Arc<GroupState>>,
    /// By topic, broker and queue.
    pub queues: Vec<GroupQueue>,
    /// By id.
    pub clients: Vec<Client>,
    /// Clients that were not asked what they read, because there are so many.
    pub unasked: usize,
    /// As the brokers tell it.
    pub consume_type: String,
    pub message_model: String,
    /// Topic and expression, as the brokers keep them: those of the client that spoke last.
    pub subscriptions: BTreeMap<String, String>,
    /// Topics that its clients do not subscribe to in one way.
    pub mismatches: Vec<Mismatch>,
    pub coverage: Coverage,
}

/// How far the group is on one queue.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupQueue {
    pub queue: QueueRef,
    /// One past the highest offset.
    pub end: i64,
    /// `None`: it never committed here.
    pub committed: Option<i64>,
    /// Store time of the last message that it passed.
    pub last_consumed: Option<Millis>,
    /// Store time of the first message that it has not passed; `None` inside: it passed all.
    pub oldest_unread: Known<Option<Millis>>,
    /// The clients that say they read it. More than one is a fault; none, while some are online, is one as well.
    pub owners: Vec<String>,
}

impl GroupQueue {
    pub fn lag(&self) -> Option<i64> {
        Some(self.end.saturating_sub(self.committed?).max(0))
    }
}

/// A client that is online.
#[derive(Debug, Clone)]
pub struct Client {
    pub connection: ClientConnection,
    /// Brokers that it is connected to.
    pub brokers: Vec<String>,
    pub says: ClientSays,
}

/// What a client answers when it is asked.
#[derive(Debug, Clone)]
pub enum ClientSays {
    Running(ClientRunning),
    /// Not asked, or no answer: clients of gRPC never do.
    Nothing(Why),
}

/// Clients of one group that subscribe to a topic in different ways lose messages: the broker keeps one way for all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    pub topic: String,
    /// Each way with the clients that use it; `None`: they do not subscribe to it.
    pub ways: Vec<(Option<Subscription>, Vec<String>)>,
}

impl Console {
    /// # Errors
    /// `NotFound` when every broker answered and none knows the group.
    pub async fn group(&self, name: &str) -> Result<GroupDetail> {
        let snapshot = self.snapshot();
        let state = snapshot.group(name).cloned();
        let brokers = brokers_of(&snapshot, state.as_deref());
        if brokers.is_empty() {
            return Err(not_there(name, &snapshot));
        }
        let answers = join_all(brokers.iter().map(|broker| async move {
            tokio::join!(
                within(DEADLINE, broker, self.read().lag(broker, name, None)),
                within(DEADLINE, broker, self.read().consumers(broker, name)),
            )
        }))
        .await;
        let mut coverage = Coverage::default();
        let mut queues = Vec::new();
        let mut online: Vec<(&String, ConsumerConnection)> = Vec::new();
        for (broker, (lag, consumers)) in brokers.iter().zip(answers) {
            // A group without offsets or clients is no fault.
            let lag = lag.or_else(nothing);
            let consumers = consumers.map(Some).or_else(nothing);
            match (lag, consumers) {
                (Ok(lag), Ok(consumers)) => {
                    coverage.answer();
                    queues.extend(lag);
                    online.extend(consumers.map(|connection| (broker, connection)));
                }
                (Err(error), _) | (_, Err(error)) => coverage.miss(broker, &error),
            }
        }
        for missed in snapshot.coverage().missed.into_iter().filter(|missed| !brokers.contains(&missed.what)) {
            coverage.miss(missed.what, missed.why);
        }
        coverage.as_of = Some(self.now());
        if state.is_none() && queues.is_empty() && online.is_empty() && coverage.complete() {
            return Err(not_there(name, &snapshot));
        }
        let mut clients = clients(&online);
        let unasked = clients.len().saturating_sub(CLIENTS_ASKED);
        self.ask_clients(name, &mut clients).await;
        let mut queues = self.with_age(queues).await;
        for queue in &mut queues {
            queue.owners = owners(&queue.queue, &clients);
        }
        let mut subscriptions = BTreeMap::new();
        for (_, connection) in &online {
            subscriptions.extend(connection.subscriptions.clone());
        }
        let first = online.first().map(|(_, connection)| connection);
        Ok(GroupDetail {
            name: name.to_owned(),
            state,
            queues,
            unasked,
            consume_type: first.map(|connection| connection.consume_type.clone()).unwrap_or_default(),
            message_model: first.map(|connection| connection.message_model.clone()).unwrap_or_default(),
            subscriptions,
            mismatches: mismatches(&clients),
            clients,
            coverage,
        })
    }

    /// What one client does now, with the stacks of its threads.
    ///
    /// # Errors
    /// `NotFound` when no broker has a connection to it; the broker's error.
    pub async fn client_stacks(&self, group: &str, client: &str) -> Result<ClientRunning> {
        let snapshot = self.snapshot();
        let brokers = brokers_of(&snapshot, snapshot.group(group).map(AsRef::as_ref));
        let mut failed = None;
        for broker in &brokers {
            match within(DEADLINE, broker, self.read().running(broker, group, client, true)).await {
                Ok(running) => return Ok(running),
                Err(BrokerError::NotFound(_)) => {}
                Err(error) => failed = Some(error),
            }
        }
        Err(failed.map_or_else(|| ConsoleError::NotFound(format!("client {client}")), Into::into))
    }

    async fn ask_clients(&self, group: &str, clients: &mut [Client]) {
        let asked: Vec<(usize, String, String)> = clients
            .iter()
            .take(CLIENTS_ASKED)
            .enumerate()
            .filter_map(|(place, client)| {
                Some((place, client.connection.client_id.clone(), client.brokers.first()?.clone()))
            })
            .collect();
        let answers: Vec<(usize, millrace_broker::Result<ClientRunning>)> = futures::stream::iter(asked)
            .map(|(place, client, broker)| async move {
                (place, within(DEADLINE, &broker, self.read().running(&broker, group, &client, false)).await)
            })
            .buffer_unordered(AT_ONCE)
            .collect()
            .await;
        for (place, answer) in answers {
            if let Some(client) = clients.get_mut(place) {
                client.says = match answer {
                    Ok(running) => ClientSays::Running(running),
                    Err(error) => ClientSays::Nothing(error.into()),
                };
            }
        }
    }

    async fn with_age(&self, lags: Vec<millrace_broker::QueueLag>) -> Vec<GroupQueue> {
        let behind = |lag: &millrace_broker::QueueLag| lag.consumer_offset.is_some_and(|at| at < lag.broker_offset);
        let mut looked_at = 0;
        let asked = lags.into_iter().map(|lag| {
            let look = behind(&lag) && looked_at < QUEUES_LOOKED_AT;
            looked_at += usize::from(look);
            (lag, look)
        });
        let mut queues: Vec<GroupQueue> = futures::stream::iter(asked.collect::<Vec<_>>())
            .map(|(lag, look)| async move {
                let oldest_unread = match (look, behind(&lag), lag.consumer_offset) {
                    (true, _, Some(committed)) => self.stored_at(&lag.queue, committed).await,
                    (_, true, _) => Known::Unknown(Why::NotReadYet),
                    (_, _, None) => Known::Unknown(Why::NeverCommitted),
                    _ => Known::Known(None),
                };
                GroupQueue {
                    queue: lag.queue,
                    end: lag.broker_offset,
                    committed: lag.consumer_offset,
                    last_consumed: lag.last_consumed,
                    oldest_unread,
                    owners: Vec::new(),
                }
            })
            .buffer_unordered(AT_ONCE)
            .collect()
            .await;
        queues.sort_by(|a, b| a.queue.cmp(&b.queue));
        queues
    }

    /// Store time of the first message at or after `offset` that is still there.
    async fn stored_at(&self, queue: &QueueRef, offset: i64) -> Known<Option<Millis>> {
        let read = self.read();
        let first = async {
            let batch = read.pull(queue, offset, 1).await?;
            // Retention removed it: what the group would get is the lowest one.
            if batch.messages.is_empty() && batch.min > offset {
                read.pull(queue, batch.min, 1).await
            } else {
                Ok(batch)
            }
        };
        let batch = within(DEADLINE, &queue.broker, first).await;
        batch.map(|batch| batch.messages.first().map(|message| message.stored)).into()
    }
}

/// Brokers that know the group; those that never told their groups, as they may.
pub(super) fn brokers_of(snapshot: &Snapshot, state: Option<&GroupState>) -> Vec<String> {
    let mut names: BTreeSet<String> = BTreeSet::new();
    for state in snapshot.brokers.iter().filter(|state| state.groups.value().is_none()) {
        names.insert(state.broker.name.clone());
    }
    if let Some(group) = state {
        names.extend(group.brokers.iter().map(|place| place.broker.clone()));
        if group.left_over || group.system {
            names.extend(snapshot.brokers.iter().map(|state| state.broker.name.clone()));
        }
    }
    names.into_iter().collect()
}

pub(super) fn not_there(name: &str, snapshot: &Snapshot) -> ConsoleError {
    ConsoleError::NotFound(if snapshot.coverage().complete() {
        format!("group {name}")
    } else {
        format!("group {name} (brokers that did not answer may have it)")
    })
}

fn nothing<T: Default>(error: BrokerError) -> millrace_broker::Result<T> {
    match error {
        BrokerError::NotFound(_) => Ok(T::default()),
        other => Err(other),
    }
}

fn clients(online: &[(&String, ConsumerConnection)]) -> Vec<Client> {
    let mut clients: BTreeMap<&str, Client> = BTreeMap::new();
    for (broker, connection) in online {
        for client in &connection.clients {
            let known = clients.entry(&client.client_id).or_insert_with(|| Client {
                connection: client.clone(),
                brokers: Vec::new(),
                says: ClientSays::Nothing(Why::NotReadYet),
            });
            known.brokers.push((*broker).clone());
        }
    }
    clients.into_values().collect()
}

fn owners(queue: &QueueRef, clients: &[Client]) -> Vec<String> {
    let owns =
        |client: &&Client| matches!(&client.says, ClientSays::Running(running) if running.queues.contains(queue));
    clients.iter().filter(owns).map(|client| client.connection.client_id.clone()).collect()
}

/// Only clients that told their subscriptions are compared.
fn mismatches(clients: &[Client]) -> Vec<Mismatch> {
    let mut told: Vec<(&str, &[Subscription])> = Vec::new();
    for client in clients {
        if let ClientSays::Running(running) = &client.says {
            told.push((&client.connection.client_id, &running.subscriptions));
        }
    }
    // Every client subscribes to the group's own retry topic by itself.
    let topics: BTreeSet<&str> = told
        .iter()
        .flat_map(|(_, subscriptions)| subscriptions.iter().map(|subscription| subscription.topic.as_str()))
        .filter(|topic| !topic.starts_with(millrace_core::name::RETRY_PREFIX))
        .collect();
    let mut mismatches = Vec::new();
    for topic in topics {
        let mut ways: BTreeMap<Option<&Subscription>, Vec<String>> = BTreeMap::new();
        for (client, subscriptions) in &told {
            let way = subscriptions.iter().find(|subscription| subscription.topic == topic);
            ways.entry(way).or_default().push((*client).to_owned());
        }
        if ways.len() > 1 {
            let ways = ways.into_iter().map(|(way, clients)| (way.cloned(), clients)).collect();
            mismatches.push(Mismatch { topic: topic.to_owned(), ways });
        }
    }
    mismatches
}
