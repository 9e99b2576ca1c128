//! A batch is written whole or not at all, and only by who has the queue.

use millrace_core::time::Millis;
use millrace_core::trace::decode;
use millrace_store::{Batch, StoreError};

use crate::on_both_engines;
use crate::place::{ENDLESS, Place};
use crate::sample::{batch, found_at, indexed, moved, queue, raw, term};

on_both_engines! {
    what_was_appended_is_found
    positions_move_with_the_data
    a_fenced_batch_writes_nothing
    rejects_are_counted
    a_restart_goes_on_in_the_open_segment
    concurrent_appends_of_different_queues_all_arrive
    an_empty_store_answers
    a_closed_store_writes_nothing
}

async fn what_was_appended_is_found(place: Place) {
    let (stores, traces) = place.traces(ENDLESS).await;
    let batch = batch(0, 0, &["order-1", "order-2", "order-1"]);
    let expected: Vec<_> = [0, 2].iter().flat_map(|&at| decode(&batch.messages[at].message).records).collect();
    let appended = traces.append(batch, Millis(5)).await.unwrap();
    assert_eq!((appended.messages, appended.records, appended.rejects), (3, 3, 0));
    let found = traces.find(&term("order-1"), 100).await.unwrap();
    assert_eq!(found.records, expected);
    assert_eq!(expected.len(), 2);
    assert!(!found.truncated);
    assert_eq!((found.segments_searched, found.oldest), (1, Some(Millis(1000))));
    assert_eq!(traces.find(&term("order-3"), 100).await.unwrap().records, []);
    traces.check().await.unwrap();
    stores.close().await;
}

async fn positions_move_with_the_data(place: Place) {
    let (stores, traces) = place.traces(ENDLESS).await;
    traces.append(batch(0, 0, &["order-1", "order-2"]), Millis(5)).await.unwrap();
    traces.append(batch(3, 0, &["order-1"]), Millis(5)).await.unwrap();
    // A queue that holds nothing new may move too, and keeps the time of its newest message.
    traces.append(Batch { messages: vec![], moves: vec![moved(0, Some(2), 9)] }, Millis(6)).await.unwrap();
    let positions: Vec<_> =
        traces.positions().await.unwrap().into_iter().map(|at| (at.queue, at.next, at.stored)).collect();
    assert_eq!(positions, [(queue(0), 9, Some(Millis(1001))), (queue(3), 1, Some(Millis(1000)))]);
    stores.close().await;
}

async fn a_fenced_batch_writes_nothing(place: Place) {
    let (stores, traces) = place.traces(ENDLESS).await;
    traces.append(batch(0, 0, &["order-1", "order-2"]), Millis(5)).await.unwrap();
    for (expected, moves) in [
        (Some(1), vec![moved(0, Some(1), 3)]),
        (None, vec![moved(0, None, 3)]),
        (Some(4), vec![moved(0, Some(2), 3), moved(1, Some(4), 5)]),
    ] {
        let again = Batch { moves, ..batch(0, 2, &["order-9"]) };
        match traces.append(again, Millis(5)).await {
            Err(StoreError::Fenced { expected: told, .. }) => assert_eq!(told, expected),
            other => panic!("{other:?}"),
        }
    }
    assert!(found_at(&traces.find(&term("order-9"), 10).await.unwrap()).is_empty());
    let positions = traces.positions().await.unwrap();
    assert_eq!((positions.len(), positions[0].next), (1, 2));
    let segments = traces.segments().await.unwrap();
    assert_eq!((segments.len(), segments[0].messages), (1, 2));
    // Who has the queue goes on.
    traces.append(batch(0, 2, &["order-9"]), Millis(5)).await.unwrap();
    assert_eq!(found_at(&traces.find(&term("order-9"), 10).await.unwrap()), [2]);
    stores.close().await;
}

async fn rejects_are_counted(place: Place) {
    let (stores, traces) = place.traces(ENDLESS).await;
    for at in 0..2 {
        let bad = indexed(raw(0, at, &format!("Nonsense\u{1}{}\u{2}", "x".repeat(500))));
        let rejects = bad.rejects.len() as u64;
        assert!(rejects > 0);
        let batch = Batch { messages: vec![bad], moves: vec![moved(0, (at > 0).then_some(at), at + 1)] };
        assert_eq!(traces.append(batch, Millis(5)).await.unwrap().rejects, rejects);
    }
    let rejects = traces.rejects().await.unwrap();
    assert_eq!((rejects.len(), rejects[0].count, rejects[0].last), (1, 2, Millis(1001)));
    assert!(rejects[0].sample.chars().count() <= 200);
    assert!(!rejects[0].sample.contains(['\u{1}', '\u{2}']), "{:?}", rejects[0].sample);
    stores.close().await;
}

async fn a_restart_goes_on_in_the_open_segment(place: Place) {
    let (stores, traces) = place.traces(ENDLESS).await;
    traces.append(batch(0, 0, &["order-1", "order-2"]), Millis(5)).await.unwrap();
    stores.close().await;
    drop((stores, traces));
    let (stores, traces) = place.traces(ENDLESS).await;
    assert_eq!(traces.positions().await.unwrap()[0].next, 2);
    traces.append(batch(0, 2, &["order-1"]), Millis(6)).await.unwrap();
    assert_eq!(found_at(&traces.find(&term("order-1"), 10).await.unwrap()), [0, 2]);
    assert_eq!(traces.segments().await.unwrap().len(), 1);
    stores.close().await;
}

async fn concurrent_appends_of_different_queues_all_arrive(place: Place) {
    let (stores, traces) = place.traces(ENDLESS).await;
    let mut workers = tokio::task::JoinSet::new();
    for queue_number in 0..8 {
        let traces = std::sync::Arc::clone(&traces);
        workers.spawn(async move {
            for at in 0..10 {
                traces.append(batch(queue_number, at, &["order-hot"]), Millis(5)).await.unwrap();
                traces.find(&term("order-hot"), 1000).await.unwrap();
            }
        });
    }
    while let Some(done) = workers.join_next().await {
        done.unwrap();
    }
    let found = traces.find(&term("order-hot"), 1000).await.unwrap();
    assert_eq!((found.records.len(), found.truncated), (80, false));
    assert!(traces.positions().await.unwrap().iter().all(|at| at.next == 10));
    stores.close().await;
}

async fn an_empty_store_answers(place: Place) {
    let (stores, traces) = place.traces(ENDLESS).await;
    let found = traces.find(&term("order-1"), 10).await.unwrap();
    assert_eq!((found.records.len(), found.segments_searched, found.oldest), (0, 0, None));
    assert_eq!(traces.positions().await.unwrap(), []);
    assert_eq!(traces.segments().await.unwrap(), []);
    assert_eq!(traces.rejects().await.unwrap(), []);
    assert_eq!(traces.newest(5).await.unwrap(), []);
    traces.check().await.unwrap();
    stores.close().await;
}

async fn a_closed_store_writes_nothing(place: Place) {
    let (stores, traces) = place.traces(ENDLESS).await;
    traces.append(batch(0, 0, &["order-1"]), Millis(5)).await.unwrap();
    stores.close().await;
    assert!(traces.append(batch(0, 1, &["order-2"]), Millis(5)).await.is_err());
    assert!(traces.find(&term("order-1"), 9).await.is_err());
    drop((stores, traces));
    let (stores, traces) = place.traces(ENDLESS).await;
    assert_eq!((traces.segments().await.unwrap().len(), traces.positions().await.unwrap()[0].next), (1, 1));
    stores.close().await;
}
