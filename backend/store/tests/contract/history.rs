//! What a cluster looked like: written whole or not at all, replaced, and forgotten by age.

use millrace_core::time::Millis;
use millrace_store::fake::FakeMeta;
use millrace_store::{HistoryRow, HistoryStore, Past, Stretch};

use crate::on_both_engines;
use crate::place::Place;

on_both_engines! {
    history_is_kept_replaced_and_forgotten
}

const MINUTE: i64 = 60_000;

async fn history_is_kept_replaced_and_forgotten(place: Place) {
    let stores = place.open().await;
    history_holds(&*stores.meta()).await;
    stores.close().await;
    drop(stores);
    let stores = place.open().await;
    let left = stores.meta().history_ends("shop", Stretch::Hour, Millis(0)).await.unwrap();
    assert_eq!(left, Some((Millis(0), Millis(0))));
    stores.close().await;
}

#[tokio::test]
async fn the_fake_keeps_history_as_the_engines_do() {
    history_holds(&FakeMeta::default()).await;
}

fn row(start: i64, bucket: u16, body: &str) -> HistoryRow {
    HistoryRow { start: Millis(start), bucket, body: body.as_bytes().to_vec() }
}

fn past(stretch: Stretch, from: i64, until: i64) -> Past {
    Past { stretch, from: Millis(from), until: Millis(until) }
}

async fn history_holds(store: &dyn HistoryStore) {
    let all = past(Stretch::Minute, 0, 10 * MINUTE);
    assert_eq!(store.history_ends("shop", Stretch::Minute, Millis(0)).await.unwrap(), None);
    let long = "x".repeat(70_000);
    for (at, body) in [(1, "one"), (3, "three"), (2, long.as_str())] {
        store.put_history("shop", Stretch::Minute, &[row(at * MINUTE, 0, body)], None).await.unwrap();
    }
    store.put_history("other", Stretch::Minute, &[row(MINUTE, 0, "another cluster's")], None).await.unwrap();
    store.put_history("shop", Stretch::Minute, &[row(MINUTE, 0, "one, again")], None).await.unwrap();
    let kept = [row(MINUTE, 0, "one, again"), row(2 * MINUTE, 0, &long), row(3 * MINUTE, 0, "three")];
    assert_eq!(store.history("shop", all, None).await.unwrap(), kept);
    let ends = store.history_ends("shop", Stretch::Minute, Millis(MINUTE + 1)).await.unwrap();
    assert_eq!(ends, Some((Millis(2 * MINUTE), Millis(3 * MINUTE))));
    assert_eq!(store.history("shop", past(Stretch::Minute, MINUTE, 2 * MINUTE), None).await.unwrap(), kept[..1]);

    // An hour stands in for its minutes: from 1 until before 3.
    let hour = [row(0, 5, "five"), row(0, 2, "")];
    let minutes = past(Stretch::Minute, MINUTE, 3 * MINUTE);
    store.put_history("shop", Stretch::Hour, &hour, Some(minutes)).await.unwrap();
    assert_eq!(store.history("shop", all, None).await.unwrap(), kept[2..]);
    let hours = past(Stretch::Hour, 0, 1);
    assert_eq!(store.history("shop", hours, None).await.unwrap(), [row(0, 2, ""), row(0, 5, "five")]);
    assert_eq!(store.history("shop", hours, Some(5)).await.unwrap(), [row(0, 5, "five")]);

    store.forget_history("shop", Stretch::Minute, Millis(3 * MINUTE)).await.unwrap();
    assert_eq!(store.history("shop", all, None).await.unwrap().len(), 1, "what began at the limit stays");
    store.forget_history("shop", Stretch::Minute, Millis(3 * MINUTE + 1)).await.unwrap();
    assert!(store.history("shop", all, None).await.unwrap().is_empty());
    assert_eq!(store.history("other", all, None).await.unwrap().len(), 1);
    assert_eq!(store.history("shop", hours, None).await.unwrap().len(), 2);
}
