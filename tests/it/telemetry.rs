//! What the program tells about itself: OTLP to a collector, and the Prometheus listener.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::routing::post;

use crate::support::millrace::Setup;

/// What came to each of a collector's paths.
#[derive(Debug, Clone, Default)]
struct Collected {
    metrics: Arc<Mutex<Vec<u8>>>,
    spans: Arc<Mutex<Vec<u8>>>,
}

/// A collector that keeps what it gets, and its address.
async fn collector() -> (Collected, String) {
    let collected = Collected::default();
    let into = |kept: &Arc<Mutex<Vec<u8>>>| {
        let kept = Arc::clone(kept);
        post(move |body: Bytes| async move { kept.lock().unwrap().extend_from_slice(&body) })
    };
    let routes =
        Router::new().route("/v1/metrics", into(&collected.metrics)).route("/v1/traces", into(&collected.spans));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, routes).await });
    (collected, address)
}

/// Whether the protocol buffers hold this text; they keep text as it is.
fn holds(kept: &Mutex<Vec<u8>>, text: &str) -> bool {
    kept.lock().unwrap().windows(text.len()).any(|window| window == text.as_bytes())
}

#[tokio::test]
async fn metrics_and_spans_go_to_a_collector() {
    let (collected, address) = collector().await;
    let setup = Setup::new().with("MILLRACE_TELEMETRY__OTLP_ENDPOINT", &address);
    let server = setup.start();
    server.api.until_ingested().await;
    server.api.record("order-001").await;
    let stopped = tokio::task::spawn_blocking(|| server.stop()).await.unwrap();
    assert!(stopped.success());
    for (kept, what) in [(&collected.metrics, "metrics"), (&collected.spans, "spans")] {
        assert!(holds(kept, "millrace"), "{what} name their service");
    }
    assert!(holds(&collected.metrics, "millrace.ingest.records"));
    assert!(holds(&collected.metrics, "http.server.request.duration"));
    for span in ["GET /api/v1/clusters/{cluster}/records/{key}", "record.look_up", "rpc.system", "ingest.append"] {
        assert!(holds(&collected.spans, span), "no span {span}");
    }
    assert!(!holds(&collected.spans, "order-001"), "keys are not told");
}

/// A collector that is away costs nothing but its data.
#[tokio::test]
async fn a_collector_that_is_away_stops_nothing() {
    let setup = Setup::new().with("MILLRACE_TELEMETRY__OTLP_ENDPOINT", "http://127.0.0.1:9");
    let server = setup.start();
    server.api.until_ingested().await;
    assert_eq!(server.api.json("/readyz").await["ready"], true);
    let stopped = tokio::task::spawn_blocking(|| server.stop());
    assert!(tokio::time::timeout(Duration::from_secs(30), stopped).await.unwrap().unwrap().success());
}
