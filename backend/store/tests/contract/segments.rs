//! Segments follow one another, are indexed behind the writer's back, and are searched in any state.

use millrace_core::time::Millis;
use millrace_store::SegmentRules;

use crate::on_both_engines;
use crate::place::{CLUSTER, ENDLESS, Place, rolled_at};
use crate::sample::{batch, found_at, term};

on_both_engines! {
    a_full_segment_is_followed_by_the_next
    a_segment_ends_by_age_and_by_size
    look_ups_go_across_segments
    positions_and_rejects_go_with_the_newest_segment
    clusters_are_apart
}

async fn a_full_segment_is_followed_by_the_next(place: Place) {
    let (stores, traces) = place.traces(rolled_at(2)).await;
    for at in 0..5 {
        traces.append(batch(0, at, &["order-1"]), Millis(5)).await.unwrap();
    }
    traces.seal().await.unwrap();
    let segments = traces.segments().await.unwrap();
    let shape: Vec<_> = segments.iter().map(|segment| (segment.records, segment.sealed)).collect();
    assert_eq!(shape, [(2, true), (2, true), (1, false)]);
    let times: Vec<_> = segments.iter().map(|segment| (segment.first, segment.last)).collect();
    let times_of = |from, to| (Some(Millis(from)), Some(Millis(to)));
    assert_eq!(times, [times_of(1000, 1001), times_of(1002, 1003), times_of(1004, 1004)]);
    assert!(segments.iter().all(|segment| segment.bytes > 0));
    stores.close().await;
}

async fn a_segment_ends_by_age_and_by_size(place: Place) {
    let (stores, traces) = place.traces(SegmentRules { max_age_ms: 100, ..ENDLESS }).await;
    for (at, now) in [(0, 1000), (1, 1099), (2, 1100), (3, 1150)] {
        traces.append(batch(0, at, &["order-1"]), Millis(now)).await.unwrap();
    }
    assert_eq!(traces.segments().await.unwrap().iter().map(|segment| segment.records).collect::<Vec<_>>(), [2, 2]);
    let small = stores.traces("small", SegmentRules { max_bytes: 1, ..ENDLESS }).await.unwrap();
    for at in 0..3 {
        small.append(batch(0, at, &["order-1"]), Millis(5)).await.unwrap();
    }
    assert_eq!(small.segments().await.unwrap().len(), 3);
    stores.close().await;
}

async fn look_ups_go_across_segments(place: Place) {
    let (stores, traces) = place.traces(rolled_at(3)).await;
    for at in 0..10 {
        let other = format!("order-{at}");
        traces.append(batch(0, at * 2, &["order-hot", &other]), Millis(5)).await.unwrap();
    }
    let all: Vec<i64> = (0..10).map(|at| at * 2).collect();
    assert_eq!(found_at(&traces.find(&term("order-hot"), 100).await.unwrap()), all);
    traces.seal().await.unwrap();
    let found = traces.find(&term("order-hot"), 100).await.unwrap();
    assert_eq!(found_at(&found), all);
    assert_eq!(found.segments_searched, traces.segments().await.unwrap().len());
    assert!(found.segments_searched > 2);
    for at in 0..10 {
        assert_eq!(found_at(&traces.find(&term(&format!("order-{at}")), 100).await.unwrap()), [at * 2 + 1]);
    }
    let both = [term("order-3"), term("order-7")].concat();
    assert_eq!(found_at(&traces.find(&both, 100).await.unwrap()), [7, 15]);
    stores.close().await;
}

async fn positions_and_rejects_go_with_the_newest_segment(place: Place) {
    let (stores, traces) = place.traces(rolled_at(1)).await;
    traces.append(batch(7, 0, &["order-1"]), Millis(5)).await.unwrap();
    for at in 0..4 {
        traces.append(batch(0, at, &["order-1"]), Millis(5)).await.unwrap();
    }
    stores.close().await;
    drop((stores, traces));
    let (stores, traces) = place.traces(rolled_at(1)).await;
    let positions: Vec<_> =
        traces.positions().await.unwrap().into_iter().map(|at| (at.queue.queue, at.next, at.stored)).collect();
    assert_eq!(positions, [(0, 4, Some(Millis(1003))), (7, 1, Some(Millis(1000)))]);
    stores.close().await;
}

async fn clusters_are_apart(place: Place) {
    let (stores, traces) = place.traces(ENDLESS).await;
    let other = stores.traces("../Other 店", ENDLESS).await.unwrap();
    traces.append(batch(0, 0, &["order-1"]), Millis(5)).await.unwrap();
    assert_eq!(other.positions().await.unwrap(), []);
    other.append(batch(0, 0, &["order-2", "order-2"]), Millis(5)).await.unwrap();
    assert!(found_at(&traces.find(&term("order-2"), 9).await.unwrap()).is_empty());
    assert_eq!(found_at(&other.find(&term("order-2"), 9).await.unwrap()), [0, 1]);
    let again = stores.traces(CLUSTER, ENDLESS).await.unwrap();
    assert_eq!(again.positions().await.unwrap()[0].next, 1);
    stores.close().await;
}
