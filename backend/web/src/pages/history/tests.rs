//! The pages and the API of what was, on the fakes.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use std::sync::Arc;

use axum::http::StatusCode;
use millrace_core::time::Millis;
use millrace_store::fake::FakeMeta;
use millrace_store::{HistoryRow, HistoryStore, MetaStore, Stretch};

use crate::testing::{FakeTraces, FixedClock, NOW, Site, builder, fake_cluster, view_of};

/// An hour ago group `price-enricher` was 4,200 behind, and a group was there that is gone.
async fn site() -> Site {
    let meta = Arc::new(FakeMeta::default());
    let body = br#"{"v":1,"series":{"t/orders":[12.5,4200.0,9000.0,null],"g/price-enricher":[4200.0,61000.0,3.0,2.0],
        "g/<b>gone":[1.0,null,null,0.0],"b/broker-a":[12.5,30.0,0.41,1.0]}}"#;
    let start = Stretch::Minute.start_of(NOW.plus(-3_600_000));
    let row = HistoryRow { start, bucket: 0, body: body.to_vec() };
    let cluster = fake_cluster().cluster();
    let name = cluster.name.clone();
    meta.put_history(&name, Stretch::Minute, &[row], None).await.unwrap();
    let mut view = view_of(cluster, FakeTraces::default(), meta as Arc<dyn MetaStore>, Arc::new(FixedClock(NOW)));
    view.name = "shop".to_owned();
    let site = Site::of(builder().cluster(view).build());
    site.settle().await;
    site
}

#[tokio::test]
async fn a_moment_stands_beside_now() {
    let site = site().await;
    // 2026-12-01T04:50 UTC, as it is without a question.
    for address in ["/c/shop/history", "/c/shop/history?at=2026-12-01+04:50", "/c/shop/history?at=-1h"] {
        let page = site.get(address).await;
        assert_eq!(page.status, StatusCode::OK, "{address}");
        assert!(page.body.contains("<strong>4,200</strong>") && page.body.contains("1 min 1 s"), "{}", page.body);
        assert!(page.body.contains("value=\"2026-12-01 04:50\""), "{address}");
        assert!(page.body.contains("&#60;b&#62;gone") && !page.body.contains("<b>gone"), "a name is no markup");
    }
    let topics = site.get("/c/shop/history?kind=topic").await.body;
    assert!(
        topics.contains("<strong>13/s</strong>") && topics.contains("/c/shop/topics/orders_clean/history"),
        "{topics}"
    );
    let filtered = site.get("/c/shop/history?kind=topic&filter=CLEAN").await.body;
    assert!(!filtered.contains("/topics/orders/history") && filtered.contains("/topics/orders_clean/history"));
    let brokers = site.get("/c/shop/history?kind=broker").await.body;
    assert!(brokers.contains("41 %"), "{brokers}");
}

#[tokio::test]
async fn a_moment_without_record_says_so_and_a_time_that_is_none_is_an_error() {
    let site = site().await;
    let before = site.get("/c/shop/history?at=2026-11-01+04:50").await.body;
    assert!(before.contains("Nothing was recorded then"), "{before}");
    let wrong = site.get_with("/c/shop/history?at=yesterday", &[("accept-language", "zh-CN")]).await;
    assert!(wrong.body.contains("value=\"yesterday\"") && wrong.body.contains("class=\"error\""), "{}", wrong.body);
    let api = site.get("/api/v1/clusters/shop/history?at=yesterday").await;
    assert_eq!(api.status, StatusCode::UNPROCESSABLE_ENTITY, "{}", api.body);
}

#[tokio::test]
async fn a_line_is_drawn_and_told() {
    let site = site().await;
    for (address, words) in [
        ("/c/shop/topics/orders/history", ["Messages a second", "9,000"]),
        ("/c/shop/groups/price-enricher/history?range=7d", ["Oldest unconsumed message", "4,200"]),
        ("/c/shop/brokers/broker-a/history?range=90d", ["Put a second", "41 %"]),
    ] {
        let page = site.get(address).await;
        assert_eq!(page.status, StatusCode::OK, "{address}");
        assert!(words.iter().all(|word| page.body.contains(word)), "{address}: {}", page.body);
        assert!(page.body.contains("<polyline class=\"chart-line\""), "{address}");
    }
    let none = site.get("/c/shop/topics/orders_clean/history").await.body;
    assert!(none.contains("No history yet") && !none.contains("<polyline"), "{none}");
}

#[tokio::test]
async fn the_api_names_each_figure() {
    let site = site().await;
    let line = site.get("/api/v1/clusters/shop/groups/price-enricher/history?range=24h").await;
    let json: serde_json::Value = serde_json::from_str(&line.body).unwrap();
    let points = json["points"].as_array().unwrap();
    assert_eq!((json["step"].as_i64(), points.len()), (Some(600_000), 144));
    let known: Vec<_> = points.iter().filter(|point| !point.is_null()).collect();
    let expected = serde_json::json!({"lag": 4200.0, "wait_ms": 61000.0, "consumed_per_second": 3.0, "clients": 2.0});
    assert_eq!(known, [&expected]);
    let moment = site.get("/api/v1/clusters/shop/history").await;
    let json: serde_json::Value = serde_json::from_str(&moment.body).unwrap();
    assert_eq!(json["topics"]["orders"]["messages_per_second"], 12.5);
    assert_eq!(json["groups"]["<b>gone"]["lag"], 1.0);
    assert_eq!(Some(Millis(json["from"].as_i64().unwrap())), Some(Stretch::Minute.start_of(NOW.plus(-3_600_000))));
}
