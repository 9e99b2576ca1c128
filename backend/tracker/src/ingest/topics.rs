//! Which queues carry traces: the system trace topic, CLOUD ones by prefix, and the configured ones.

use std::collections::BTreeMap;

use millrace_broker::{BrokerRead, Result};
use millrace_core::coverage::{Coverage, Missed, Why};
use millrace_core::name::{QueueRef, is_trace_topic};

/// Trace topics with their readable queues, as far as the brokers answered.
#[derive(Debug, Clone, Default)]
pub(super) struct TraceQueues {
    pub by_topic: BTreeMap<String, Vec<QueueRef>>,
    pub coverage: Coverage,
    /// Trace topics without the permission to be read.
    pub unreadable: Vec<Missed>,
}

/// Asks every broker for its topics. A broker that does not answer is a gap in the coverage, not an error.
pub(super) async fn discover(read: &dyn BrokerRead, custom: &[String]) -> Result<TraceQueues> {
    let topology = read.topology().await?;
    let answers = futures::future::join_all(
        topology.brokers.iter().map(|broker| async move { (broker.name.clone(), read.topics(&broker.name).await) }),
    )
    .await;
    let mut found = TraceQueues::default();
    for (broker, answer) in answers {
        match answer {
            Ok(topics) => {
                found.coverage.answer();
                for topic in topics.iter().filter(|topic| is_trace_topic(&topic.name, custom)) {
                    if !topic.perm.readable() {
                        found
                            .unreadable
                            .push(Missed { what: broker.clone(), why: Why::NotReadable(topic.name.clone()) });
                        continue;
                    }
                    let queues = found.by_topic.entry(topic.name.clone()).or_default();
                    let count = i32::try_from(topic.read_queues).unwrap_or(i32::MAX);
                    queues.extend((0..count).map(|queue| QueueRef {
                        topic: topic.name.clone(),
                        broker: broker.clone(),
                        queue,
                    }));
                }
            }
            Err(error) => found.coverage.miss(broker, error),
        }
    }
    Ok(found)
}
