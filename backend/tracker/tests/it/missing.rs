//! A group that traces and has not taken a message: missing, and only when the message was for it.

use std::sync::Arc;

use millrace_broker::fake::{FakeClient, FakeCluster, FakeMessage};
use millrace_core::flow::{FindingKind, Flow, HopState, Verdict, Why};
use millrace_core::name::TRACE_TOPIC;
use millrace_core::time::Clock;
use millrace_tracker::record::{Question, RecordFinder};
use tokio_util::sync::CancellationToken;

use crate::FixedClock;
use crate::ingest::{start, trace_topic, until};
use crate::memory_store::MemoryStore;

/// Half a minute before the present: longer than a group is waited for.
const SENT: i64 = 1_800_000_070_000;

fn sent(id: &str, key: &str, kind: u8, at: i64) -> String {
    let fields = format!("shop␁orders␁{id}␁␁{key}␁192.0.2.1:10911␁2␁1␁{kind}␁␁true␁192.0.2.7");
    format!("Pub␁{at}␁DefaultRegion␁{fields}␂")
}

fn ended(id: &str, key: &str, state: &str, at: i64) -> String {
    format!("EndTransaction␁{at}␁DefaultRegion␁shop␁orders␁{id}␁␁{key}␁192.0.2.1:10911␁2␁{id}␁{state}␁true␂")
}

fn taken(id: &str, key: &str, at: i64) -> String {
    let before = format!("SubBefore␁{at}␁DefaultRegion␁billing␁R{id}␁{id}␁0␁{key}␂");
    format!("{before}SubAfter␁R{id}␁{id}␁1␁true␁{key}␁0␁{at}␁billing␂")
}

/// Two other orders, taken before and after the one that is asked for: `billing` traces what it takes.
fn neighbours() -> [String; 4] {
    let (before, after) = (SENT - 5_000, SENT + 5_000);
    [
        sent("M2", "order-2", 0, before),
        taken("M2", "order-2", before),
        sent("M3", "order-3", 0, after),
        taken("M3", "order-3", after),
    ]
}

/// What a look-up says after these traces were ingested; `billing` is online and takes everything of `orders`.
async fn told(traces: &[String], key: &str) -> Flow {
    let fake = FakeCluster::new()
        .broker("broker-a")
        .topic_on("broker-a", trace_topic(TRACE_TOPIC, 1))
        .topic("orders", 1)
        .online(&FakeClient::of("billing", "billing-1").subscribed("orders", "*"));
    for body in traces {
        let body = body.replace('␁', "\u{1}").replace('␂', "\u{2}");
        fake.append(FakeMessage::to(TRACE_TOPIC).on("broker-a", 0).body(body));
    }
    let (store, stop) = (Arc::new(MemoryStore::default()), CancellationToken::new());
    let ingest = start(&fake, &store, "worker-1", &stop);
    let read = || {
        let status = ingest.state.status(FixedClock.now());
        store.messages().len() == traces.len() && status.watermark.is_some_and(|mark| mark >= FixedClock.now())
    };
    until(&ingest, read).await;
    let finder = RecordFinder::new(fake.cluster(), store, Arc::clone(&ingest.state), Arc::new(FixedClock));
    let answer = finder.look_up(&Question::of(key)).await.unwrap();
    stop.cancel();
    ingest.finished().await;
    answer.flow
}

fn state_at_billing(flow: &Flow) -> Option<&HopState> {
    flow.hops.iter().find(|hop| hop.group.as_deref() == Some("billing")).map(|hop| &hop.state)
}

#[tokio::test]
async fn a_group_that_traces_and_took_its_neighbour_misses_a_message() {
    let traces = [&[sent("M1", "order-1", 0, SENT)], &neighbours()[..]].concat();
    let missing = told(&traces, "order-1").await;
    assert!(matches!(state_at_billing(&missing), Some(HopState::Missing { .. })), "{:?}", missing.hops);
    assert!(
        matches!(&missing.verdict, Verdict::MissingAt { group, .. } if group == "billing"),
        "{:?}",
        missing.verdict
    );
    assert!(missing.findings.iter().any(|finding| matches!(finding.kind, FindingKind::Missing { .. })));
    let taken = told(&traces, "order-2").await;
    assert!(matches!(state_at_billing(&taken), Some(HopState::Ok { .. })), "{:?}", taken.hops);
}

/// A rolled back half message was for nobody; one that is committed late is due from its commit on.
#[tokio::test]
async fn a_transaction_is_waited_for_from_its_commit_and_never_after_a_rollback() {
    let with = |own: &[String]| [own, &neighbours()[..]].concat();
    let half = sent("M1", "order-1", 1, SENT);

    let rolled = told(&with(&[half.clone(), ended("M1", "order-1", "ROLLBACK_MESSAGE", SENT)]), "order-1").await;
    assert!(
        matches!(state_at_billing(&rolled), None | Some(HopState::NotExpected { why: Why::RolledBack })),
        "{:?}",
        rolled.hops
    );
    assert!(!matches!(rolled.verdict, Verdict::MissingAt { .. }), "{:?}", rolled.verdict);

    let asked = ended("M1", "order-1", "UNKNOW", SENT);
    let late = ended("M1", "order-1", "COMMIT_MESSAGE", FixedClock.now().0 - 1_000);
    let waited = told(&with(&[half.clone(), asked.clone(), late]), "order-1").await;
    assert!(matches!(state_at_billing(&waited), Some(HopState::Waiting { .. })), "{:?}", waited.hops);
    let soon = ended("M1", "order-1", "COMMIT_MESSAGE", SENT + 1_000);
    let missing = told(&with(&[half, asked, soon]), "order-1").await;
    assert!(matches!(state_at_billing(&missing), Some(HopState::Missing { .. })), "{:?}", missing.hops);
}
