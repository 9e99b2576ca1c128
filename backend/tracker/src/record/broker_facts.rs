//! What traces cannot tell is asked of the brokers: where a message lies, who should consume it, how far they are, and
//! which dead-letter topic has it. Topic-wide answers are kept for a few seconds, since live pages ask again and again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use futures::StreamExt as _;
use futures::future::join_all;
use millrace_broker::{BrokerError, BrokerRead, ConsumerConnection, Topology, locate};
use millrace_core::coverage::{Coverage, Why};
use millrace_core::flow::{ConsumeModel, Fact, Flow, Hop, HopState, MessageNode};
use millrace_core::id::{IdKind, OffsetId};
use millrace_core::name::{DLQ_PREFIX, is_system_group};
use millrace_core::time::Millis;

use super::topic_scan::stored_fact;

/// Messages of a flow that are looked for in their queues.
const MAX_MESSAGES: usize = 100;
/// Topics of a flow whose groups are asked for.
const MAX_TOPICS: usize = 50;
/// Groups whose dead-letter topics are looked into, each for one message.
const MAX_DEAD: usize = 500;
/// Of these, look-ups under way at once.
const AT_ONCE: usize = 16;
/// How long a topic-wide answer is good for.
const FRESH_MS: i64 = 5_000;
/// An index look-up by id reaches this far before the flow's begin: client clocks are off, deliveries are delayed.
const BEFORE_MS: i64 = 3_600_000;

#[derive(Debug)]
pub(super) struct BrokerFacts {
    read: Arc<dyn BrokerRead>,
    topics: Mutex<BTreeMap<String, (Millis, Vec<Fact>)>>,
}

impl BrokerFacts {
    pub(super) fn new(read: Arc<dyn BrokerRead>) -> Self {
        Self { read, topics: Mutex::new(BTreeMap::new()) }
    }

    /// The message that an offset id names.
    pub(super) async fn message_of_offset_id(&self, id: &OffsetId, coverage: &mut Coverage) -> Option<Fact> {
        let topology = match self.read.topology().await {
            Ok(topology) => topology,
            Err(error) => {
                coverage.miss("name servers", &error);
                return None;
            }
        };
        let located = locate(&*self.read, &topology.brokers, id).await;
        (0..located.answered).for_each(|_| coverage.answer());
        for (broker, error) in &located.failed {
            coverage.miss(broker, error);
        }
        if located.broker.is_none() {
            coverage.miss(format!("{}:{}", id.address, id.port), Why::NoSuchAddress);
        }
        located.message.as_ref().map(stored_fact)
    }

    /// Facts about the messages, groups and topics of `flow`.
    pub(super) async fn learn(&self, flow: &Flow, now: Millis, coverage: &mut Coverage) -> Vec<Fact> {
        if flow.messages.is_empty() {
            return Vec::new();
        }
        let topology = match self.read.topology().await {
            Ok(topology) => topology,
            Err(error) => {
                coverage.miss("name servers", &error);
                return Vec::new();
            }
        };
        let from = flow.span.map_or(Millis(0), |span| span.begin.plus(-BEFORE_MS));
        let until = now.plus(60_000);
        let mut unplaced: Vec<&MessageNode> =
            flow.messages.iter().filter(|message| message.stored.is_empty()).collect();
        limit(&mut unplaced, MAX_MESSAGES, "messages", coverage);
        let places = join_all(unplaced.into_iter().map(|message| self.place(&topology, message, from, until)));
        let topics: BTreeSet<&str> = flow.messages.iter().filter_map(|message| message.topic.as_deref()).collect();
        let mut topics: Vec<&str> = topics.into_iter().collect();
        limit(&mut topics, MAX_TOPICS, "topics", coverage);
        let subscriptions = join_all(topics.into_iter().map(|topic| self.topic(&topology, topic, now)));
        let (places, subscriptions) = futures::join!(places, subscriptions);
        let mut facts = Vec::new();
        take(places.into_iter().chain(subscriptions), &mut facts, coverage);

        // A group that does not trace may have put it among its dead letters too.
        let mut suspects: Vec<(&str, &str)> = suspects(flow, &facts).into_iter().collect();
        limit(&mut suspects, MAX_DEAD, "dead-letter topics", coverage);
        let suspects: Vec<(String, String)> =
            suspects.into_iter().map(|(group, id)| (group.to_owned(), id.to_owned())).collect();
        let dead: Vec<(Vec<Fact>, Coverage)> = futures::stream::iter(suspects)
            .map(|(group, id)| {
                let topology = &topology;
                async move { self.dead_letter(topology, &group, &id, from, until, now).await }
            })
            .buffered(AT_ONCE)
            .collect()
            .await;
        take(dead, &mut facts, coverage);
        facts
    }

    /// Where a message lies: by its offset id where a trace has one, else by the index of its topic.
    async fn place(
        &self,
        topology: &Topology,
        message: &MessageNode,
        from: Millis,
        until: Millis,
    ) -> (Vec<Fact>, Coverage) {
        let mut coverage = Coverage::default();
        for offset_id in &message.offset_ids {
            if let IdKind::Offset(id) = IdKind::of(offset_id)
                && let Some(fact) = self.message_of_offset_id(&id, &mut coverage).await
            {
                return (vec![fact], coverage);
            }
        }
        let Some(topic) = &message.topic else {
            return (Vec::new(), coverage);
        };
        let answers = join_all(topology.brokers.iter().map(|broker| async move {
            (broker.name.as_str(), self.read.messages_by_uniq_id(&broker.name, topic, &message.id, from, until).await)
        }))
        .await;
        let mut facts = Vec::new();
        for (broker, answer) in answers {
            if let Some(messages) = note(answer, broker, &mut coverage) {
                facts.extend(messages.iter().map(stored_fact));
            }
        }
        (facts, coverage)
    }

    /// Who consumes a topic, with their offsets and settings; from the cache while it is fresh and was complete.
    async fn topic(&self, topology: &Topology, topic: &str, now: Millis) -> (Vec<Fact>, Coverage) {
        if let Some((at, facts)) = self.cache().get(topic)
            && now.since(*at) < FRESH_MS
        {
            let mut coverage = Coverage::default();
            coverage.answer();
            return (facts.clone(), coverage);
        }
        let mut coverage = Coverage::default();
        let mut facts = Vec::new();
        let parts = join_all(topology.brokers.iter().map(|broker| self.topic_at(&broker.name, topic))).await;
        for (found, asked) in parts {
            facts.extend(found);
            coverage.asked += asked.asked;
            coverage.answered += asked.answered;
            coverage.missed.extend(asked.missed);
        }
        let facts = merge_subscriptions(facts);
        if coverage.complete() {
            let mut cache = self.cache();
            cache.retain(|_, (at, _)| now.since(*at) < FRESH_MS);
            cache.insert(topic.to_owned(), (now, facts.clone()));
        }
        (facts, coverage)
    }

    async fn topic_at(&self, broker: &str, topic: &str) -> (Vec<Fact>, Coverage) {
        let mut coverage = Coverage::default();
        let Some(groups) = note(self.read.groups_of_topic(broker, topic).await, broker, &mut coverage) else {
            return (Vec::new(), coverage);
        };
        let configured = note(self.read.groups(broker).await, broker, &mut coverage).unwrap_or_default();
        let mut facts: Vec<Fact> = configured
            .iter()
            .filter(|group| groups.contains(&group.name))
            .map(|group| Fact::Group {
                group: group.name.clone(),
                max_retries: Some(i64::from(group.retry_max_times)),
                orderly: None,
            })
            .collect();
        let groups: Vec<&String> = groups.iter().filter(|group| !is_system_group(group)).collect();
        let answers = join_all(groups.into_iter().map(|group| async move {
            let lag = self.read.lag(broker, group, Some(topic)).await;
            let consumers = self.read.consumers(broker, group).await;
            (group, lag, consumers)
        }))
        .await;
        for (group, lag, consumers) in answers {
            for queue in note(lag, broker, &mut coverage).unwrap_or_default() {
                if let Some(committed) = queue.consumer_offset {
                    facts.push(Fact::Committed { group: group.clone(), queue: queue.queue, committed });
                }
            }
            let (expression, clients, model) = match consumers {
                Ok(consumers) => {
                    coverage.answer();
                    (
                        consumers.subscriptions.get(topic).cloned(),
                        Some(consumers.clients.len()),
                        Some(model(&consumers)),
                    )
                }
                Err(BrokerError::NotFound(_)) => {
                    coverage.answer();
                    (None, Some(0), None)
                }
                Err(error) => {
                    coverage.miss(broker, &error);
                    (None, None, None)
                }
            };
            facts.push(Fact::Subscribed { topic: topic.to_owned(), group: group.clone(), expression, clients, model });
        }
        (facts, coverage)
    }

    /// Copies of a message in a group's dead-letter topic, with who reads that.
    async fn dead_letter(
        &self,
        topology: &Topology,
        group: &str,
        id: &str,
        from: Millis,
        until: Millis,
        now: Millis,
    ) -> (Vec<Fact>, Coverage) {
        let mut coverage = Coverage::default();
        let topic = format!("{DLQ_PREFIX}{group}");
        // Most groups have no dead letters: the name servers say so in one call.
        if matches!(self.read.route(&topic).await, Err(BrokerError::NotFound(_))) {
            coverage.answer();
            return (Vec::new(), coverage);
        }
        let answers =
            join_all(topology.brokers.iter().map(|broker| {
                let topic = &topic;
                async move {
                    (broker.name.as_str(), self.read.messages_by_uniq_id(&broker.name, topic, id, from, until).await)
                }
            }))
            .await;
        let mut facts = Vec::new();
        for (broker, answer) in answers {
            for message in note(answer, broker, &mut coverage).unwrap_or_default() {
                facts.push(Fact::DeadLetter {
                    group: group.to_owned(),
                    message_id: message.id().to_owned(),
                    topic: topic.clone(),
                    stored: Some(message.stored),
                    offset_id: Some(message.offset_id.clone()),
                    origin_id: message.property("ORIGIN_MESSAGE_ID").map(str::to_owned),
                    tries: Some(i64::from(message.reconsume_times)).filter(|tries| *tries > 0),
                });
            }
        }
        let (readers, asked) = self.topic(topology, &topic, now).await;
        take([(readers, asked)], &mut facts, &mut coverage);
        (facts, coverage)
    }

    fn cache(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, (Millis, Vec<Fact>)>> {
        self.topics.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Group and message wherever a group has or should have a message, and no trace says that this went well.
fn suspects<'a>(flow: &'a Flow, facts: &'a [Fact]) -> BTreeSet<(&'a str, &'a str)> {
    let well = |hop: &Hop| matches!(hop.state, HopState::Ok { .. } | HopState::Consuming { .. });
    let pair = |hop: &'a Hop| Some((hop.group.as_deref()?, flow.message(hop.message)?.id.as_str()));
    let mut suspects: BTreeSet<(&str, &str)> = flow.hops.iter().filter_map(pair).collect();
    for fact in facts {
        if let Fact::Subscribed { topic, group, model, .. } = fact
            && *model != Some(ConsumeModel::Broadcasting)
        {
            let of_topic = flow.messages.iter().filter(|message| message.topic.as_deref() == Some(topic));
            suspects.extend(of_topic.map(|message| (group.as_str(), message.id.as_str())));
        }
    }
    for hop in flow.hops.iter().filter(|hop| well(hop)).filter_map(pair) {
        suspects.remove(&hop);
    }
    suspects
}

fn model(consumers: &ConsumerConnection) -> ConsumeModel {
    match (consumers.consume_type.as_str(), consumers.message_model.as_str()) {
        (_, "BROADCASTING") => ConsumeModel::Broadcasting,
        ("CONSUME_POP", _) => ConsumeModel::Pop,
        _ => ConsumeModel::Clustering,
    }
}

/// Leaves out what is too much for one look-up, and says so.
fn limit<T>(all: &mut Vec<T>, most: usize, what: &str, coverage: &mut Coverage) {
    if all.len() > most {
        coverage.miss(what, Why::LeftOut { asked: most, all: all.len() });
        all.truncate(most);
    }
}

/// Adds up answers, each gap once.
fn take(answers: impl IntoIterator<Item = (Vec<Fact>, Coverage)>, facts: &mut Vec<Fact>, coverage: &mut Coverage) {
    for (found, asked) in answers {
        facts.extend(found);
        coverage.asked += asked.asked;
        coverage.answered += asked.answered;
        for missed in asked.missed {
            if !coverage.missed.contains(&missed) {
                coverage.missed.push(missed);
            }
        }
    }
}

/// Counts an answer in the coverage. What is not there was answered.
fn note<T>(answer: Result<T, BrokerError>, broker: &str, coverage: &mut Coverage) -> Option<T> {
    match answer {
        Ok(value) => {
            coverage.answer();
            Some(value)
        }
        Err(BrokerError::NotFound(_)) => {
            coverage.answer();
            None
        }
        Err(error) => {
            coverage.miss(broker, &error);
            None
        }
    }
}

/// A group that several brokers know is one subscription: most clients, any expression.
fn merge_subscriptions(facts: Vec<Fact>) -> Vec<Fact> {
    let mut merged: BTreeMap<(String, String), Fact> = BTreeMap::new();
    let mut others = Vec::new();
    for fact in facts {
        let Fact::Subscribed { topic, group, expression, clients, model } = &fact else {
            others.push(fact);
            continue;
        };
        match merged.get_mut(&(topic.clone(), group.clone())) {
            Some(Fact::Subscribed { expression: known, clients: most, model: said, .. }) => {
                *known = known.take().or_else(|| expression.clone());
                *most = (*most).max(*clients);
                *said = (*said).max(*model);
            }
            _ => {
                merged.insert((topic.clone(), group.clone()), fact);
            }
        }
    }
    others.extend(merged.into_values());
    others
}
