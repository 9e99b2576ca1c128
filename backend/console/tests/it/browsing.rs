//! Pages over several queues: no row twice, none missed, in one order, whatever the page size.

use std::collections::BTreeSet;

use millrace_broker::fake::{Call, FakeCluster, FakeMessage, Fault};
use millrace_broker::{BrokerError, Message};
use millrace_console::ConsoleError;
use millrace_console::messages::{Browse, Cursor, Limit, Limits, Order, Page};
use millrace_core::time::Millis;
use proptest::prelude::{ProptestConfig, Strategy, any, prop_assert_eq, proptest};

use crate::world::{START, World, queue};

type Place = (Millis, String, i32, i64);

fn place(message: &Message) -> Place {
    (message.stored, message.queue.broker.clone(), message.queue.queue, message.offset)
}

fn places(page: &Page) -> Vec<Place> {
    page.rows.iter().map(|row| place(&row.message)).collect()
}

/// Reads to the end by the texts that links carry.
async fn all_pages(world: &World, browse: &Browse, size: usize) -> (Vec<Place>, Vec<i64>) {
    let (mut rows, mut totals, mut cursor) = (Vec::new(), Vec::new(), None);
    loop {
        let page = world.console.browse("orders", browse, size, cursor, Limits::default()).await.unwrap();
        assert!(page.rows.len() <= size);
        assert!(page.coverage.complete() && page.limit.is_none());
        rows.extend(places(&page));
        totals.push(page.total);
        let Some(next) = page.next else { return (rows, totals) };
        cursor = Some(Cursor::parse(&next.encode(), "orders").unwrap());
    }
}

/// Four queues with 0, 1, 37 and 250 messages, of which some share a stamp.
fn uneven() -> (FakeCluster, Vec<Place>) {
    let fake = FakeCluster::new().broker("broker-a").broker("broker-b").topic("orders", 2);
    let mut stored = Vec::new();
    for (broker, number, count) in [("broker-a", 1, 1), ("broker-b", 0, 37), ("broker-b", 1, 250)] {
        for index in 0..count {
            let at = Millis(START - 100_000 + index / 3 * 10);
            stored.push(place(&fake.append(FakeMessage::to("orders").on(broker, number).at(at))));
        }
    }
    stored.sort();
    (fake, stored)
}

#[tokio::test(start_paused = true)]
async fn every_page_size_gives_the_same_rows() {
    let (fake, oldest_first) = uneven();
    let newest_first: Vec<Place> = oldest_first.iter().rev().cloned().collect();
    let world = World::of(&fake).await;
    let range = |order| Browse::Range { from: Millis(0), to: Millis(START * 2), order };
    for size in [1, 10, 32, 33, 50, 100] {
        let (rows, totals) = all_pages(&world, &Browse::Newest, size).await;
        assert_eq!(rows, newest_first, "newest first by {size}");
        assert!(totals.iter().all(|total| *total == 288));
        assert_eq!(all_pages(&world, &range(Order::NewestFirst), size).await.0, newest_first, "range by {size}");
        assert_eq!(all_pages(&world, &range(Order::OldestFirst), size).await.0, oldest_first, "oldest first by {size}");
    }
}

#[tokio::test(start_paused = true)]
async fn one_queue_of_a_hundred() {
    let fake = FakeCluster::new().broker("broker-a").topic("orders", 1);
    for _ in 0..100 {
        fake.append(FakeMessage::to("orders"));
    }
    let world = World::of(&fake).await;
    for size in [1, 10, 32, 33, 50, 100] {
        let (rows, _) = all_pages(&world, &Browse::Newest, size).await;
        let offsets: Vec<i64> = rows.iter().map(|row| row.3).collect();
        assert_eq!(offsets, (0..100).rev().collect::<Vec<_>>(), "by {size}");
    }
    let from = |offset, order| Browse::Queue { broker: "broker-a".into(), queue: 0, offset, order };
    let offsets = |rows: Vec<Place>| rows.into_iter().map(|row| row.3).collect::<Vec<_>>();
    let rows = offsets(all_pages(&world, &from(40, Order::OldestFirst), 33).await.0);
    assert_eq!(rows, (40..100).collect::<Vec<_>>());
    let rows = offsets(all_pages(&world, &from(40, Order::NewestFirst), 33).await.0);
    assert_eq!(rows, (0..=40).rev().collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn what_arrives_meanwhile_does_not_shift_pages() {
    let (fake, stored) = uneven();
    let world = World::of(&fake).await;
    let first = world.console.browse("orders", &Browse::Newest, 50, None, Limits::default()).await.unwrap();
    for number in 0..2 {
        for _ in 0..40 {
            fake.append(FakeMessage::to("orders").on("broker-b", number));
        }
    }
    let mut rows = places(&first);
    let mut next = first.next;
    while let Some(cursor) = next {
        let page = world.console.browse("orders", &Browse::Newest, 50, Some(cursor), Limits::default()).await.unwrap();
        assert_eq!(page.total, 288);
        rows.extend(places(&page));
        next = page.next;
    }
    assert_eq!(rows, stored.into_iter().rev().collect::<Vec<_>>());
    // Past the end: empty, and the total stays.
    let past = Cursor { total: 288, windows: vec![] };
    let page = world.console.browse("orders", &Browse::Newest, 50, Some(past), Limits::default()).await.unwrap();
    assert!(page.rows.is_empty() && page.next.is_none());
    assert_eq!(page.total, 288);
}

#[tokio::test(start_paused = true)]
async fn the_edges_of_a_range() {
    let fake = FakeCluster::new().broker("broker-a").topic("orders", 1);
    let t = START - 5_000;
    for at in [t - 1, t, t, t + 1] {
        fake.append(FakeMessage::to("orders").at(Millis(at)));
    }
    let world = World::of(&fake).await;
    let in_range = async |from, to| {
        let browse = Browse::Range { from: Millis(from), to: Millis(to), order: Order::OldestFirst };
        let page = world.console.browse("orders", &browse, 50, None, Limits::default()).await?;
        Ok::<_, ConsoleError>((page.rows.iter().map(|row| row.message.offset).collect::<Vec<_>>(), page.total))
    };
    assert_eq!(in_range(t, t).await.unwrap(), (vec![1, 2], 2));
    assert_eq!(in_range(t - 1, t).await.unwrap().0, [0, 1, 2]);
    assert_eq!(in_range(t + 1, t + 900).await.unwrap().0, [3]);
    assert_eq!(in_range(t + 2, t + 900).await.unwrap(), (vec![], 0));
    assert_eq!(in_range(t - 900, t - 2).await.unwrap(), (vec![], 0));
    let reversed = in_range(t, t - 1).await.unwrap_err();
    assert!(matches!(&reversed, ConsoleError::Invalid(errors) if errors.0[0].code == "range-reversed"), "{reversed}");
}

#[tokio::test(start_paused = true)]
async fn what_stops_a_page_is_told_and_nothing_is_lost() {
    let (fake, stored) = uneven();
    let world = World::of(&fake).await;
    // Two pulls a page, of 32 each.
    let tight = Limits { pulls: 0, ..Limits::default() };
    let browse = Browse::Queue { broker: "broker-b".into(), queue: 1, offset: 0, order: Order::OldestFirst };
    let (mut rows, mut next, mut hits) = (Vec::new(), None, 0);
    for _ in 0..5 {
        let page = world.console.browse("orders", &browse, 100, next, tight).await.unwrap();
        rows.extend(places(&page));
        hits += usize::from(page.limit == Some(Limit::Pulls));
        next = page.next;
        if next.is_none() {
            break;
        }
    }
    assert!(hits == 3 && next.is_none(), "{hits}");
    let of_queue = stored.into_iter().filter(|place| (place.1.as_str(), place.2) == ("broker-b", 1));
    assert_eq!(rows, of_queue.collect::<Vec<_>>());

    let big = Limits { bytes: 1, ..Limits::default() };
    fake.append(FakeMessage::to("orders").on("broker-b", 1).body(vec![b'x'; 100_000]));
    let page = world.console.browse("orders", &Browse::Newest, 200, None, big).await.unwrap();
    assert_eq!(page.limit, Some(Limit::Bytes));
    assert_eq!((page.rows[0].body_size, page.rows[0].message.body.bytes.len()), (100_000, 1_024));
    fake.append(FakeMessage::to("orders").on("broker-b", 1).body("订".repeat(1_000)));
    let page = world.console.browse("orders", &Browse::Newest, 1, None, Limits::default()).await.unwrap();
    assert_eq!((page.rows[0].body_size, page.rows[0].message.body.bytes.len()), (3_000, 1_023), "a text stays one");
}

#[tokio::test(start_paused = true)]
async fn a_broker_that_fails_is_named_and_its_queues_are_kept_for_later() {
    let (fake, stored) = uneven();
    let world = World::of(&fake).await;
    fake.fail_call("broker-b", Call::Pull, Fault::Dead);
    let page = world.console.browse("orders", &Browse::Newest, 50, None, Limits::default()).await.unwrap();
    assert_eq!((page.rows.len(), page.coverage.missed.len()), (1, 2));
    assert!(page.coverage.missed[0].what.starts_with("broker-b queue"));
    fake.heal("broker-b");
    let rest = world.console.browse("orders", &Browse::Newest, 200, page.next, Limits::default()).await.unwrap();
    assert_eq!(rest.rows.len(), 200);
    assert_eq!(stored.len(), 288);

    fake.fail("broker-b", Fault::Dead);
    let page = world.console.browse("orders", &Browse::Newest, 50, None, Limits::default()).await.unwrap();
    assert_eq!((page.rows.len(), page.coverage.missed[0].what.as_str()), (1, "broker-b"));
    fake.fail("broker-a", Fault::Dead);
    let failed = world.console.browse("orders", &Browse::Newest, 50, None, Limits::default()).await;
    assert!(matches!(failed, Err(ConsoleError::Broker(BrokerError::Unreachable { .. }))), "an error is no empty list");
}

#[tokio::test(start_paused = true)]
async fn retention_while_paging_skips_what_is_gone() {
    let fake = FakeCluster::new().broker("broker-a").topic("orders", 1);
    for _ in 0..100 {
        fake.append(FakeMessage::to("orders"));
    }
    let world = World::of(&fake).await;
    let first = world.console.browse("orders", &Browse::Newest, 20, None, Limits::default()).await.unwrap();
    fake.expire(&queue("orders", "broker-a", 0), 70);
    let rest = world.console.browse("orders", &Browse::Newest, 200, first.next, Limits::default()).await.unwrap();
    let offsets: Vec<i64> = rest.rows.iter().map(|row| row.message.offset).collect();
    assert_eq!(offsets, (70..80).rev().collect::<Vec<_>>());
    assert!(rest.next.is_none());
    let gone = world.console.message_at(&queue("orders", "broker-a", 0), 3).await.unwrap_err();
    assert!(gone.to_string().contains("retention removed it"), "{gone}");
    let beyond = world.console.message_at(&queue("orders", "broker-a", 0), 300).await.unwrap_err();
    assert!(beyond.to_string().contains("ends before 100"), "{beyond}");
}

/// Stamps that never go back, as steps of 0 to 2 ms, for each of up to five queues.
fn queues() -> impl Strategy<Value = Vec<Vec<u8>>> {
    proptest::collection::vec(proptest::collection::vec(0_u8..3, 0..90), 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn pages_are_a_partition(steps in queues(), size in 1_usize..70, newest in any::<bool>(), from in 0_i64..60, span in 0_i64..90) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let fake = FakeCluster::new().broker("broker-a").topic("orders", u32::try_from(steps.len()).unwrap());
            let (first, last) = (START - 1_000 + from, START - 1_000 + from + span);
            let mut expected = BTreeSet::new();
            for (number, steps) in steps.iter().enumerate() {
                let mut at = START - 1_000;
                for step in steps {
                    at += i64::from(*step);
                    let number = i32::try_from(number).unwrap();
                    let stored = place(&fake.append(FakeMessage::to("orders").on("broker-a", number).at(Millis(at))));
                    if (first..=last).contains(&at) {
                        expected.insert(stored);
                    }
                }
            }
            let world = World::of(&fake).await;
            let order = if newest { Order::NewestFirst } else { Order::OldestFirst };
            let browse = Browse::Range { from: Millis(first), to: Millis(last), order };
            let (rows, totals) = all_pages(&world, &browse, size).await;
            let mut expected: Vec<Place> = expected.into_iter().collect();
            if newest {
                expected.reverse();
            }
            prop_assert_eq!(i64::try_from(expected.len()).unwrap(), totals[0]);
            prop_assert_eq!(rows, expected);
            Ok(())
        })?;
    }
}
