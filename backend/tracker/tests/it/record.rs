//! Looking records up: what is found, what is said when nothing is.

use std::sync::Arc;

use millrace_broker::fake::{FakeClient, FakeCluster, FakeMessage, Fault};
use millrace_core::coverage::Why;
use millrace_core::flow::{Evidence, HopState, Verdict, Why as StateWhy};
use millrace_core::name::QueueRef;
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

const ID: &str = "C0000207000118B4AAC2000000640001";

/// `groups` groups that trace nothing have passed the message; each has put it among its dead letters.
fn given_up(groups: usize) -> FakeCluster {
    let queue = QueueRef { topic: "orders".to_owned(), broker: "broker-a".to_owned(), queue: 0 };
    let mut fake = FakeCluster::new()
        .broker("broker-a")
        .topic("orders", 1)
        .message(FakeMessage::to("orders").key("order-17").uniq_id(ID).body("{}"));
    for number in 0..groups {
        let (group, dead) = (format!("billing_{number}"), format!("%DLQ%billing_{number}"));
        fake = fake
            .group(&group)
            .topic(&dead, 1)
            .committed_at(&group, &queue, 1)
            .message(FakeMessage::to(&dead).key("order-17").uniq_id(ID).body("{}").reconsumed(17));
    }
    fake
}

/// A committed offset says that a group is done with a message, not that it succeeded.
#[tokio::test]
async fn a_dead_letter_of_a_group_that_traces_nothing_is_found() {
    let answer = finder(&given_up(1)).look_up(&Question::of("order-17")).await.unwrap();
    let hop = &answer.flow.hops[0];
    assert!(matches!(hop.state, HopState::DeadLettered { tries: 17, confirmed: true, .. }), "{hop:?}");
    assert!(matches!(answer.flow.verdict, Verdict::StoppedAt { .. }), "{:?}", answer.flow.verdict);
}

#[tokio::test]
async fn seventy_groups_that_gave_up_are_all_told() {
    let answer = finder(&given_up(70)).look_up(&Question::of("order-17")).await.unwrap();
    let dead = answer.flow.hops.iter().filter(|hop| matches!(hop.state, HopState::DeadLettered { .. })).count();
    assert_eq!((dead, &answer.coverage.brokers.missed), (70, &Vec::new()));
}

/// A broker that got another address, or registered by its name, still has what ids with its old address name.
#[tokio::test]
async fn an_offset_id_with_an_old_address_is_found_by_what_the_broker_stores() {
    let fake = FakeCluster::new().broker("broker-a").topic("orders", 1);
    let stored = fake.append(FakeMessage::to("orders").key("order-18").body("{}"));
    fake.move_broker("broker-a", "192.0.2.77:10911");
    let answer = finder(&fake).look_up(&Question::of(&stored.offset_id)).await.unwrap();
    assert_eq!(answer.flow.messages[0].keys, ["order-18"]);
    assert_eq!(answer.coverage.brokers.missed, []);
}

/// What a committed offset says depends on how the group reads; one that takes other tags is not waited for.
#[tokio::test]
async fn an_offset_says_no_more_than_the_group_s_way_of_reading_allows() {
    let queue = QueueRef { topic: "orders".to_owned(), broker: "broker-a".to_owned(), queue: 0 };
    let member = |group: &str| FakeClient::of(group, &format!("{group}-1"));
    let mut fake = FakeCluster::new()
        .broker("broker-a")
        .topic("orders", 1)
        .message(FakeMessage::to("orders").key("order-17").tag("web").uniq_id(ID).body("{}"));
    for (group, committed) in [("waits", 0), ("passed", 1), ("pops", 1), ("broadcasts", 1), ("filters", 0)] {
        fake = fake.committed_at(group, &queue, committed);
    }
    let fake = fake
        .online(&member("waits").subscribed("orders", "*"))
        .online(&member("passed").subscribed("orders", "app || web"))
        .online(&member("pops").subscribed("orders", "*").pop())
        .online(&member("broadcasts").subscribed("orders", "*").broadcasting())
        .online(&member("filters").subscribed("orders", "app"));
    let answer = finder(&fake).look_up(&Question::of("order-17")).await.unwrap();
    let state = |group: &str| {
        let hop = answer.flow.hops.iter().find(|hop| hop.group.as_deref() == Some(group)).unwrap();
        hop.state.clone()
    };
    assert!(matches!(state("waits"), HopState::Waiting { ahead: Some(0) }), "{:?}", state("waits"));
    assert!(matches!(state("passed"), HopState::Passed), "{:?}", state("passed"));
    assert!(matches!(state("pops"), HopState::Unknown { why: StateWhy::Pop }), "{:?}", state("pops"));
    assert!(matches!(state("broadcasts"), HopState::Unknown { why: StateWhy::Broadcasting }));
    assert!(matches!(state("filters"), HopState::NotExpected { why: StateWhy::Filtered }), "{:?}", state("filters"));
}

/// A broker tells 64 of one key: that there may be more is part of the answer.
#[tokio::test]
async fn seventy_messages_of_one_key_are_sixty_four_and_a_mark() {
    let mut fake = FakeCluster::new().broker("broker-a").topic("orders", 1);
    for number in 0..70 {
        let id = format!("C0000207000118B4AAC2000000{number:02X}0001");
        fake = fake.message(FakeMessage::to("orders").key("order-17").uniq_id(&id).body("{}"));
    }
    let answer = finder(&fake).look_up(&Question::of("order-17")).await.unwrap();
    assert_eq!(answer.flow.messages.len(), 64);
    let missed = answer.coverage.topics.unwrap().coverage.missed;
    assert_eq!((missed[0].what.as_str(), &missed[0].why), ("orders@broker-a", &Why::NewestOnly { messages: 64 }));
}

/// The broker that did not answer may have moved to the address of the id.
#[tokio::test]
async fn an_offset_id_of_nobody_s_address_names_the_brokers_that_did_not_answer() {
    let fake = FakeCluster::new().broker("broker-a").broker("broker-b").topic("orders", 1);
    fake.fail("broker-b", Fault::Dead);
    let answer = finder(&fake).look_up(&Question::of("C000020900002A9F0000000000000001")).await.unwrap();
    assert!(!answer.found());
    let missed: Vec<&str> = answer.coverage.brokers.missed.iter().map(|missed| missed.what.as_str()).collect();
    assert_eq!(missed, ["broker-b", "192.0.2.9:10911"]);
}

#[tokio::test]
async fn a_broker_whose_master_is_gone_is_still_one_broker() {
    let fake = FakeCluster::new()
        .replicated_broker("broker-a")
        .topic("orders", 1)
        .message(FakeMessage::to("orders").key("order-17").uniq_id(ID).body("{}"));
    let answer = finder(&fake).look_up(&Question::of("order-17")).await.unwrap();
    assert!(answer.found() && answer.coverage.topics.unwrap().coverage.complete());
    fake.fail("broker-a", Fault::Dead);
    let gone = finder(&fake).look_up(&Question::of("order-17")).await.unwrap();
    assert!(
        gone.unfound.iter().any(|reason| matches!(reason, UnfoundReason::TopicsMissed { missed } if missed.len() == 1)),
        "{:?}",
        gone.unfound
    );
}
