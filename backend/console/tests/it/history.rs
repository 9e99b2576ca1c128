//! What a cluster looked like: each minute that is over is kept, rolled up and in the end forgotten.

use std::sync::Arc;

use millrace_broker::fake::{FakeCluster, FakeMessage, Fault};
use millrace_console::history::{HistoryOptions, Kind, Range, record};
use millrace_console::snapshot::KeeperOptions;
use millrace_core::time::{Clock, Millis};
use millrace_store::fake::FakeMeta;
use millrace_store::{HistoryRow, HistoryStore, Past, Stretch};
use tokio::task::JoinHandle;
use tokio::time::{Duration, sleep};
use tokio_util::sync::CancellationToken;

use crate::world::{START, TokioClock, World, queue};

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;

/// `billing` has three messages of `orders` before it.
fn behind() -> FakeCluster {
    let fake = FakeCluster::new().broker("broker-a").broker("broker-b").topic("orders", 1);
    for minute in (1..=4).rev() {
        fake.append(FakeMessage::to("orders").on("broker-a", 0).at(Millis(START - minute * MINUTE)));
    }
    fake.committed_at("billing", &queue("orders", "broker-a", 0), 1).committed_at(
        "billing",
        &queue("orders", "broker-b", 0),
        0,
    )
}

fn recorder(world: &World, options: HistoryOptions) -> (JoinHandle<()>, CancellationToken) {
    let stop = CancellationToken::new();
    let clock: Arc<dyn Clock> = Arc::new(TokioClock::starting(world.console.now()));
    let store = Arc::<FakeMeta>::clone(&world.audit);
    let task = record(world.console.snapshots().clone(), store, clock, options, stop.clone());
    (tokio::spawn(task), stop)
}

async fn rows(store: &FakeMeta, stretch: Stretch) -> Vec<HistoryRow> {
    let all = Past { stretch, from: Millis(0), until: Millis(i64::MAX) };
    store.history("fake", all, None).await.unwrap()
}

async fn lag_at(world: &World, at: i64) -> Option<f64> {
    let moment = world.console.moment(Millis(at)).await.unwrap();
    moment.points.get(&(Kind::Group, "billing".to_owned())).and_then(|point| point[0])
}

#[tokio::test(start_paused = true)]
async fn a_minute_that_is_over_is_kept_and_a_kill_loses_only_the_one_under_way() {
    let fake = behind();
    let world = World::of(&fake).await;
    assert_eq!(world.console.moment(Millis(START)).await.unwrap().recorded, None);
    let (recorder, _stop) = recorder(&world, HistoryOptions::default());
    sleep(Duration::from_secs(70)).await;
    fake.append(FakeMessage::to("orders").on("broker-a", 0).at(Millis(START)));
    sleep(Duration::from_mins(2)).await;
    // As after kill -9.
    recorder.abort();
    assert_eq!(lag_at(&world, START + 30_000).await, Some(3.0), "as it was then");
    assert_eq!(lag_at(&world, START + 2 * MINUTE).await, Some(4.0), "the message came after a minute");
    assert_eq!(lag_at(&world, START + 3 * MINUTE + 1).await, None, "the minute under way");
    let moment = world.console.moment(Millis(START + 61_000)).await.unwrap();
    assert_eq!((moment.from, moment.until), (Millis(START + MINUTE), Millis(START + 2 * MINUTE)));
    assert_eq!(moment.recorded, Some((Millis(START), Millis(START + 3 * MINUTE))));
    let billing = moment.points[&(Kind::Group, "billing".to_owned())];
    assert!(billing[1].unwrap() >= 4.0 * 60_000.0, "the oldest waits since before the start: {billing:?}");
    assert_eq!(moment.points[&(Kind::Broker, "broker-b".to_owned())][3], Some(1.0), "it answered");

    let line = world.console.history_of(Kind::Group, "billing", Range::Hour).await.unwrap();
    assert_eq!((line.step, line.points.len()), (MINUTE, 60));
    let lags: Vec<f64> = line.figure(0).into_iter().flatten().collect();
    assert_eq!(lags, [3.0, 4.0, 4.0], "the largest of each minute");
}

#[tokio::test(start_paused = true)]
async fn what_was_not_known_is_a_gap() {
    let fake = behind();
    fake.fail("broker-b", Fault::Dead);
    let world = World::of(&fake).await;
    let (_recorder, stop) = recorder(&world, HistoryOptions::default());
    sleep(Duration::from_secs(100)).await;
    stop.cancel();
    sleep(Duration::from_secs(1)).await;
    assert_eq!(lag_at(&world, START).await, None, "a lower bound is no lag");
    let moment = world.console.moment(Millis(START)).await.unwrap();
    assert_eq!(moment.points[&(Kind::Broker, "broker-b".to_owned())], [None, None, None, Some(0.0)]);
    let under_way = world.console.moment(Millis(START + MINUTE)).await.unwrap();
    assert!(!under_way.points.is_empty(), "what was under way is written at an orderly end");
}

#[tokio::test(start_paused = true)]
async fn minutes_wait_while_the_database_does_not_take_them() {
    let world = World::of(&behind()).await;
    world.audit.lock(true);
    let (_recorder, _stop) = recorder(&world, HistoryOptions::default());
    sleep(Duration::from_secs(150)).await;
    assert!(rows(&world.audit, Stretch::Minute).await.is_empty());
    world.audit.lock(false);
    sleep(Duration::from_mins(1)).await;
    let starts: Vec<i64> = rows(&world.audit, Stretch::Minute).await.iter().map(|row| row.start.0).collect();
    assert_eq!(starts, [START, START + MINUTE, START + 2 * MINUTE]);
}

/// It begins at 08:00 UTC and goes on for 27 hours.
#[tokio::test(start_paused = true)]
async fn minutes_become_hours_and_days_and_are_forgotten() {
    let options = KeeperOptions { tick: Duration::from_secs(30), ..KeeperOptions::default() };
    let fake = behind();
    let world = World::with(fake.cluster(), options).await;
    let (_recorder, _stop) = recorder(&world, HistoryOptions { minutes_days: 1, hours_days: 2 });
    sleep(Duration::from_secs(3_600 + 90)).await;
    let minutes = rows(&world.audit, Stretch::Minute).await;
    assert!(minutes.iter().all(|row| row.start.0 >= START + HOUR), "the first hour was rolled up");
    assert_eq!(lag_at(&world, START + 30 * MINUTE).await, Some(3.0), "its minutes are still told apart");
    let moment = world.console.moment(Millis(START + 30 * MINUTE)).await.unwrap();
    assert_eq!(moment.until.since(moment.from), MINUTE);

    sleep(Duration::from_hours(26)).await;
    let days: Vec<i64> = rows(&world.audit, Stretch::Day).await.iter().map(|row| row.start.0).collect();
    assert!(!days.is_empty() && days.iter().all(|start| *start == START - 8 * HOUR), "{days:?}");
    let line = world.console.history_of(Kind::Group, "billing", Range::Week).await.unwrap();
    let lags: Vec<f64> = line.figure(0).into_iter().flatten().collect();
    assert_eq!(lags.len(), 28, "an hour each, that under way too: {lags:?}");
    let month = world.console.history_of(Kind::Topic, "orders", Range::Quarter).await.unwrap();
    assert_eq!(month.figure(2).into_iter().flatten().collect::<Vec<_>>(), [4.0, 4.0], "two days of four messages");

    // A day later the minutes of the first day are gone, and two days after that its hours.
    sleep(Duration::from_hours(24)).await;
    let moment = world.console.moment(Millis(START + 30 * MINUTE)).await.unwrap();
    assert_eq!((moment.from, moment.until), (Millis(START), Millis(START + HOUR)), "an hour stands for its minutes");
    assert_eq!(lag_at(&world, START + 30 * MINUTE).await, Some(3.0));
    sleep(Duration::from_hours(24)).await;
    assert_eq!(lag_at(&world, START + 30 * MINUTE).await, None);
}

#[tokio::test(start_paused = true)]
async fn a_minute_that_comes_late_joins_its_hour() {
    let world = World::of(&behind()).await;
    let (first, stop) = recorder(&world, HistoryOptions::default());
    sleep(Duration::from_secs(3_700)).await;
    stop.cancel();
    first.await.unwrap();
    // A minute of the hour that was rolled up is written again, as by a second process whose clock is behind.
    let body = br#"{"v":1,"series":{"g/billing":[99.0,null,null,null]}}"#.to_vec();
    let late = HistoryRow { start: Millis(START + 5 * MINUTE), bucket: 0, body };
    world.audit.put_history("fake", Stretch::Minute, &[late], None).await.unwrap();
    let (_second, _stop) = recorder(&world, HistoryOptions::default());
    sleep(Duration::from_secs(1)).await;
    assert_eq!(lag_at(&world, START + 5 * MINUTE).await, Some(99.0));
    assert_eq!(lag_at(&world, START + 6 * MINUTE).await, Some(3.0), "the others stay");
    let minutes = rows(&world.audit, Stretch::Minute).await;
    assert!(minutes.iter().all(|row| row.start.0 >= START + HOUR), "it is no minute of its own any more");
}

#[tokio::test(start_paused = true)]
async fn a_row_that_cannot_be_read_is_a_gap() {
    let world = World::of(&behind()).await;
    for (at, body) in [(0, "not JSON"), (MINUTE, r#"{"v":9,"series":{}}"#)] {
        let row = HistoryRow { start: Millis(START + at), bucket: 0, body: body.as_bytes().to_vec() };
        world.audit.put_history("fake", Stretch::Minute, &[row], None).await.unwrap();
        assert!(world.console.moment(Millis(START + at)).await.unwrap().points.is_empty());
    }
}
