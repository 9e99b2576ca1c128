//! Ten thousand topics and twelve thousand groups on twenty brokers, some slow, one dead.

use millrace_broker::fake::{Call, FakeCluster, FakeMessage, Fault};
use millrace_broker::{MessageType, TopicConfig};
use millrace_console::snapshot::KeeperOptions;
use millrace_console::topics::{TopicQuery, list};
use tokio::time::{Duration, Instant};

use crate::world::{World, config, queue};

const BROKERS: usize = 20;

fn name(index: usize) -> String {
    format!("broker-{index:02}")
}

fn large() -> FakeCluster {
    let mut fake = (0..BROKERS).fold(FakeCluster::new(), |fake, index| fake.broker(&name(index)));
    for index in 0..10_000 {
        let topic: TopicConfig = config(&format!("topic-{index:05}"), 1, MessageType::Normal);
        fake = fake.topic_on(&name(index % BROKERS), topic);
    }
    for index in 0..12_000 {
        let topic = index % 10_000;
        let place = queue(&format!("topic-{topic:05}"), &name(topic % BROKERS), 0);
        fake = fake.committed_at(&format!("group-{index:05}"), &place, 0);
    }
    fake
}

#[tokio::test(start_paused = true)]
async fn calls_grow_with_brokers_and_the_list_does_not_wait_for_slow_ones() {
    let fake = large();
    for index in 0..5 {
        fake.fail(&name(index), Fault::Slow(Duration::from_millis(2_900)));
    }
    fake.fail(&name(5), Fault::Dead);
    let options = KeeperOptions::default();
    let began = Instant::now();
    let world = World::starting(fake.cluster(), options);
    let mut watch = world.console.snapshots().watch();
    let first = watch.wait_for(|snapshot| snapshot.topics.len() >= 14 * 500).await.unwrap().clone();
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    let page = list(&first, &TopicQuery::default());
    assert_eq!((page.rows.len(), page.coverage.answered), (50, 14));

    fake.forget_calls();
    world.refresh().await;
    fake.forget_calls();
    world.refresh().await;
    for call in [Call::Topics, Call::Groups, Call::GroupOffsets, Call::Runtime] {
        assert_eq!(fake.calls(call), BROKERS, "{call:?}");
    }
    assert_eq!(fake.calls(Call::Topology), 1);
    assert!(fake.calls(Call::TopicStats) <= BROKERS * options.stats_per_tick);
    assert!(fake.calls(Call::Consumers) <= BROKERS * options.groups_per_tick);
    assert!(fake.calls(Call::Pull) <= BROKERS * options.unread_per_tick);
    assert_eq!(fake.calls(Call::Lag) + fake.calls(Call::GroupsOfTopic), 0);
    let snapshot = world.console.snapshot();
    assert_eq!((snapshot.coverage().answered, snapshot.coverage().missed.len()), (19, 1));
    assert_eq!(snapshot.topics.len(), 9_500);
}

#[tokio::test(start_paused = true)]
async fn topics_take_turns_where_there_are_many() {
    let mut fake = FakeCluster::new().broker("broker-a");
    for index in 0..100 {
        fake = fake.topic_on("broker-a", config(&format!("topic-{index:03}"), 1, MessageType::Normal));
    }
    let options = KeeperOptions { stats_per_tick: 30, ..KeeperOptions::default() };
    let world = World::with(fake.cluster(), options).await;
    let read = || {
        let snapshot = world.console.snapshot();
        snapshot.topics.values().filter(|topic| topic.brokers[0].stats.is_some()).count()
    };
    assert_eq!(read(), 30);
    for expected in [60, 90, 100] {
        world.refresh().await;
        assert_eq!(read(), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn no_groups_and_no_topics_are_empty_and_no_error() {
    let world = World::of(&FakeCluster::new().broker("broker-a")).await;
    let snapshot = world.console.snapshot();
    let page = list(&snapshot, &TopicQuery::default());
    assert_eq!((page.total, page.pages, page.coverage.complete()), (0, 1, true));
    assert!(snapshot.groups.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_leaves_cancels_its_work() {
    let fake = FakeCluster::new().broker("broker-a").topic("orders", 1);
    for _ in 0..500 {
        fake.append(FakeMessage::to("orders"));
    }
    let world = World::of(&fake).await;
    fake.forget_calls();
    fake.fail_call("broker-a", Call::Pull, Fault::Slow(Duration::from_secs(1)));
    let browse = millrace_console::messages::Browse::Newest;
    let limits = millrace_console::messages::Limits::default();
    let reading = world.console.browse("orders", &browse, 200, None, limits);
    assert!(tokio::time::timeout(Duration::from_millis(1_500), reading).await.is_err());
    let pulls = fake.calls(Call::Pull);
    tokio::time::sleep(Duration::from_secs(20)).await;
    assert_eq!(fake.calls(Call::Pull), pulls, "nothing goes on behind it");
}
