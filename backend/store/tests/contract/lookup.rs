//! Limits, repeats and the newest records.

use millrace_core::time::Millis;
use millrace_core::trace::{TraceRecord, decode};
use millrace_store::Batch;

use crate::on_both_engines;
use crate::place::{ENDLESS, Place, rolled_at};
use crate::sample::{batch, found_at, indexed, message, moved, offsets, term};

on_both_engines! {
    a_limit_keeps_the_newest_and_says_so
    what_was_written_twice_is_found_once
    the_newest_come_first
    a_batch_of_many_chunks_is_found_whole
}

async fn a_limit_keeps_the_newest_and_says_so(place: Place) {
    let (stores, traces) = place.traces(rolled_at(2)).await;
    for at in 0..6 {
        traces.append(batch(0, at, &["order-1"]), Millis(5)).await.unwrap();
    }
    let found = traces.find(&term("order-1"), 3).await.unwrap();
    assert_eq!((found_at(&found), found.truncated), (vec![3, 4, 5], true));
    let found = traces.find(&term("order-1"), 6).await.unwrap();
    assert_eq!((found_at(&found), found.truncated), (vec![0, 1, 2, 3, 4, 5], false));
    stores.close().await;
}

async fn what_was_written_twice_is_found_once(place: Place) {
    let (stores, traces) = place.traces(rolled_at(2)).await;
    for _ in 0..3 {
        let messages = vec![indexed(message(0, 4, &["order-1", "order-1", "order-2"]))];
        traces.append(Batch { messages, moves: vec![] }, Millis(5)).await.unwrap();
    }
    let found = traces.find(&term("order-1"), 10).await.unwrap();
    let places: Vec<u32> = found.records.iter().map(|record| record.origin.index).collect();
    assert_eq!((places, found.truncated), (vec![0, 1], false));
    stores.close().await;
}

async fn the_newest_come_first(place: Place) {
    let (stores, traces) = place.traces(rolled_at(2)).await;
    for at in 0..5 {
        traces.append(batch(0, at, &["order-1"]), Millis(5)).await.unwrap();
    }
    assert_eq!(offsets(&traces.newest(3).await.unwrap()), [(0, 4), (0, 3), (0, 2)]);
    assert_eq!(traces.newest(99).await.unwrap().len(), 5);
    stores.close().await;
}

async fn a_batch_of_many_chunks_is_found_whole(place: Place) {
    let (stores, traces) = place.traces(ENDLESS).await;
    let keys: Vec<String> = (0..5000).map(|at| format!("order-{}", at % 1250)).collect();
    let messages: Vec<_> = keys
        .chunks(10)
        .zip(0..)
        .map(|(keys, offset)| indexed(message(0, offset, &keys.iter().map(String::as_str).collect::<Vec<_>>())))
        .collect();
    let expected: Vec<TraceRecord> = messages
        .iter()
        .flat_map(|indexed| decode(&indexed.message).records)
        .filter(|record| record.event.keys() == ["order-77"])
        .collect();
    assert_eq!(expected.len(), 4);
    traces.append(Batch { messages, moves: vec![moved(0, None, 500)] }, Millis(5)).await.unwrap();
    assert_eq!(traces.find(&term("order-77"), 10).await.unwrap().records, expected);
    stores.close().await;
}
