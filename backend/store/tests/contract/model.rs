//! Whatever is appended, however segments end and programs start, look-ups find what a list in memory finds.

use std::collections::BTreeMap;

use millrace_core::time::Millis;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::place::{Place, rolled_at};
use crate::sample::{batch, offsets, term};

#[derive(Debug, Clone)]
enum Step {
    Append { queue: i32, keys: Vec<u8> },
    Seal,
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let append =
        (0..3_i32, proptest::collection::vec(0..6_u8, 1..7)).prop_map(|(queue, keys)| Step::Append { queue, keys });
    proptest::collection::vec(prop_oneof![6 => append, 1 => Just(Step::Seal), 1 => Just(Step::Reopen)], 1..20)
}

fn key(number: u8) -> String {
    format!("order-{number}")
}

async fn run(place: Place, steps: Vec<Step>, max_records: u64) {
    let mut positions: BTreeMap<i32, i64> = BTreeMap::new();
    let mut model: BTreeMap<String, Vec<(i32, i64)>> = BTreeMap::new();
    let (mut stores, mut traces) = place.traces(rolled_at(max_records)).await;
    for step in steps {
        match step {
            Step::Append { queue, keys } => {
                let next = positions.entry(queue).or_default();
                let keys: Vec<String> = keys.into_iter().map(key).collect();
                let texts: Vec<&str> = keys.iter().map(String::as_str).collect();
                traces.append(batch(queue, *next, &texts), Millis(5)).await.unwrap();
                for key in keys {
                    model.entry(key).or_default().push((queue, *next));
                    *next += 1;
                }
            }
            Step::Seal => {
                traces.seal().await.unwrap();
            }
            Step::Reopen => {
                stores.close().await;
                drop((stores, traces));
                (stores, traces) = place.traces(rolled_at(max_records)).await;
            }
        }
        for number in 0..6 {
            let found = traces.find(&term(&key(number)), 10_000).await.unwrap();
            let mut expected = model.get(&key(number)).cloned().unwrap_or_default();
            expected.sort_unstable();
            assert_eq!((offsets(&found.records), found.missed), (expected, vec![]));
        }
    }
    let read: BTreeMap<i32, i64> =
        traces.positions().await.unwrap().into_iter().map(|at| (at.queue.queue, at.next)).collect();
    assert_eq!(read, positions);
    stores.close().await;
}

fn any_history_is_found(cases: u32, place: impl Fn(&tokio::runtime::Runtime) -> Place) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    runner
        .run(&(steps(), 1..12_u64), |(steps, max_records)| {
            runtime.block_on(run(place(&runtime), steps, max_records));
            Ok(())
        })
        .unwrap();
}

#[test]
fn any_history_is_found_on_sqlite() {
    any_history_is_found(32, |_| Place::sqlite());
}

#[test]
fn any_history_is_found_on_postgres() {
    any_history_is_found(12, |runtime| runtime.block_on(Place::postgres()));
}
