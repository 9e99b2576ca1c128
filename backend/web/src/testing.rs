//! The whole application on in-memory fakes, for tests of pages.
#![expect(clippy::unwrap_used, reason = "tests")]

mod preview;

use std::sync::Arc;

use async_trait::async_trait;
use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode};
use axum::response::Response;
use futures::StreamExt as _;
use millrace_broker::Cluster;
use millrace_broker::fake::{FakeCluster, FakeMessage};
use millrace_console::Console;
use millrace_console::snapshot::{KeeperOptions, keep};
use millrace_core::time::{Clock, Millis};
use millrace_core::trace::{RejectReason, Term, TraceRecord, decode, recorded};
use millrace_store::fake::FakeMeta;
use millrace_store::{
    Appended, Batch, DroppedSegment, Found, MetaStore, QueuePosition, RejectSummary, Retention, SegmentInfo,
    StoreError, TraceStore,
};
use millrace_tracker::ingest::IngestState;
use millrace_tracker::record::RecordFinder;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use crate::{App, AppBuilder, ClusterView};

/// 2026-12-01T05:50:10.004Z.
pub(crate) const NOW: Millis = Millis(1_796_104_210_004);

#[derive(Debug)]
pub(crate) struct FixedClock(pub(crate) Millis);

impl Clock for FixedClock {
    fn now(&self) -> Millis {
        self.0
    }
}

/// Trace records that a test chose; look-ups find those that have a term.
#[derive(Debug, Default)]
pub(crate) struct FakeTraces {
    pub(crate) records: Vec<TraceRecord>,
    /// A text for the rejected entry's sample.
    pub(crate) sample: String,
    /// Every call fails.
    pub(crate) broken: bool,
}

impl FakeTraces {
    fn up(&self) -> millrace_store::Result<()> {
        if self.broken { Err(StoreError::Locked("traces.db".to_owned())) } else { Ok(()) }
    }
}

fn segment(id: i64, sealed: bool) -> SegmentInfo {
    SegmentInfo {
        id,
        first: Some(NOW.plus(-3_600_000)),
        last: Some(NOW.plus(-1_000)),
        messages: 400,
        records: 1_204,
        bytes: 512 << 10,
        sealed,
        damaged: None,
    }
}

#[async_trait]
impl TraceStore for FakeTraces {
    async fn append(&self, _: Batch, _: Millis) -> millrace_store::Result<Appended> {
        self.up().map(|()| Appended::default())
    }

    async fn positions(&self) -> millrace_store::Result<Vec<QueuePosition>> {
        self.up().map(|()| Vec::new())
    }

    async fn find(&self, terms: &[Term], limit: usize) -> millrace_store::Result<Found> {
        self.up()?;
        let records: Vec<_> = self
            .records
            .iter()
            .filter(|record| {
                let mut matches = false;
                Term::of(record, &mut |term| matches |= terms.contains(&term));
                matches
            })
            .take(limit)
            .cloned()
            .collect();
        Ok(Found { records, segments_searched: 2, oldest: Some(NOW.plus(-3_600_000)), ..Found::default() })
    }

    async fn newest(&self, limit: usize) -> millrace_store::Result<Vec<TraceRecord>> {
        self.up().map(|()| self.records.iter().rev().take(limit).cloned().collect())
    }

    async fn segments(&self) -> millrace_store::Result<Vec<SegmentInfo>> {
        self.up().map(|()| vec![segment(7, true), segment(8, false)])
    }

    async fn rejects(&self) -> millrace_store::Result<Vec<RejectSummary>> {
        self.up()?;
        Ok(vec![RejectSummary {
            reason: RejectReason::UnknownType,
            count: 3,
            sample: self.sample.clone(),
            last: NOW.plus(-5_000),
        }])
    }

    async fn retain(&self, _: Retention, _: Millis) -> millrace_store::Result<Vec<DroppedSegment>> {
        self.up().map(|()| Vec::new())
    }

    async fn dropped(&self, _: u32) -> millrace_store::Result<Vec<DroppedSegment>> {
        self.up()?;
        Ok(vec![DroppedSegment { at: NOW.plus(-60_000), segment: segment(3, true), why: "age".to_owned() }])
    }

    async fn check(&self) -> millrace_store::Result<()> {
        self.up()
    }
}

/// A cluster `shop` with two brokers, some topics, groups and messages.
pub(crate) fn fake_cluster() -> FakeCluster {
    FakeCluster::new()
        .broker("broker-a")
        .broker("broker-b")
        .topic("orders", 4)
        .topic("orders_clean", 4)
        .group("price-enricher")
        .message(FakeMessage::to("orders").key("order-17").body("{\"id\":17}"))
}

/// A cluster under a name, on fakes.
pub(crate) fn view(name: &str, fake: &FakeCluster, traces: FakeTraces) -> ClusterView {
    let mut cluster = fake.cluster();
    name.clone_into(&mut cluster.name);
    view_of(cluster, traces, Arc::new(FakeMeta::default()), Arc::new(FixedClock(NOW)))
}

pub(crate) fn view_of(
    cluster: Cluster,
    traces: FakeTraces,
    meta: Arc<dyn MetaStore>,
    clock: Arc<dyn Clock>,
) -> ClusterView {
    let (snapshots, keeper) = keep(&cluster, Arc::clone(&clock), KeeperOptions::default(), CancellationToken::new());
    tokio::spawn(keeper);
    let name = cluster.name.clone();
    let traces: Arc<dyn TraceStore> = Arc::new(traces);
    let ingest = Arc::new(IngestState::idle(&name));
    let records = RecordFinder::new(cluster.clone(), Arc::clone(&traces), Arc::clone(&ingest), Arc::clone(&clock));
    ClusterView {
        console: Arc::new(Console::new(cluster.clone(), snapshots, meta, clock)),
        records: Arc::new(records),
        ingest,
        traces,
        cluster,
        name,
    }
}

pub(crate) fn builder() -> AppBuilder {
    App::builder(Arc::new(FixedClock(NOW)), Arc::new(FakeMeta::default()))
}

fn sampled() -> FakeTraces {
    FakeTraces { sample: "an-odd-entry".to_owned(), ..FakeTraces::default() }
}

pub(crate) fn app() -> Arc<App> {
    builder().cluster(view("shop", &fake_cluster(), sampled())).build()
}

/// The usual site: cluster `shop` alone.
pub(crate) fn site() -> Site {
    Site::of(app())
}

/// Names and texts that would like to be markup.
pub(crate) fn hostile_site() -> Site {
    let name = "<script>alert(1)</script>";
    let traces = FakeTraces { sample: "<img src=x onerror=alert(1)>".to_owned(), ..FakeTraces::default() };
    Site::of(
        builder()
            .cluster(view(name, &fake_cluster(), traces))
            .cluster(view("\"'><b>", &fake_cluster(), sampled()))
            .build(),
    )
}

/// A site whose store has these records.
pub(crate) fn traced_site(records: Vec<TraceRecord>) -> Site {
    let traces = FakeTraces { records, ..FakeTraces::default() };
    Site::of(builder().cluster(view("shop", &fake_cluster(), traces)).build())
}

/// `shop`, which may not be changed.
pub(crate) fn read_only_site() -> Site {
    let cluster = Cluster { name: "shop".to_owned(), ..fake_cluster().read_only() };
    let meta = Arc::new(FakeMeta::default());
    Site::of(builder().cluster(view_of(cluster, FakeTraces::default(), meta, Arc::new(FixedClock(NOW)))).build())
}

/// The trace store of `shop` fails every call.
pub(crate) fn broken_store_site() -> Site {
    let traces = FakeTraces { broken: true, ..FakeTraces::default() };
    Site::of(builder().cluster(view("shop", &fake_cluster(), traces)).build())
}

/// The traces of a real task, see `core::flow`'s tests.
fn recorded() -> FakeTraces {
    let lines = include_bytes!("../../../tests/traces/messages.jsonl").split(|byte| *byte == b'\n');
    let messages = lines.enumerate().filter_map(|(number, line)| recorded::line(line, number as u64).unwrap());
    FakeTraces { records: messages.flat_map(|message| decode(&message).records).collect(), ..FakeTraces::default() }
}

/// Its topics and groups, and the dead letter of `rec-0007`.
fn recorded_cluster() -> FakeCluster {
    let dead = FakeMessage::to("%DLQ%demo_op1")
        .key("rec-0007")
        .uniq_id("FD00000000000000000000000000000275F04E0E2F2A009EB522000E")
        .at(Millis(1_796_093_643_468));
    FakeCluster::new()
        .broker("broker-a")
        .topic("demo_source_a", 4)
        .topic("demo_mid_b", 4)
        .topic("demo_sink_c", 4)
        .topic("%DLQ%demo_op1", 1)
        .group("demo_op1")
        .message(dead)
}

/// A cluster `shop` with the traces of a real task.
pub(crate) fn recorded_site() -> Site {
    Site::of(builder().cluster(view("shop", &recorded_cluster(), recorded())).build())
}

pub(crate) struct Site {
    pub(crate) app: Arc<App>,
    router: Router,
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    headers: HeaderMap,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

impl Site {
    pub(crate) fn of(app: Arc<App>) -> Self {
        Self { router: crate::router(Arc::clone(&app)), app }
    }

    /// Waits until every cluster was read once.
    pub(crate) async fn settle(&self) {
        for cluster in self.app.clusters() {
            assert!(cluster.console.snapshots().refresh(std::time::Duration::from_secs(20)).await);
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.get_with(path, &[]).await
    }

    pub(crate) async fn get_with(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        read(self.send("GET", path, "", headers).await).await
    }

    /// What htmx gets that swaps the answer into `#target`.
    pub(crate) async fn get_block(&self, path: &str, target: &str) -> Answer {
        let target = format!("div#{target}");
        self.get_with(path, &[("hx-request", "true"), ("hx-target", &target)]).await
    }

    /// Sends a form.
    pub(crate) async fn post(&self, path: &str, form: &str) -> Answer {
        self.post_with(path, form, &[]).await
    }

    pub(crate) async fn post_with(&self, path: &str, form: &str, headers: &[(&str, &str)]) -> Answer {
        read(self.send("POST", path, form, headers).await).await
    }

    /// The first message of an event stream.
    pub(crate) async fn first_event(&self, path: &str) -> String {
        let response = self.send("GET", path, "", &[]).await;
        assert_eq!(response.status(), StatusCode::OK);
        let mut body = response.into_body().into_data_stream();
        let event = body.next().await.unwrap().unwrap();
        let event = String::from_utf8(event.to_vec()).unwrap();
        event.lines().filter_map(|line| line.strip_prefix("data: ")).collect::<Vec<_>>().join("\n")
    }

    /// Any request.
    pub(crate) async fn request(&self, method: &str, path: &str, body: &str, headers: &[(&str, &str)]) -> Answer {
        read(self.send(method, path, body, headers).await).await
    }

    async fn send(&self, method: &str, path: &str, body: &str, headers: &[(&str, &str)]) -> Response {
        let mut request = Request::builder().method(method).uri(path);
        if !headers.iter().any(|(name, _)| *name == "host") {
            request = request.header("host", "localhost");
        }
        if method == "POST" && !headers.iter().any(|(name, _)| *name == "content-type") {
            request = request.header("content-type", "application/x-www-form-urlencoded");
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::from(body.to_owned())).unwrap();
        self.router.clone().oneshot(request).await.unwrap()
    }
}

async fn read(response: Response) -> Answer {
    let (parts, body) = response.into_parts();
    let body = axum::body::to_bytes(body, 16 << 20).await.unwrap();
    Answer { status: parts.status, headers: parts.headers, body: String::from_utf8_lossy(&body).into_owned() }
}
