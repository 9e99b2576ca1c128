//! Looking records up: what is found, what is said when nothing is.

use std::sync::Arc;

use millrace_broker::fake::{FakeCluster, FakeMessage, Fault};
use millrace_core::flow::Evidence;
use millrace_tracker::ingest::IngestState;
use millrace_tracker::record::{Question, RecordFinder, UnfoundReason};

use crate::FixedClock;
use crate::memory_store::MemoryStore;

fn finder(fake: &FakeCluster) -> RecordFinder {
    RecordFinder::new(
        fake.cluster(),
        Arc::new(MemoryStore::default()),
        Arc::new(IngestState::idle("shop")),
        Arc::new(FixedClock),
    )
}

#[tokio::test]
async fn a_message_that_nobody_traced_is_found_in_its_topic() {
    let fake = FakeCluster::new()
        .broker("broker-a")
        .topic("orders", 2)
        .message(FakeMessage::to("orders").key("order-17").tag("web").body("{}"));
    let answer = finder(&fake).look_up(&Question::of(" order-17 ")).await.unwrap();
    assert!(answer.found());
    let message = answer.flow.messages.first().unwrap();
    assert_eq!(message.topic.as_deref(), Some("orders"));
    assert_eq!(message.evidence, Evidence::FoundInTopic);
    assert_eq!(answer.coverage.topics.unwrap().topics, 1);
}

#[tokio::test]
async fn not_found_says_what_was_searched_and_why() {
    let fake = FakeCluster::new().broker("broker-a").broker("broker-b").topic("orders", 2);
    fake.fail("broker-b", Fault::Dead);
    let answer = finder(&fake).look_up(&Question::of("order-17")).await.unwrap();
    assert!(!answer.found());
    assert!(
        answer
            .unfound
            .iter()
            .any(|reason| matches!(reason, UnfoundReason::TopicsMissed { missed } if missed[0].what == "broker-b"))
    );
    assert!(answer.unfound.contains(&UnfoundReason::KeyNowhere { topics: 1 }));
    assert!(answer.unfound.contains(&UnfoundReason::NothingIngested));
}

#[tokio::test]
async fn an_offset_id_is_looked_up_at_its_broker_and_no_other_address_is_dialled() {
    let fake = FakeCluster::new()
        .broker("broker-a")
        .topic("orders", 2)
        .message(FakeMessage::to("orders").key("order-17").body("{}"));
    let stored = fake.append(FakeMessage::to("orders").key("order-18").body("{}"));
    let answer = finder(&fake).look_up(&Question::of(&stored.offset_id)).await.unwrap();
    assert_eq!(answer.flow.messages.len(), 1);
    assert_eq!(answer.flow.messages[0].keys, ["order-18"]);
    let foreign = finder(&fake).look_up(&Question::of("C000020900002A9F0000000000000001")).await.unwrap();
    assert!(!foreign.found());
    assert!(foreign.coverage.brokers.missed.iter().any(|missed| missed.what == "192.0.2.9:10911"));
}
