//! Whole segments go, oldest first, never the open one, and what went is said.

use millrace_core::time::Millis;
use millrace_store::Retention;

use crate::on_both_engines;
use crate::place::{Place, rolled_at};
use crate::sample::{batch, found_at, term};

on_both_engines! {
    old_segments_go
    segments_beyond_the_size_go
    what_was_dropped_survives_a_restart
}

const KEEP_ALL: Retention = Retention { max_age_ms: i64::MAX, max_bytes: u64::MAX };

async fn old_segments_go(place: Place) {
    let (stores, traces) = place.traces(rolled_at(1)).await;
    for at in 0..4 {
        traces.append(batch(0, at, &["order-1"]), Millis(5)).await.unwrap();
    }
    traces.seal().await.unwrap();
    assert_eq!(traces.retain(KEEP_ALL, Millis(2000)).await.unwrap(), []);
    let retention = Retention { max_age_ms: 100, ..KEEP_ALL };
    let dropped = traces.retain(retention, Millis(1102)).await.unwrap();
    let lasts: Vec<_> = dropped.iter().map(|drop| (drop.segment.last, drop.why.as_str())).collect();
    assert_eq!(lasts, [(Some(Millis(1000)), "age"), (Some(Millis(1001)), "age")]);
    let found = traces.find(&term("order-1"), 9).await.unwrap();
    assert_eq!((found_at(&found), found.oldest), (vec![2, 3], Some(Millis(1002))));
    // However old, the open one stays: it has the positions.
    assert_eq!(traces.retain(retention, Millis(999_999)).await.unwrap().len(), 1);
    assert_eq!(traces.segments().await.unwrap().len(), 1);
    traces.append(batch(0, 4, &["order-1"]), Millis(5)).await.unwrap();
    assert_eq!(traces.positions().await.unwrap()[0].next, 5);
    stores.close().await;
}

async fn segments_beyond_the_size_go(place: Place) {
    let (stores, traces) = place.traces(rolled_at(1)).await;
    for at in 0..5 {
        traces.append(batch(0, at, &["order-1"]), Millis(5)).await.unwrap();
    }
    traces.seal().await.unwrap();
    let sizes: Vec<u64> = traces.segments().await.unwrap().iter().map(|segment| segment.bytes).collect();
    let max_bytes = sizes.iter().skip(2).sum();
    let dropped = traces.retain(Retention { max_bytes, ..KEEP_ALL }, Millis(2000)).await.unwrap();
    assert_eq!(dropped.iter().map(|drop| drop.why.as_str()).collect::<Vec<_>>(), ["size", "size"]);
    assert_eq!(found_at(&traces.find(&term("order-1"), 9).await.unwrap()), [2, 3, 4]);
    stores.close().await;
}

async fn what_was_dropped_survives_a_restart(place: Place) {
    let (stores, traces) = place.traces(rolled_at(1)).await;
    for at in 0..3 {
        traces.append(batch(0, at, &["order-1"]), Millis(5)).await.unwrap();
    }
    traces.seal().await.unwrap();
    let mut dropped = traces.retain(Retention { max_age_ms: 0, ..KEEP_ALL }, Millis(5000)).await.unwrap();
    assert_eq!(dropped.len(), 2);
    stores.close().await;
    drop((stores, traces));
    let (stores, traces) = place.traces(rolled_at(1)).await;
    dropped.reverse();
    assert_eq!(traces.dropped(9).await.unwrap(), dropped);
    assert_eq!(traces.dropped(1).await.unwrap(), dropped[..1]);
    stores.close().await;
}
