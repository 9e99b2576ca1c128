//! When no trace has the searched text, the topics themselves are asked: a message that nobody traced is still there.

use futures::StreamExt;
use millrace_broker::{BrokerError, BrokerRead, KeyHits, Message};
use millrace_core::coverage::{Coverage, Why};
use millrace_core::flow::Fact;
use millrace_core::id::IdKind;
use millrace_core::name::TopicKind;
use millrace_core::time::Millis;
use serde::Serialize;

/// Topics that one question may search.
const MAX_TOPICS: usize = 500;
/// Look-ups under way at once.
const AT_ONCE: usize = 16;
/// Messages that become part of the answer.
const MAX_MESSAGES: usize = 200;

/// How far the search of the topics went.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct TopicScan {
    /// Topics that were searched, each on every broker that has it.
    pub topics: usize,
    /// Topics beyond the limit, which were not.
    pub left_out: usize,
    pub coverage: Coverage,
}

pub(super) struct Scanned {
    pub facts: Vec<Fact>,
    pub scan: TopicScan,
}

/// Asks each broker's index of each user topic for `text`.
pub(super) async fn scan(read: &dyn BrokerRead, text: &str, kind: &IdKind, now: Millis) -> Scanned {
    let mut scan = TopicScan::default();
    if text.is_empty() {
        return Scanned { facts: Vec::new(), scan };
    }
    let mut targets = targets(read, &mut scan.coverage).await;
    let mut topics: Vec<&str> = targets.iter().map(|(_, topic)| topic.as_str()).collect();
    topics.sort_unstable();
    topics.dedup();
    scan.left_out = topics.len().saturating_sub(MAX_TOPICS);
    topics.truncate(MAX_TOPICS);
    scan.topics = topics.len();
    let searched: Vec<String> = topics.into_iter().map(str::to_owned).collect();
    targets.retain(|(_, topic)| searched.binary_search(topic).is_ok());

    let until = now.plus(60_000);
    let answers: Vec<(String, String, Result<KeyHits, BrokerError>)> = futures::stream::iter(targets)
        .map(|(broker, topic)| async move {
            let answer = if *kind == IdKind::Key {
                read.messages_by_key(&broker, &topic, text, Millis(0), until).await
            } else {
                // Clients write their ids in upper case; people paste them in any.
                let id = text.to_ascii_uppercase();
                let found = read.messages_by_uniq_id(&broker, &topic, &id, Millis(0), until).await;
                found.map(|messages| KeyHits { messages, ..KeyHits::default() })
            };
            (broker, topic, answer)
        })
        .buffer_unordered(AT_ONCE)
        .collect()
        .await;
    let mut found = Vec::new();
    for (broker, topic, answer) in answers {
        match answer {
            Ok(hits) => {
                if hits.capped {
                    let asked = hits.messages.len();
                    scan.coverage.miss(format!("{topic}@{broker}"), Why::NewestOnly { messages: asked });
                } else {
                    scan.coverage.answer();
                }
                found.extend(hits.messages);
            }
            Err(BrokerError::NotFound(_)) => scan.coverage.answer(),
            Err(error) => scan.coverage.miss(format!("{topic}@{broker}"), &error),
        }
    }
    found.sort_by_key(|message| std::cmp::Reverse((message.stored, message.commit_log_offset)));
    if found.len() > MAX_MESSAGES {
        scan.coverage.miss("messages", Why::LeftOut { asked: MAX_MESSAGES, all: found.len() });
        found.truncate(MAX_MESSAGES);
    }
    Scanned { facts: found.iter().map(stored_fact).collect(), scan }
}

/// Broker and topic of every user topic.
async fn targets(read: &dyn BrokerRead, coverage: &mut Coverage) -> Vec<(String, String)> {
    let topology = match read.topology().await {
        Ok(topology) => topology,
        Err(error) => {
            coverage.miss("name servers", &error);
            return Vec::new();
        }
    };
    let mut targets = Vec::new();
    for broker in topology.brokers {
        match read.topics(&broker.name).await {
            Ok(topics) => targets.extend(
                topics
                    .into_iter()
                    .filter(|topic| TopicKind::of(&topic.name) == TopicKind::User)
                    .map(|topic| (broker.name.clone(), topic.name)),
            ),
            Err(error) => coverage.miss(broker.name, &error),
        }
    }
    targets
}

/// A message in a queue, as a fact for the reconstruction.
pub(super) fn stored_fact(message: &Message) -> Fact {
    Fact::Stored {
        topic: message.queue.topic.clone(),
        message_id: message.id().to_owned(),
        offset_id: Some(message.offset_id.clone()),
        queue: message.queue.clone(),
        offset: message.offset,
        stored: message.stored,
        keys: message.keys().map(str::to_owned).collect(),
        tags: message.tags().map(str::to_owned),
        reconsume_times: i32::max(message.reconsume_times, 0),
    }
}
