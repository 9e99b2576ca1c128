//! kill -9, over and over, while a load is read.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use serde_json::Value;

use crate::load::{fill_trace_topic, read_to_the_end, stored, trace_topic, undisturbed};
use crate::support::api::Api;
use crate::support::millrace::Setup;

const KILLS: usize = 30;
const LOAD: u64 = 600_000;
/// What is added when everything has been read before the last kill.
const MORE: u64 = 100_000;
/// The latest moment of a kill after ingest moved.
const LATEST_MS: u64 = 120;

/// Whether a queue has something left to read, or has not told yet.
fn behind(ingest: &Value) -> bool {
    let queues = ingest["queues"].as_array().unwrap();
    queues.is_empty() || queues.iter().any(|queue| queue["lag"].as_i64() != Some(0))
}

/// A number below `limit` that nobody chose.
fn any_below(limit: u64) -> u64 {
    RandomState::new().hash_one(0) % limit
}

#[tokio::test]
async fn killed_ingest_ends_with_the_rows_of_an_undisturbed_one() {
    let _turn = trace_topic().await;
    fill_trace_topic(LOAD);
    let killed = Setup::new();
    let mut in_the_middle = 0;
    for round in 0..KILLS {
        let server = killed.start();
        // Some die while they start, most while they read.
        if round % 5 != 0 {
            let moved = |answer: &Value| answer["records"].as_u64().is_some_and(|records| records > 0);
            let ingest = server.api.until(&Api::of_cluster("/ingest"), |answer| moved(answer) || !behind(answer)).await;
            in_the_middle += usize::from(behind(&ingest));
            if !behind(&ingest) {
                fill_trace_topic(MORE);
            }
        }
        tokio::time::sleep(Duration::from_millis(any_below(LATEST_MS))).await;
        server.kill();
    }
    assert!(in_the_middle * 2 >= KILLS, "only {in_the_middle} of {KILLS} died while there was something left to read");

    read_to_the_end(&killed).await;
    let (expected, expected_count) = undisturbed().await;
    let (found, found_count) = stored(&killed).await;
    assert!(expected.len() as u64 >= LOAD, "{} records", expected.len());
    assert_eq!(found_count, expected_count, "as counted by the segments");
    assert_eq!(found.len(), expected.len());
    let first = found.iter().zip(&expected).position(|(found, expected)| found != expected);
    assert_eq!(first, None, "{:?} instead of {:?}", first.map(|at| &found[at]), first.map(|at| &expected[at]));
}
