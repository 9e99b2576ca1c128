//! By key and by id: no foreign rows, caps told, a fault is not "nothing".

use async_trait::async_trait;
use millrace_broker::BrokerError;
use millrace_broker::fake::{Call, FakeCluster, FakeMessage, Fault};
use millrace_console::ConsoleError;
use millrace_console::messages::{KEY_CAP, KeyQuery, TakenFor};
use millrace_core::time::Millis;

use crate::world::{START, World};

fn by(key: &str) -> KeyQuery {
    KeyQuery { key: key.to_owned(), from: None, to: None }
}

#[tokio::test(start_paused = true)]
async fn a_capped_answer_says_so_and_time_reaches_the_rest() {
    let fake = FakeCluster::new().broker("broker-a").broker("broker-b").topic("orders", 1);
    for index in 0..70 {
        for broker in ["broker-a", "broker-b"] {
            let at = Millis(START - 100_000 + index * 1_000);
            fake.append(FakeMessage::to("orders").on(broker, 0).key("order-17").at(at));
        }
    }
    let world = World::of(&fake).await;
    let first = world.console.messages_by_key("orders", &by("order-17")).await.unwrap();
    assert_eq!((first.messages.len(), first.capped.len()), (128, 2));
    assert!(first.messages.is_sorted_by(|a, b| a.stored >= b.stored), "newest first");
    let older = KeyQuery { to: first.older, ..by("order-17") };
    let second = world.console.messages_by_key("orders", &older).await.unwrap();
    assert!(second.capped.is_empty());
    let place = |m: &millrace_broker::Message| (m.queue.broker.clone(), m.queue.queue, m.offset);
    let all: std::collections::BTreeSet<_> = first.messages.iter().chain(&second.messages).map(place).collect();
    assert_eq!(all.len(), 140, "all seventy of both brokers");
}

#[tokio::test(start_paused = true)]
async fn keys_as_people_write_them() {
    let long = "k".repeat(200);
    let fake = FakeCluster::new().broker("broker-a").topic("orders", 1);
    fake.append(FakeMessage::to("orders").property("KEYS", "a b"));
    for key in ["订单-17", "100%/x", long.as_str()] {
        fake.append(FakeMessage::to("orders").key(key));
    }
    let world = World::of(&fake).await;
    for (key, hits) in
        [("a", 1), ("b", 1), ("a b", 0), ("  a", 1), ("订单-17", 1), ("100%/x", 1), (long.as_str(), 1), ("A", 0)]
    {
        let found = world.console.messages_by_key("orders", &by(key)).await.unwrap();
        assert_eq!(found.messages.len(), hits, "{key:?}");
        assert_eq!(found.key, key.trim());
    }
    let empty = world.console.messages_by_key("orders", &by("  ")).await.unwrap_err();
    assert!(matches!(empty, ConsoleError::Invalid(_)));
}

#[tokio::test(start_paused = true)]
async fn no_match_is_not_a_fault_and_a_fault_is_not_no_match() {
    let fake = FakeCluster::new().broker("broker-a").broker("broker-b").topic("orders", 1);
    let world = World::of(&fake).await;
    let not_found = || Fault::Answers(BrokerError::NotFound("a message".into()));
    let error = || {
        Fault::Answers(BrokerError::Answered {
            address: "192.0.2.1:10911".into(),
            code: 1,
            remark: "index busy".into(),
        })
    };
    fake.fail_call("broker-a", Call::MessagesByKey, not_found());
    fake.fail_call("broker-b", Call::MessagesByKey, not_found());
    let none = world.console.messages_by_key("orders", &by("order-17")).await.unwrap();
    assert!(none.messages.is_empty() && none.coverage.complete());

    fake.fail_call("broker-b", Call::MessagesByKey, error());
    let partial = world.console.messages_by_key("orders", &by("order-17")).await.unwrap();
    assert_eq!((partial.coverage.answered, partial.coverage.asked), (1, 2));
    assert!(partial.coverage.missed[0].why.english().contains("index busy"));

    fake.fail_call("broker-a", Call::MessagesByKey, error());
    let failed = world.console.messages_by_key("orders", &by("order-17")).await.unwrap_err();
    assert!(matches!(&failed, ConsoleError::Broker(BrokerError::Answered { remark, .. }) if remark == "index busy"));
    let absent = world.console.messages_by_key("nothing", &by("order-17")).await.unwrap_err();
    assert!(matches!(absent, ConsoleError::NotFound(_)));
}

#[tokio::test(start_paused = true)]
async fn ids_of_every_kind() {
    let fake = FakeCluster::new().broker("broker-a").topic("orders", 1);
    let uniq = "AC1415116D1418B4AAC217FE1B4E0000";
    let grpc = "0108719066FF9A489C04DB99CA00000003";
    fake.append(FakeMessage::to("orders").uniq_id(uniq));
    fake.append(FakeMessage::to("orders").uniq_id(uniq));
    let stored = fake.append(FakeMessage::to("orders").uniq_id(grpc));
    fake.append(FakeMessage::to("orders").uniq_id("my-own-id"));
    let world = World::of(&fake).await;

    let twice = world.console.messages_by_id(Some("orders"), &uniq.to_lowercase()).await.unwrap();
    assert_eq!((twice.taken_for, twice.messages.len()), (TakenFor::Uniq, 2));
    let found = world.console.messages_by_id(Some("orders"), grpc).await.unwrap();
    assert_eq!((found.taken_for, found.messages.len()), (TakenFor::Grpc, 1));
    let own = world.console.messages_by_id(Some("orders"), "my-own-id").await.unwrap();
    assert_eq!((own.taken_for, own.messages.len()), (TakenFor::Other, 1));

    // An offset id needs no topic.
    let at = world.console.messages_by_id(None, &stored.offset_id).await.unwrap();
    assert_eq!(at.taken_for, TakenFor::Offset { broker: "broker-a".into() });
    assert_eq!(at.messages[0].offset, 2);
    let none = world.console.messages_by_id(None, "C000020100002A9F00000000000FFFFF").await.unwrap();
    assert!(none.messages.is_empty());

    // An address that is not the cluster's is not dialled: the id is looked for as a unique one.
    let foreign = "0A9A002600002A9F0000000000002329";
    let looked = world.console.messages_by_id(Some("orders"), foreign).await.unwrap();
    assert_eq!(looked.taken_for, TakenFor::UniqDespiteShape { address: "10.154.0.38:10911".into() });
    assert_eq!(fake.calls(Call::Reachable), 0);
    assert!(matches!(world.console.messages_by_id(None, uniq).await, Err(ConsoleError::Invalid(_))));
    assert!(matches!(world.console.messages_by_id(None, " ").await, Err(ConsoleError::Invalid(_))));
}

/// An id with an address that is nobody's may be of a broker that moved: one that does not answer is named, and without
/// a topic to look in its fault is the answer.
#[tokio::test(start_paused = true)]
async fn an_id_of_nobody_s_address_is_not_nowhere_while_a_broker_does_not_answer() {
    let fake = FakeCluster::new().broker("broker-a").broker("broker-b").topic("orders", 1);
    let world = World::of(&fake).await;
    fake.fail_call("broker-b", Call::MessageAt, Fault::Dead);
    let foreign = "0A9A002600002A9F0000000000002329";
    let looked = world.console.messages_by_id(Some("orders"), foreign).await.unwrap();
    let missed: Vec<&str> = looked.coverage.missed.iter().map(|missed| missed.what.as_str()).collect();
    assert_eq!((looked.messages.len(), missed), (0, vec!["broker-b"]));
    let failed = world.console.messages_by_id(None, foreign).await.unwrap_err();
    assert!(matches!(failed, ConsoleError::Broker(BrokerError::Unreachable { .. })), "{failed:?}");
}

/// A broker whose index answers with what has the same hash.
#[derive(Debug)]
struct Colliding(FakeCluster);

macro_rules! passed_on {
    ($($name:ident($($arg:ident: $kind:ty),*) -> $answer:ty;)*) => {
        #[async_trait]
        impl millrace_broker::BrokerRead for Colliding {
            $(async fn $name(&self, $($arg: $kind),*) -> $answer { self.0.$name($($arg),*).await })*

            async fn messages_by_key(
                &self,
                broker: &str,
                _topic: &str,
                _key: &str,
                from: Millis,
                to: Millis,
            ) -> millrace_broker::Result<millrace_broker::KeyHits> {
                let mut all = self.0.messages_by_key(broker, "orders", "order-17", from, to).await?;
                all.messages.extend(self.0.messages_by_key(broker, "orders", "order-71", from, to).await?.messages);
                all.messages.extend(self.0.messages_by_key(broker, "invoices", "order-17", from, to).await?.messages);
                // As on the wire: the cap counts what has another key, too.
                all.capped = all.messages.len() >= KEY_CAP;
                all.oldest = all.messages.iter().map(|message| message.stored).min();
                Ok(all)
            }
        }
    };
}

use millrace_broker::{
    BrokerRuntime, ClientRunning, ConsumerConnection, GroupConfig, GroupOffsets, Message, PulledBatch, QueueLag,
    QueueStats, Result, TopicConfig, TopicRoute, Topology,
};
use millrace_core::name::QueueRef;

passed_on! {
    topology() -> Result<Topology>;
    name_servers() -> Vec<(String, Result<()>)>;
    reachable(address: &str) -> Result<()>;
    runtime(broker: &str) -> Result<BrokerRuntime>;
    config(broker: &str) -> Result<std::collections::BTreeMap<String, String>>;
    topics(broker: &str) -> Result<Vec<TopicConfig>>;
    route(topic: &str) -> Result<TopicRoute>;
    topic_stats(broker: &str, topic: &str) -> Result<Vec<QueueStats>>;
    groups_of_topic(broker: &str, topic: &str) -> Result<Vec<String>>;
    groups(broker: &str) -> Result<Vec<GroupConfig>>;
    group_offsets(broker: &str) -> Result<Vec<GroupOffsets>>;
    lag(broker: &str, group: &str, topic: Option<&str>) -> Result<Vec<QueueLag>>;
    consumers(broker: &str, group: &str) -> Result<ConsumerConnection>;
    running(broker: &str, group: &str, client: &str, stacks: bool) -> Result<ClientRunning>;
    messages_by_uniq_id(broker: &str, topic: &str, id: &str, from: Millis, to: Millis) -> Result<Vec<Message>>;
    message_at(broker: &str, commit_log_offset: i64) -> Result<Message>;
    offset_at(queue: &QueueRef, time: Millis) -> Result<i64>;
    bounds(queue: &QueueRef) -> Result<(i64, i64)>;
    pull(queue: &QueueRef, offset: i64, max: u32) -> Result<PulledBatch>;
}

#[tokio::test(start_paused = true)]
async fn an_equal_hash_gives_no_foreign_rows() {
    let fake = FakeCluster::new().broker("broker-a").topic("orders", 1).topic("invoices", 1);
    fake.append(FakeMessage::to("orders").key("order-17"));
    fake.append(FakeMessage::to("orders").key("order-71"));
    fake.append(FakeMessage::to("invoices").key("order-17"));
    let mut cluster = fake.cluster();
    cluster.read = std::sync::Arc::new(Colliding(fake));
    let world = World::with(cluster, millrace_console::snapshot::KeeperOptions::default()).await;
    let found = world.console.messages_by_key("orders", &by("order-17")).await.unwrap();
    assert_eq!((found.messages.len(), found.foreign), (1, 2));
}

/// The broker's cap counts what only has the same hash: fewer than 64 of one's own may be all that it tells.
#[tokio::test(start_paused = true)]
async fn a_cap_is_told_although_some_of_it_is_foreign() {
    let mut fake = FakeCluster::new().broker("broker-a").topic("orders", 1).topic("invoices", 1);
    fake = fake.message(FakeMessage::to("invoices").key("order-17"));
    for _ in 0..63 {
        fake = fake.message(FakeMessage::to("orders").key("order-17"));
    }
    let mut cluster = fake.cluster();
    cluster.read = std::sync::Arc::new(Colliding(fake));
    let world = World::with(cluster, millrace_console::snapshot::KeeperOptions::default()).await;
    let found = world.console.messages_by_key("orders", &by("order-17")).await.unwrap();
    assert_eq!((found.messages.len(), found.foreign, found.capped.as_slice()), (63, 1, &["broker-a".to_owned()][..]));
    assert!(found.older.is_some());
}

/// A broker at another address still has what ids with its old one name.
#[tokio::test(start_paused = true)]
async fn an_offset_id_of_a_broker_that_moved_is_found() {
    let fake = FakeCluster::new().broker("broker-a").topic("orders", 1);
    let stored = fake.append(FakeMessage::to("orders").key("order-17"));
    fake.move_broker("broker-a", "192.0.2.77:10911");
    let world = World::of(&fake).await;
    let looked = world.console.messages_by_id(None, &stored.offset_id).await.unwrap();
    assert_eq!((looked.taken_for, looked.messages.len()), (TakenFor::Offset { broker: "broker-a".into() }, 1));
}
