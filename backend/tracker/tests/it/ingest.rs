//! Ingest: everything once, shared among workers, through faults.

use std::sync::Arc;
use std::time::Duration;

use millrace_broker::fake::{Call, FakeCluster, FakeMessage, Fault};
use millrace_broker::{BrokerError, MessageType, Perm, TopicConfig};
use millrace_core::name::{QueueRef, TRACE_TOPIC};
use millrace_tracker::ingest::{Ingest, IngestSettings, WorkerHealth};
use millrace_tracker::record::{Question, RecordFinder, UnfoundReason};
use tokio_util::sync::CancellationToken;

use crate::FixedClock;
use crate::memory_store::MemoryStore;

const WITHIN: Duration = Duration::from_secs(20);

fn settings(client: &str) -> IngestSettings {
    IngestSettings {
        rebalance_every: Duration::from_millis(50),
        batch_wait: Duration::from_millis(5),
        custom_topics: vec!["shop_trace".to_owned()],
        ..IngestSettings::new(client)
    }
}

pub(crate) fn trace_topic(name: &str, queues: u32) -> TopicConfig {
    TopicConfig {
        name: name.to_owned(),
        read_queues: queues,
        write_queues: queues,
        perm: Perm::READ_WRITE,
        message_type: MessageType::Unspecified,
        order: false,
        attributes: std::collections::BTreeMap::default(),
    }
}

/// Two brokers, three trace topics: 1 + 2 + 4 queues on the first, 1 on the second.
fn cluster() -> FakeCluster {
    FakeCluster::new()
        .broker("broker-a")
        .broker("broker-b")
        .topic_on("broker-a", trace_topic(TRACE_TOPIC, 1))
        .topic_on("broker-b", trace_topic(TRACE_TOPIC, 1))
        .topic_on("broker-a", trace_topic("rmq_sys_TRACE_DATA_somewhere", 2))
        .topic_on("broker-a", trace_topic("shop_trace", 4))
        .topic("orders", 4)
}

fn trace(topic: &str, broker: &str, queue: i32, key: usize) -> FakeMessage {
    let body = format!(
        "SubBefore\u{1}1700000000100\u{1}DefaultRegion\u{1}shop\u{1}R{key}\u{1}M{key}\u{1}0\u{1}order-{key}\u{2}"
    );
    FakeMessage::to(topic).on(broker, queue).body(body)
}

fn fill(fake: &FakeCluster, messages: usize) {
    let places = [
        (TRACE_TOPIC, "broker-a", 0),
        (TRACE_TOPIC, "broker-b", 0),
        ("rmq_sys_TRACE_DATA_somewhere", "broker-a", 1),
        ("shop_trace", "broker-a", 0),
        ("shop_trace", "broker-a", 3),
    ];
    for n in 0..messages {
        let (topic, broker, queue) = places[n % places.len()];
        fake.append(trace(topic, broker, queue, n));
    }
}

pub(crate) fn start(fake: &FakeCluster, store: &Arc<MemoryStore>, client: &str, stop: &CancellationToken) -> Ingest {
    Ingest::start(fake.cluster(), store.clone(), settings(client), Arc::new(FixedClock), stop.clone())
}

/// Waits for changes of the ingest until `reached`.
pub(crate) async fn until(ingest: &Ingest, reached: impl Fn() -> bool) {
    let mut changes = ingest.state.changes();
    let waiting = async {
        while !reached() {
            changes.changed().await.unwrap();
        }
    };
    assert!(tokio::time::timeout(WITHIN, waiting).await.is_ok(), "not reached within {WITHIN:?}");
}

fn distinct(store: &MemoryStore) -> usize {
    let all = store.messages();
    let mut set = all.clone();
    set.dedup();
    assert_eq!(set.len(), all.len(), "no message twice");
    all.len()
}

#[tokio::test]
async fn every_queue_of_every_trace_topic_is_read_once() {
    let fake = cluster();
    fill(&fake, 503);
    let (store, stop) = (Arc::new(MemoryStore::default()), CancellationToken::new());
    let ingest = start(&fake, &store, "worker-1", &stop);
    until(&ingest, || store.messages().len() == 503).await;
    let status = ingest.state.status(millrace_core::time::Millis(1_800_000_100_000));
    assert_eq!((status.messages, status.records, status.rejects), (503, 503, 0));
    assert_eq!(status.queues.len(), 8, "one and one, two, four");
    assert_eq!(status.topics, [TRACE_TOPIC, "rmq_sys_TRACE_DATA_somewhere", "shop_trace"]);
    assert_eq!(distinct(&store), 503);
    stop.cancel();
    ingest.finished().await;
    assert!(fake.members_at("broker-a", "millrace_trace_ingest").is_empty(), "it left the group");
    let queue = QueueRef { topic: "shop_trace".into(), broker: "broker-a".into(), queue: 3 };
    assert_eq!(fake.committed_offset("millrace_trace_ingest", &queue), Some(100), "other tools see the position");
}

#[tokio::test]
async fn two_workers_share_the_queues_and_one_takes_over() {
    let fake = cluster();
    let store = Arc::new(MemoryStore::default());
    let (stop_1, stop_2) = (CancellationToken::new(), CancellationToken::new());
    let first = start(&fake, &store, "worker-1", &stop_1);
    let second = start(&fake, &store, "worker-2", &stop_2);
    let now = millrace_core::time::Millis(1_800_000_100_000);
    until(&first, || {
        first.state.status(now).queues.len() + second.state.status(now).queues.len() == 8
            && !second.state.status(now).queues.is_empty()
    })
    .await;
    fill(&fake, 200);
    until(&first, || first.state.status(now).messages + second.state.status(now).messages >= 200).await;
    assert!(second.state.status(now).messages > 0, "both work");
    stop_2.cancel();
    second.finished().await;
    fill(&fake, 200);
    until(&first, || store.messages().len() == 400).await;
    assert_eq!(distinct(&store), 400);
    stop_1.cancel();
    first.finished().await;
}

#[tokio::test]
async fn a_moved_position_fences_the_reader_which_goes_on_from_there() {
    let fake = cluster();
    let (store, stop) = (Arc::new(MemoryStore::default()), CancellationToken::new());
    let queue = QueueRef { topic: TRACE_TOPIC.into(), broker: "broker-a".into(), queue: 0 };
    for n in 0..10 {
        fake.append(trace(TRACE_TOPIC, "broker-a", 0, n));
    }
    let ingest = start(&fake, &store, "worker-1", &stop);
    until(&ingest, || store.messages().len() == 10).await;
    store.move_position(&queue, 15);
    for n in 10..20 {
        fake.append(trace(TRACE_TOPIC, "broker-a", 0, n));
    }
    until(&ingest, || store.messages().len() == 15).await;
    let offsets: Vec<i64> = store.messages().into_iter().map(|(_, offset)| offset).collect();
    assert_eq!(offsets, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 18, 19]);
    stop.cancel();
    ingest.finished().await;
}

#[tokio::test]
async fn a_full_disk_stops_nothing_for_good() {
    let fake = cluster();
    let (store, stop) = (Arc::new(MemoryStore::default()), CancellationToken::new());
    store.set_full(true);
    fill(&fake, 50);
    let ingest = start(&fake, &store, "worker-1", &stop);
    let now = millrace_core::time::Millis(1_800_000_100_000);
    until(
        &ingest,
        || matches!(ingest.state.status(now).health, WorkerHealth::Degraded { why } if why.contains("disk")),
    )
    .await;
    store.set_full(false);
    until(&ingest, || store.messages().len() == 50).await;
    until(&ingest, || ingest.state.status(now).health == WorkerHealth::Running).await;
    stop.cancel();
    ingest.finished().await;
}

#[tokio::test]
async fn a_dead_broker_is_told_and_comes_back() {
    let fake = cluster();
    fake.fail("broker-b", Fault::Dead);
    fill(&fake, 50);
    let (store, stop) = (Arc::new(MemoryStore::default()), CancellationToken::new());
    let ingest = start(&fake, &store, "worker-1", &stop);
    let now = millrace_core::time::Millis(1_800_000_100_000);
    until(&ingest, || store.messages().len() == 40).await;
    until(
        &ingest,
        || matches!(ingest.state.status(now).health, WorkerHealth::Degraded { why } if why.contains("broker-b")),
    )
    .await;
    fake.heal("broker-b");
    until(&ingest, || store.messages().len() == 50).await;
    assert_eq!(distinct(&store), 50);
    stop.cancel();
    ingest.finished().await;
}

#[tokio::test]
async fn traces_that_expired_unread_are_counted() {
    let fake = cluster();
    for n in 0..30 {
        fake.append(trace(TRACE_TOPIC, "broker-a", 0, n));
    }
    let queue = QueueRef { topic: TRACE_TOPIC.into(), broker: "broker-a".into(), queue: 0 };
    let store = Arc::new(MemoryStore::default());
    store.move_position(&queue, 5);
    fake.expire(&queue, 12);
    let stop = CancellationToken::new();
    let ingest = start(&fake, &store, "worker-1", &stop);
    until(&ingest, || store.messages().len() == 18).await;
    let status = ingest.state.status(millrace_core::time::Millis(1_800_000_100_000));
    assert_eq!(status.queues.iter().map(|queue| queue.expired).sum::<u64>(), 7);
    stop.cancel();
    ingest.finished().await;
}

/// A trace topic that may not be read is neither "tracing off" nor "nothing came": it says who refuses, and why.
#[tokio::test]
async fn a_refused_trace_topic_is_told_by_its_broker() {
    let now = millrace_core::time::Millis(1_800_000_100_000);
    for call in [Call::Committed, Call::Tail] {
        let fake = FakeCluster::new().broker("broker-a").topic_on("broker-a", trace_topic(TRACE_TOPIC, 1));
        let no_right = BrokerError::NotPermitted { address: "192.0.2.1:10911".into(), remark: "no SUB".into() };
        fake.fail_call("broker-a", call, Fault::Answers(no_right));
        let stop = CancellationToken::new();
        let ingest = start(&fake, &Arc::new(MemoryStore::default()), "worker-1", &stop);
        until(&ingest, || !ingest.state.status(now).refused.is_empty()).await;
        let refused = ingest.state.status(now).refused;
        assert_eq!((refused[0].what.as_str(), refused.len()), ("broker-a", 1));
        assert!(refused[0].why.english().contains("no SUB"), "{refused:?}");
        // Who looks a record up meanwhile hears of it first, and not that tracing is off.
        let finder = RecordFinder::new(
            fake.cluster(),
            Arc::new(MemoryStore::default()),
            Arc::clone(&ingest.state),
            Arc::new(FixedClock),
        );
        let answer = finder.look_up(&Question::of("order-17")).await.unwrap();
        assert!(
            matches!(&answer.unfound[0], UnfoundReason::TraceTopicRefused { refused } if refused[0].what == "broker-a"),
            "{:?}",
            answer.unfound
        );
        assert!(!answer.unfound.contains(&UnfoundReason::NoTraceTopic));
        fake.heal("broker-a");
        until(&ingest, || ingest.state.status(now).refused.is_empty()).await;
        stop.cancel();
        ingest.finished().await;
    }
    let unreadable = TopicConfig { perm: Perm::WRITE, ..trace_topic(TRACE_TOPIC, 1) };
    let fake = FakeCluster::new().broker("broker-a").topic_on("broker-a", unreadable);
    let stop = CancellationToken::new();
    let ingest = start(&fake, &Arc::new(MemoryStore::default()), "worker-1", &stop);
    until(&ingest, || !ingest.state.status(now).refused.is_empty()).await;
    stop.cancel();
    ingest.finished().await;
}

/// A broken entry costs no other, and each is counted.
#[tokio::test]
async fn a_body_that_is_broken_in_part_gives_its_good_records_and_its_rejects() {
    let now = millrace_core::time::Millis(1_800_000_100_000);
    let fake = FakeCluster::new().broker("broker-a").topic_on("broker-a", trace_topic(TRACE_TOPIC, 1));
    let body = "Pub\u{1}abc\u{1}x\u{2}SubBefore\u{1}1700000000100\u{1}DefaultRegion\u{1}shop\u{1}R2\u{1}M2\u{1}0\u{1}k2\u{2}Foo\u{1}1\u{2}";
    fake.append(FakeMessage::to(TRACE_TOPIC).on("broker-a", 0).body(body));
    let store = Arc::new(MemoryStore::default());
    let stop = CancellationToken::new();
    let ingest = start(&fake, &store, "worker-1", &stop);
    until(&ingest, || ingest.state.status(now).messages == 1).await;
    let status = ingest.state.status(now);
    assert_eq!((status.records, status.rejects), (1, 2));
    stop.cancel();
    ingest.finished().await;
}
