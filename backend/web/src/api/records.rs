//! One record's flow.

use axum::Json;
use axum::extract::{Path, Query};
use millrace_tracker::record::{Question, RecordAnswer};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::{Failure, InCluster};

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Limit {
    /// Only the record that this message id belongs to, when several use one key.
    #[serde(default)]
    root: Option<String>,
}

/// Where a record is: the flow of a key or id with hops, attempts, edges, findings, verdict and coverage.
#[utoipa::path(
    get, path = "/api/v1/clusters/{cluster}/records/{key}", tag = "records",
    params(
        ("cluster" = String, Path, description = "the cluster's name in the configuration"),
        ("key" = String, Path, description = "a record key, a message id or an offset message id, percent-encoded"),
        Limit,
    ),
    responses(
        (status = 200, body = Object, description = "question, taken_for, flow, coverage, unfound, at; also when nothing was found"),
        (status = 404, body = super::Problem),
        (status = 503, body = super::Problem),
    ),
)]
pub(crate) async fn show(
    InCluster { view, .. }: InCluster,
    Path((_, key)): Path<(String, String)>,
    Query(limit): Query<Limit>,
) -> Result<Json<RecordAnswer>, Failure> {
    let mut question = Question::of(&key);
    question.root = limit.root.filter(|root| !root.is_empty());
    Ok(Json(view.records.look_up(&question).await?))
}
