//! Ingest of one cluster.

use axum::Json;
use millrace_core::coverage::Known;
use millrace_tracker::ingest::{QueueProgress, WorkerHealth};
use serde::Serialize;
use utoipa::ToSchema;

use super::{Covered, Value};
use crate::InCluster;

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Ingest {
    group: String,
    client: String,
    /// `off`, `starting`, `running`, `degraded` or `stopped`.
    health: &'static str,
    /// Why it is degraded.
    why: Option<String>,
    members: Vec<String>,
    topics: Vec<String>,
    queues: Vec<Queue>,
    coverage: Covered,
    /// Since this process started.
    messages: u64,
    records: u64,
    rejects: u64,
    records_per_second: f64,
    /// Everything stored at the brokers before this instant has been read; absent: not known.
    watermark: Option<i64>,
    behind_ms: Option<i64>,
    rejected: Value<Vec<Rejected>>,
    segments: Value<Vec<Segment>>,
    dropped: Value<Vec<Dropped>>,
    retention: Retention,
}

#[derive(Debug, Serialize, ToSchema)]
#[expect(clippy::struct_field_names, reason = "a queue is known by its number")]
pub(crate) struct Queue {
    topic: String,
    broker: String,
    queue: i32,
    next: i64,
    /// One past the highest offset; absent: the broker has not told.
    end: Option<i64>,
    lag: Option<i64>,
    stored: Option<i64>,
    expired: u64,
    error: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Rejected {
    reason: String,
    count: u64,
    sample: String,
    last: i64,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Segment {
    id: i64,
    first: Option<i64>,
    last: Option<i64>,
    messages: u64,
    records: u64,
    bytes: u64,
    sealed: bool,
    /// Why it cannot be read; counts are then not known.
    damaged: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Dropped {
    at: i64,
    /// `age` or `size`.
    why: String,
    segment: Segment,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Retention {
    max_age_ms: i64,
    max_bytes: u64,
}

impl From<&QueueProgress> for Queue {
    fn from(progress: &QueueProgress) -> Self {
        Self {
            topic: progress.queue.topic.clone(),
            broker: progress.queue.broker.clone(),
            queue: progress.queue.queue,
            next: progress.next,
            end: progress.max,
            lag: progress.lag(),
            stored: progress.stored.map(|at| at.0),
            expired: progress.expired,
            error: progress.error.clone(),
        }
    }
}

impl From<millrace_store::SegmentInfo> for Segment {
    fn from(segment: millrace_store::SegmentInfo) -> Self {
        Self {
            id: segment.id,
            first: segment.first.map(|at| at.0),
            last: segment.last.map(|at| at.0),
            messages: segment.messages,
            records: segment.records,
            bytes: segment.bytes,
            sealed: segment.sealed,
            damaged: segment.damaged,
        }
    }
}

/// How far ingest is, what it rejected, what is kept and what was dropped.
#[utoipa::path(
    get, path = "/api/v1/clusters/{cluster}/ingest", tag = "ingest",
    params(("cluster" = String, Path, description = "the cluster's name in the configuration")),
    responses((status = 200, body = Ingest), (status = 404, body = super::Problem)),
)]
pub(crate) async fn show(InCluster { cx, view }: InCluster) -> Json<Ingest> {
    let status = view.ingest.status(cx.now);
    let (rejects, segments, dropped) =
        tokio::join!(view.traces.rejects(), view.traces.segments(), view.traces.dropped(1_000));
    let (health, why) = match status.health {
        WorkerHealth::Off => ("off", None),
        WorkerHealth::Starting => ("starting", None),
        WorkerHealth::Running => ("running", None),
        WorkerHealth::Degraded { why } => ("degraded", Some(why)),
        WorkerHealth::Stopped => ("stopped", None),
    };
    let rejected = Known::from(rejects).map(|rejects| {
        rejects
            .into_iter()
            .map(|reject| Rejected {
                reason: crate::component::code(reject.reason),
                count: reject.count,
                sample: reject.sample,
                last: reject.last.0,
            })
            .collect()
    });
    let dropped = Known::from(dropped).map(|dropped| {
        dropped
            .into_iter()
            .map(|dropped| Dropped { at: dropped.at.0, why: dropped.why, segment: dropped.segment.into() })
            .collect()
    });
    Json(Ingest {
        health,
        why,
        queues: status.queues.iter().map(Queue::from).collect(),
        coverage: Covered::from(&status.coverage),
        group: status.group,
        client: status.client,
        members: status.members,
        topics: status.topics,
        messages: status.messages,
        records: status.records,
        rejects: status.rejects,
        records_per_second: status.rate,
        watermark: status.watermark.map(|at| at.0),
        behind_ms: status.behind_ms,
        rejected: rejected.into(),
        segments: Known::from(segments).map(|segments| segments.into_iter().map(Segment::from).collect()).into(),
        dropped: dropped.into(),
        retention: Retention {
            max_age_ms: view.ingest.retention.max_age_ms,
            max_bytes: view.ingest.retention.max_bytes,
        },
    })
}
