//! A group's offsets: what setting them would do, and setting them.

use axum::Json;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum_extra::extract::Query;
use jiff::tz::TimeZone;
use millrace_console::groups::{QueueReset, ResetForm, ResetPlan, ResetRefused};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::topics::{WrongFields, refused};
use super::{Covered, Value};
use crate::pages::topics::WHO;
use crate::{Failure, InCluster};

/// What setting the offsets does to each queue.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OffsetPlan {
    group: String,
    topic: String,
    queues: Vec<QueuePlan>,
    /// Clients that are online.
    online: Value<usize>,
    /// Goes back with the act, which is refused with 409 when the group has moved since.
    seen: String,
    coverage: Covered,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct QueuePlan {
    broker: String,
    queue: i32,
    min: i64,
    /// One past the highest.
    max: i64,
    /// Null where it never committed.
    committed: Option<i64>,
    target: i64,
    /// Messages that it gets again.
    again: i64,
    /// Messages that it never gets; null where it is not known from where it would begin.
    skipped: Option<i64>,
}

/// As typed on the page.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct OffsetsIn {
    topic: String,
    /// `broker/3` for one queue; all, if left out.
    queue: String,
    /// `earliest`, `latest`, `time` or `offset`.
    to: String,
    /// For `time`: a number since 1970 or ISO 8601.
    time: String,
    /// For `offset`.
    offset: String,
    /// What the plan said.
    seen: String,
    /// Also if the group moves meanwhile.
    moving: bool,
}

impl From<OffsetsIn> for ResetForm {
    fn from(offsets: OffsetsIn) -> Self {
        let OffsetsIn { topic, queue, to, time, offset, seen, moving } = offsets;
        Self { topic, queue, to, time, offset, seen, moving: if moving { "1".to_owned() } else { String::new() } }
    }
}

/// What came of it, queue by queue.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OffsetsSet {
    queues: Vec<QueueSet>,
    failed: usize,
    /// Why the audit trail does not have it.
    audit_error: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct QueueSet {
    queue: QueuePlan,
    /// What the broker keeps now.
    committed: Value<Option<i64>>,
    error: Option<String>,
}

impl From<&QueueReset> for QueuePlan {
    fn from(reset: &QueueReset) -> Self {
        Self {
            broker: reset.queue.broker.clone(),
            queue: reset.queue.queue,
            min: reset.min,
            max: reset.max,
            committed: reset.committed,
            target: reset.target,
            again: reset.again(),
            skipped: reset.skipped(),
        }
    }
}

impl From<ResetPlan> for OffsetPlan {
    fn from(plan: ResetPlan) -> Self {
        Self {
            queues: plan.queues.iter().map(QueuePlan::from).collect(),
            online: plan.online.into(),
            seen: plan.seen,
            coverage: Covered::from(&plan.coverage),
            group: plan.group,
            topic: plan.topic,
        }
    }
}

/// What setting a group's offsets would do. Nothing is changed.
#[utoipa::path(
    get, path = "/api/v1/clusters/{cluster}/groups/{group}/offsets", tag = "groups",
    params(
        ("cluster" = String, Path, description = "the cluster's name"), ("group" = String, Path, description = "the group's name"),
        ("topic" = String, Query, description = "a topic that it reads"),
        ("queue" = Option<String>, Query, description = "broker/3 for one queue; all, if left out"),
        ("to" = String, Query, description = "earliest, latest, time or offset"),
        ("time" = Option<String>, Query, description = "for time: a number since 1970 or ISO 8601"),
        ("offset" = Option<String>, Query, description = "for offset, which needs one queue"),
    ),
    responses((status = 200, body = OffsetPlan), (status = 404, body = super::Problem), (status = 422, body = WrongFields)),
)]
pub(crate) async fn plan(
    InCluster { view, .. }: InCluster,
    Path((_, group)): Path<(String, String)>,
    Query(form): Query<ResetForm>,
) -> Result<Response, Failure> {
    match view.console.reset_plan(&group, &form, &TimeZone::UTC).await {
        Ok(plan) => Ok(Json(OffsetPlan::from(plan)).into_response()),
        Err(error) => refused(&view, error),
    }
}

/// Sets a group's offsets as a plan said, and reads back what the brokers keep. 409 with a new plan when the group has
/// moved since.
#[utoipa::path(
    put, path = "/api/v1/clusters/{cluster}/groups/{group}/offsets", tag = "groups", request_body = OffsetsIn,
    params(("cluster" = String, Path, description = "the cluster's name"), ("group" = String, Path, description = "the group's name")),
    responses(
        (status = 200, body = OffsetsSet), (status = 403, body = super::Problem), (status = 404, body = super::Problem),
        (status = 409, body = OffsetPlan), (status = 422, body = WrongFields),
    ),
)]
pub(crate) async fn reset(
    InCluster { view, .. }: InCluster,
    Path((_, group)): Path<(String, String)>,
    Json(offsets): Json<OffsetsIn>,
) -> Result<Response, Failure> {
    match view.console.reset(WHO, &group, &offsets.into(), &TimeZone::UTC).await {
        Ok(resets) => {
            let failed = resets.outcomes.failed();
            let queues = resets.queues.iter().zip(resets.outcomes.each).map(|((queue, now), outcome)| QueueSet {
                queue: QueuePlan::from(queue),
                committed: now.clone().into(),
                error: outcome.error,
            });
            let queues = queues.collect();
            Ok(Json(OffsetsSet { queues, failed, audit_error: resets.outcomes.audit_error }).into_response())
        }
        Err(ResetRefused::Moved(plan)) => Ok((StatusCode::CONFLICT, Json(OffsetPlan::from(*plan))).into_response()),
        Err(ResetRefused::Console(error)) => refused(&view, error),
    }
}
