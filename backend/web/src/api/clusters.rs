//! Clusters.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::App;
use crate::pages::overview;
use crate::{Failure, InCluster};

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Clusters {
    clusters: Vec<ClusterSummary>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ClusterSummary {
    name: String,
    /// Whether topics can be changed here.
    writable: bool,
    /// `ok`, `info`, `unknown`, `warn` or `bad`.
    state: &'static str,
    /// The state in a sentence, in English.
    headline: String,
}

/// All configured clusters.
#[utoipa::path(get, path = "/api/v1/clusters", responses((status = 200, body = Clusters)), tag = "clusters")]
pub(crate) async fn list(State(app): State<Arc<App>>) -> Json<Clusters> {
    let now = app.clock.now();
    Json(Clusters { clusters: app.clusters().iter().map(|view| summary(view, now)).collect() })
}

fn summary(view: &crate::ClusterView, now: millrace_core::time::Millis) -> ClusterSummary {
    let verdict = overview::verdict(view, now);
    ClusterSummary {
        name: view.name.clone(),
        writable: view.cluster.write.is_some(),
        state: verdict.state.name(),
        headline: verdict.headline.text(crate::i18n::Locale::En),
    }
}

/// One cluster.
#[utoipa::path(
    get, path = "/api/v1/clusters/{cluster}", tag = "clusters",
    params(("cluster" = String, Path, description = "the cluster's name in the configuration")),
    responses((status = 200, body = ClusterSummary), (status = 404, body = super::Problem)),
)]
pub(crate) async fn overview(InCluster { cx, view }: InCluster) -> Result<Json<ClusterSummary>, Failure> {
    Ok(Json(summary(&view, cx.now)))
}
