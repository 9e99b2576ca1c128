//! A load of traces, and what a server kept of it.

use millrace_core::trace::{Term, TraceRecord};
use millrace_store::{DatabaseUrl, SegmentRules, Stores};
use tokio::sync::{Mutex, MutexGuard};

use crate::own_cluster::{run, script};
use crate::support::millrace::{CLUSTER, Setup, name_server};

/// Who compares what servers read at different times has the shared trace topic alone.
pub(crate) async fn trace_topic() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::const_new(());
    TURN.lock().await
}

/// Traces of `records` records, into the trace topic of the cluster that all tests share.
pub(crate) fn fill_trace_topic(records: u64) {
    run(script().args(["java", "FillTraces", &name_server(), &records.to_string()]));
}

/// Lets a server read everything there is, and stops it.
pub(crate) async fn read_to_the_end(setup: &Setup) {
    let server = setup.start();
    server.api.until_ingested().await;
    assert!(server.stop().success());
}

/// What a server that nothing disturbs has in its database in the end.
pub(crate) async fn undisturbed() -> (Vec<TraceRecord>, u64) {
    let setup = Setup::new();
    read_to_the_end(&setup).await;
    stored(&setup).await
}

/// Everything that a stopped server left in its database, in order.
pub(crate) async fn stored(setup: &Setup) -> (Vec<TraceRecord>, u64) {
    let url: DatabaseUrl = setup.database.url().parse().unwrap();
    let stores = Stores::open(&url).await.unwrap();
    let traces = stores.traces(CLUSTER, SegmentRules::default()).await.unwrap();
    let counted = traces.segments().await.unwrap().iter().map(|segment| segment.records).sum();
    let mut records = traces.newest(usize::MAX).await.unwrap();
    records.sort_by(|a, b| a.origin.cmp(&b.origin));

    // What lies there can be found as well.
    for record in records.iter().step_by(997) {
        let terms: Vec<Term> = record.event.message_ids().iter().map(|id| Term::text(id)).collect();
        let found = traces.find(&terms, 10_000).await.unwrap();
        assert!(found.records.contains(record), "{record:?} is stored and not found");
    }
    stores.close().await;
    (records, counted)
}
