#![expect(clippy::unwrap_used, reason = "tests")]

use std::time::Duration;

use millrace_core::name::QueueRef;
use millrace_core::time::Millis;

use super::{Call, FakeCluster, FakeMessage, Fault, KEY_CAP, PULL_CAP};
use crate::{BrokerError, MessageToSend};

const ALL: (Millis, Millis) = (Millis(0), Millis(i64::MAX));

fn queue(broker: &str, queue: i32) -> QueueRef {
    QueueRef { topic: "orders".to_owned(), broker: broker.to_owned(), queue }
}

#[tokio::test]
async fn a_key_is_found_newest_first_and_at_most_64_times() {
    let mut fake = FakeCluster::new().broker("broker-a").topic("orders", 4).topic("refunds", 1);
    for number in 0..70 {
        fake = fake.message(FakeMessage::to("orders").on("broker-a", number % 4).key("order-17").key("batch-1"));
    }
    fake = fake.message(FakeMessage::to("refunds").key("order-17"));
    let read = fake.cluster().read;
    let found = read.messages_by_key("broker-a", "orders", "order-17", ALL.0, ALL.1).await.unwrap();
    assert!(found.capped);
    let found = found.messages;
    assert_eq!(found.len(), KEY_CAP);
    assert!(found.is_sorted_by(|newer, older| newer.stored > older.stored));
    assert!(found.iter().all(|message| message.queue.topic == "orders"));
    let none = read.messages_by_key("broker-a", "orders", "order-17 batch-1", ALL.0, ALL.1).await.unwrap();
    assert!(none.messages.is_empty() && !none.capped);
    let id = found.first().unwrap().uniq_id.clone().unwrap();
    assert_eq!(read.messages_by_uniq_id("broker-a", "orders", &id, ALL.0, ALL.1).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_pull_is_capped_and_corrects_an_offset_outside_of_the_queue() {
    let mut fake = FakeCluster::new().broker("broker-a").topic("orders", 1);
    for _ in 0..40 {
        fake = fake.message(FakeMessage::to("orders"));
    }
    let (read, place) = (fake.cluster().read, queue("broker-a", 0));
    let batch = read.pull(&place, 0, 100).await.unwrap();
    assert_eq!((batch.messages.len(), batch.next, batch.max), (PULL_CAP, 32, 40));
    fake.expire(&place, 10);
    let batch = read.pull(&place, 3, 32).await.unwrap();
    assert_eq!((batch.messages.len(), batch.next, batch.min), (0, 10, 10));
    assert_eq!(read.pull(&place, 99, 32).await.unwrap().next, 40);
    assert_eq!(read.pull(&place, 10, 1).await.unwrap().messages.first().unwrap().offset, 10);
    assert!(matches!(read.bounds(&queue("broker-a", 7)).await, Err(BrokerError::NotFound(_))));
}

#[tokio::test]
async fn faults_hit_the_broker_and_the_call_they_are_set_on() {
    let fake = FakeCluster::new().broker("broker-a").broker("broker-b").topic("orders", 1);
    let read = fake.cluster().read;
    fake.fail("broker-a", Fault::Dead);
    fake.fail_call("broker-b", Call::TopicStats, Fault::Silent(30));
    assert!(matches!(read.topics("broker-a").await, Err(BrokerError::Unreachable { .. })));
    assert_eq!(read.topics("broker-b").await.unwrap().len(), 1);
    let late = read.topic_stats("broker-b", "orders").await;
    assert!(matches!(late, Err(BrokerError::TimedOut { millis: 30, .. })), "{late:?}");
    assert_eq!((fake.calls(Call::Topics), fake.calls(Call::TopicStats)), (2, 1));
    fake.heal("broker-a");
    assert!(read.topics("broker-a").await.is_ok());
    fake.fail_name_servers(Fault::Dead);
    assert!(matches!(read.topology().await, Err(BrokerError::NoNameServer(_))));
}

#[tokio::test]
async fn a_tail_wakes_when_a_message_arrives_and_else_at_its_deadline() {
    let fake = FakeCluster::new().broker("broker-a").topic("orders", 1);
    let (tail, place) = (fake.cluster().tail, queue("broker-a", 0));
    let empty = tail.tail("ingest", &place, 0, Duration::from_millis(30)).await.unwrap();
    assert_eq!((empty.messages.len(), empty.next), (0, 0));
    let (found, _) = tokio::join!(tail.tail("ingest", &place, 0, Duration::from_secs(20)), async {
        tokio::task::yield_now().await;
        fake.append(FakeMessage::to("orders").key("order-17"))
    });
    assert_eq!(found.unwrap().messages.len(), 1);
}

#[tokio::test]
async fn members_come_and_go_and_commits_are_seen_everywhere() {
    let fake = FakeCluster::new().broker("broker-a").broker("broker-b").topic("orders", 2).group("ingest");
    let cluster = fake.cluster();
    for client in ["worker-2", "worker-1"] {
        cluster.tail.heartbeat("ingest", client, &["orders".to_owned()]).await.unwrap();
    }
    assert_eq!(cluster.tail.members("ingest", "orders").await.unwrap(), ["worker-1", "worker-2"]);
    cluster.tail.leave("ingest", "worker-1").await.unwrap();
    assert_eq!(cluster.tail.members("ingest", "orders").await.unwrap(), ["worker-2"]);
    let place = queue("broker-b", 1);
    assert_eq!(cluster.tail.committed("ingest", &place).await.unwrap(), None);
    cluster.tail.commit("ingest", &place, 7).await.unwrap();
    assert_eq!(cluster.tail.committed("ingest", &place).await.unwrap(), Some(7));
    let offsets = cluster.read.group_offsets("broker-b").await.unwrap();
    assert_eq!(offsets.first().unwrap().offsets.get(&1), Some(&7));
    assert_eq!(cluster.read.groups_of_topic("broker-b", "orders").await.unwrap(), ["ingest"]);
    let lag = cluster.read.lag("broker-b", "ingest", None).await.unwrap();
    assert_eq!(lag.iter().map(|lag| lag.consumer_offset).collect::<Vec<_>>(), [None, Some(7)]);
}

#[tokio::test]
async fn a_send_is_stored_and_a_read_only_cluster_has_no_handle_for_it() {
    let fake = FakeCluster::new().broker("broker-a").topic("orders", 2);
    let message = MessageToSend { topic: "orders".into(), keys: vec!["order-1".into()], ..Default::default() };
    let receipt = fake.cluster().send.unwrap().send(message).await.unwrap();
    let found =
        fake.cluster().read.messages_by_key("broker-a", "orders", "order-1", ALL.0, ALL.1).await.unwrap().messages;
    assert_eq!(found.first().unwrap().id(), receipt.message_id);
    let at = fake.cluster().read.message_at("broker-a", found.first().unwrap().commit_log_offset).await.unwrap();
    assert_eq!(Some(at.offset_id), receipt.offset_id);
    assert!(fake.read_only().write.is_none() && fake.read_only().send.is_none());
}
