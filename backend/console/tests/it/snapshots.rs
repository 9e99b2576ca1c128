//! Unknown is not zero; a broker that fails keeps its last good readings; a cluster that is down comes back.

use millrace_broker::fake::{Call, FakeCluster, FakeMessage, Fault};
use millrace_broker::{BrokerError, MessageType};
use millrace_console::overview::{Attention, overview};
use millrace_console::snapshot::KeeperOptions;
use millrace_console::topics::{Chip, Sort, TopicQuery, list};
use millrace_core::coverage::Known;
use millrace_core::time::Millis;
use tokio::time::{Duration, advance};

use crate::world::{START, World, config, queue};

/// Two brokers with `orders`, three queues each; on `broker-a` the group is ten behind on each.
fn two_brokers() -> FakeCluster {
    let mut fake = FakeCluster::new().broker("broker-a").broker("broker-b").topic("orders", 3);
    for number in 0..3 {
        for _ in 0..25 {
            fake = fake.message(FakeMessage::to("orders").on("broker-a", number));
        }
        fake = fake.committed_at("pricing", &queue("orders", "broker-a", number), 15);
    }
    fake
}

#[tokio::test(start_paused = true)]
async fn unknown_is_not_zero() {
    let fake = two_brokers();
    fake.fail("broker-b", Fault::Silent(1_000));
    let world = World::of(&fake).await;
    let snapshot = world.console.snapshot();

    let coverage = snapshot.coverage();
    assert_eq!((coverage.answered, coverage.asked), (1, 2));
    assert_eq!(coverage.missed[0].what, "broker-b");
    assert!(coverage.missed[0].why.english().contains("did not answer"), "{coverage:?}");

    let orders = snapshot.topic("orders").unwrap();
    let lag = &orders.groups[0].lag;
    assert_eq!((lag.value(), lag.at_least()), (None, 30));
    let json = serde_json::to_value(lag).unwrap();
    assert!(json["value"].is_null());
    assert_eq!(json["at_least"], 30);
    assert_eq!(json["missing"][0]["what"], "broker-b");

    // Recovered, with nothing to read there.
    fake.heal("broker-b");
    world.refresh().await;
    let snapshot = world.console.snapshot();
    assert!(snapshot.coverage().complete());
    assert_eq!(snapshot.topic("orders").unwrap().groups[0].lag.value(), Some(30));
    assert_eq!(snapshot.topic("orders").unwrap().lag.as_ref().unwrap().value(), Some(30));
}

#[tokio::test(start_paused = true)]
async fn unknown_sorts_last_both_ways() {
    let fake = two_brokers().topic_on("broker-a", config("audit", 1, MessageType::Normal));
    let fake = fake.message(FakeMessage::to("audit")).committed_at("auditor", &queue("audit", "broker-a", 0), 0);
    fake.fail_call("broker-b", Call::TopicStats, Fault::Dead);
    let world = World::of(&fake).await;
    for descending in [false, true] {
        let page =
            list(&world.console.snapshot(), &TopicQuery { sort: Sort::Lag, descending, ..TopicQuery::default() });
        let names: Vec<&str> = page.rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names, ["audit", "orders"], "descending: {descending}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_broker_that_fails_keeps_its_last_good_readings() {
    let fake = two_brokers().message(FakeMessage::to("orders").on("broker-b", 0));
    let fake = fake.committed_at("pricing", &queue("orders", "broker-b", 0), 1);
    let world = World::of(&fake).await;
    let before = world.console.snapshot();
    let read_at = before.broker("broker-b").unwrap().at().unwrap();
    assert_eq!(before.topic("orders").unwrap().groups[0].lag.value(), Some(30));

    fake.fail("broker-b", Fault::Dead);
    advance(Duration::from_secs(20)).await;
    world.refresh().await;
    let after = world.console.snapshot();
    let state = after.broker("broker-b").unwrap();
    assert_eq!(state.at(), Some(read_at));
    assert!(state.failure().unwrap().why.english().contains("unreachable"));
    assert_eq!((after.coverage().answered, after.coverage().as_of), (1, Some(read_at)));
    let orders = after.topic("orders").unwrap();
    assert_eq!(orders.brokers.len(), 2);
    // The lag is the last one known and says so; a rate is about now, and there is none.
    assert_eq!(orders.groups[0].lag.value(), Some(30));
    assert_eq!(orders.groups[0].lag.stale_parts()[0].what, "broker-b");
    assert_eq!(orders.per_second.value(), None);
    assert!(
        overview(&after, &[])
            .attention
            .iter()
            .any(|entry| matches!(entry, Attention::BrokerDown { broker, .. } if broker == "broker-b"))
    );
}

#[tokio::test(start_paused = true)]
async fn refused_by_acl_says_so() {
    let fake = two_brokers();
    let refusal = BrokerError::NotPermitted { address: "192.0.2.1:10911".into(), remark: "no GET on group".into() };
    fake.fail_call("broker-a", Call::GroupOffsets, Fault::Answers(refusal));
    let world = World::of(&fake).await;
    let snapshot = world.console.snapshot();
    let missed = &snapshot.coverage().missed;
    assert!(missed[0].why.english().contains("refused: no GET on group"), "{missed:?}");
    assert_eq!(snapshot.topic("orders").unwrap().lag.as_ref().unwrap().value(), None);
}

#[tokio::test(start_paused = true)]
async fn a_cluster_that_is_down_is_served_and_comes_back_by_itself() {
    let fake = two_brokers();
    fake.fail_name_servers(Fault::Dead);
    let world = World::of(&fake).await;
    let down = world.console.snapshot();
    assert!(down.topics.is_empty() && !down.coverage().complete());
    let page = list(&down, &TopicQuery::default());
    assert_eq!(page.total, 0);
    assert!(page.coverage.missed[0].why.english().contains("no name server answered"), "{:?}", page.coverage);
    let told = overview(&down, &[]).attention;
    assert!(matches!(told[0], Attention::ClusterUnreachable { .. }), "{told:?}");

    let mut watch = world.console.snapshots().watch();
    fake.heal("broker-a");
    watch.wait_for(|snapshot| snapshot.coverage().complete()).await.unwrap();
    assert!(world.console.snapshot().topic("orders").is_some());
}

#[tokio::test(start_paused = true)]
async fn name_servers_that_know_no_broker_are_told_as_that() {
    let world = World::of(&FakeCluster::new()).await;
    let told = overview(&world.console.snapshot(), &[]).attention;
    assert_eq!(told, [Attention::NoBroker], "and not as a missing trace topic");
}

#[tokio::test(start_paused = true)]
async fn rates_and_the_guard_for_offsets_that_went_back() {
    let fake = FakeCluster::new().broker("broker-a").topic("orders", 1);
    let world = World::of(&fake).await;
    let rate = || world.console.snapshot().topic("orders").unwrap().per_second.value();
    assert_eq!(rate(), None, "one reading makes no rate");

    for _ in 0..50 {
        fake.append(FakeMessage::to("orders"));
    }
    advance(Duration::from_secs(5)).await;
    world.refresh().await;
    let seen = rate().unwrap();
    assert!((9.0..=10.1).contains(&seen), "50 messages in 5 seconds are 10 a second, not {seen}");

    // The topic is made anew: its offsets begin at 0 again.
    let write = fake.cluster().write.unwrap();
    write.delete_topic("broker-a", "orders").await.unwrap();
    write.put_topic("broker-a", &config("orders", 1, MessageType::Normal)).await.unwrap();
    advance(Duration::from_secs(5)).await;
    world.refresh().await;
    assert_eq!(rate(), None);
    assert!(
        world.console.snapshot().topic("orders").unwrap().per_second.missing()[0].why.english().contains("went back")
    );
}

#[tokio::test(start_paused = true)]
async fn kinds_are_exact_and_chips_count() {
    let fake = FakeCluster::new()
        .broker("broker-a")
        .topic_on("broker-a", config("%D", 1, MessageType::Unspecified))
        .topic_on("broker-a", config("DELAY_reminders", 1, MessageType::Delay))
        .topic_on("broker-a", config("%DLQ%pricing", 1, MessageType::Unspecified))
        .topic_on("broker-a", config("%RETRY%pricing", 1, MessageType::Unspecified))
        .topic_on("broker-a", config("RMQ_SYS_TRACE_TOPIC", 1, MessageType::Unspecified))
        .topic_on("broker-a", config("broker-a", 1, MessageType::Unspecified))
        .topic_on("broker-a", config("orders", 1, MessageType::Fifo));
    let world = World::of(&fake).await;
    let snapshot = world.console.snapshot();
    let shown = |query: TopicQuery| -> Vec<String> {
        list(&snapshot, &query).rows.iter().map(|row| row.name.clone()).collect()
    };
    assert_eq!(shown(TopicQuery::default()), ["%D", "DELAY_reminders", "orders"]);
    let page = list(&snapshot, &TopicQuery::default());
    assert_eq!((page.all, page.counts[&Chip::DeadLetter], page.counts[&Chip::Unspecified]), (3, 1, 1));
    let chosen = |chip| TopicQuery { chip: Some(chip), ..TopicQuery::default() };
    assert_eq!(shown(chosen(Chip::DeadLetter)), ["%DLQ%pricing"]);
    assert_eq!(shown(chosen(Chip::System)), ["RMQ_SYS_TRACE_TOPIC", "broker-a"], "a broker makes a topic of its name");
    assert_eq!(shown(TopicQuery { hide_system: false, ..TopicQuery::default() }).len(), 7);
    assert_eq!(shown(TopicQuery { filter: " ORD ".into(), ..TopicQuery::default() }), ["orders"]);
    let last = list(&snapshot, &TopicQuery { page: 9, size: 2, ..TopicQuery::default() });
    assert_eq!((last.page, last.pages, last.total, last.rows.len()), (2, 2, 3, 1));
}

#[tokio::test(start_paused = true)]
async fn a_topic_in_full() {
    let fake = two_brokers().client("dashboards", "viewer@1", "orders");
    fake.expire(&queue("orders", "broker-a", 0), 20);
    let world = World::of(&fake).await;
    let detail = world.console.topic("orders").await.unwrap();
    assert!(detail.coverage.complete());
    assert_eq!(detail.queues().count(), 6);
    let expired = detail.queues().find(|queue| queue.stats.min == 20).unwrap();
    assert_eq!((expired.broker, expired.stats.max), ("broker-a", 25));
    let names: Vec<&str> = detail.readers.iter().map(|reader| reader.group.as_str()).collect();
    assert_eq!(names, ["dashboards", "pricing"]);
    assert!(detail.readers[0].lag.is_none(), "subscribed, and no offset committed");
    let pricing = detail.readers[1].lag.as_ref().unwrap();
    // Of queue 0, five of the ten are gone; broker-b's empty queues have no offset and nothing to read.
    assert_eq!((pricing.lag.value(), pricing.expired_unread), (Some(25), 5));
    assert!(matches!(world.console.topic("nothing").await, Err(millrace_console::ConsoleError::NotFound(_))));
}

#[tokio::test(start_paused = true)]
async fn a_topic_in_full_while_a_broker_is_down() {
    let fake = two_brokers();
    let world = World::of(&fake).await;
    fake.fail("broker-a", Fault::Dead);
    let detail = world.console.topic("orders").await.unwrap();
    assert_eq!((detail.coverage.answered, detail.coverage.asked), (1, 2));
    let place = detail.brokers.iter().find(|place| place.broker == "broker-a").unwrap();
    assert!(place.failure.is_some(), "it says that these are old");
    assert_eq!(place.stats.as_ref().unwrap().queues.len(), 3, "and still shows the last ones");
}

#[tokio::test(start_paused = true)]
async fn what_needs_attention() {
    let mut fake = two_brokers()
        .runtime_entry("broker-a", "brokerVersionDesc", "V4_9_4")
        .runtime_entry("broker-b", "commitLogDiskRatio", "0.93")
        .topic_on("broker-a", config("%DLQ%pricing", 1, MessageType::Unspecified));
    fake = fake.message(FakeMessage::to("%DLQ%pricing"));
    fake = fake.committed_at("copied", &queue("orders", "broker-a", 0), 900).group("pricing");
    let world = World::of(&fake).await;
    let told = overview(&world.console.snapshot(), &[]).attention;
    let has = |wanted: &dyn Fn(&Attention) -> bool| told.iter().any(wanted);
    assert!(has(&|a| matches!(a, Attention::BrokerRunsForeignCommands { broker, .. } if broker == "broker-a")));
    assert!(has(&|a| matches!(a, Attention::DiskFilling { broker, bad: true, .. } if broker == "broker-b")));
    assert!(has(&|a| matches!(a, Attention::OffsetBeyondEnd { by: 875, .. })), "{told:?}");
    assert!(has(&|a| matches!(a, Attention::DeadLetters { messages: 1, .. })));
    assert!(has(&|a| matches!(a, Attention::TraceTopicMissing { .. })));
    let severities: Vec<_> = told.iter().map(Attention::severity).collect();
    assert!(severities.is_sorted(), "worst first: {severities:?}");

    // Pricing's offsets stand still.
    advance(Duration::from_secs(61)).await;
    world.refresh().await;
    let snapshot = world.console.snapshot();
    let told = overview(&snapshot, &["orders".to_owned()]).attention;
    let stuck = |a: &Attention| matches!(a, Attention::GroupStuck { group, lag: 30, .. } if group == "pricing");
    assert!(told.iter().any(stuck), "{told:?}");
    assert!(!told.iter().any(|a| matches!(a, Attention::TraceTopicMissing { .. })), "a custom one is one");
}

#[tokio::test(start_paused = true)]
async fn the_first_snapshot_says_that_nothing_was_read_yet() {
    let fake = two_brokers();
    fake.fail("broker-b", Fault::Silent(60_000));
    let world = World::starting(fake.cluster(), KeeperOptions::default());
    let first = world.console.snapshot();
    assert_eq!((first.at, first.coverage().complete()), (None, false));
    // What the quick broker said is shown before the slow one's deadline.
    let mut watch = world.console.snapshots().watch();
    let early = watch.wait_for(|snapshot| snapshot.topic("orders").is_some()).await.unwrap().clone();
    assert_eq!(early.rounds, 0);
    assert!(early.at.unwrap().since(Millis(START)) < 1_000);
    assert_eq!(early.topic("orders").unwrap().lag.as_ref().unwrap().value(), None);
    assert!(matches!(early.topic("orders").unwrap().last_write, Known::Known(Some(_))));
}
