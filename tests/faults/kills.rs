//! kill -9, over and over, while a load is read.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use serde_json::Value;

use crate::load::{fill_trace_topic, read_to_the_end, stored, trace_topic, undisturbed};
use crate::support::api::Api;
use crate::support::millrace::Setup;

const KILLS: usize = 30;
const LOAD: u64 = 600_000;
/// What is added when less than that is left: more than a server reads from its start until it is killed.
const MORE: u64 = 300_000;
/// As `FillTraces` writes them.
const RECORDS_A_MESSAGE: u64 = 10;
/// The latest moment of a kill after ingest moved.
const LATEST_MS: u64 = 120;

/// How many records there are left to read; nothing when a queue has not told yet.
fn left(ingest: &Value) -> Option<u64> {
    let queues = ingest["queues"].as_array().unwrap();
    let messages: Option<u64> = queues.iter().map(|queue| queue["lag"].as_u64()).sum();
    messages.filter(|_| !queues.is_empty()).map(|messages| messages * RECORDS_A_MESSAGE)
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
    let mut seen = Vec::new();
    for round in 0..KILLS {
        let server = killed.start();
        // Some die while they start, most while they read.
        if round % 5 != 0 {
            let moved = |answer: &Value| answer["records"].as_u64().is_some_and(|records| records > 0);
            let ingest =
                server.api.until(&Api::of_cluster("/ingest"), |answer| moved(answer) || left(answer) == Some(0)).await;
            seen.push(left(&ingest));
            if left(&ingest).is_some_and(|left| left < MORE) {
                fill_trace_topic(MORE);
            }
        }
        tokio::time::sleep(Duration::from_millis(any_below(LATEST_MS))).await;
        server.kill();
    }
    let in_the_middle = seen.iter().filter(|left| **left != Some(0)).count();
    assert!(
        in_the_middle * 2 >= KILLS,
        "only {in_the_middle} of {KILLS} died while there was something left to read: {seen:?}"
    );

    read_to_the_end(&killed).await;
    let (expected, expected_count) = undisturbed().await;
    let (found, found_count) = stored(&killed).await;
    assert!(expected.len() as u64 >= LOAD, "{} records", expected.len());
    assert_eq!(found_count, expected_count, "as counted by the segments");
    assert_eq!(found.len(), expected.len());
    let first = found.iter().zip(&expected).position(|(found, expected)| found != expected);
    assert_eq!(first, None, "{:?} instead of {:?}", first.map(|at| &found[at]), first.map(|at| &expected[at]));
}
