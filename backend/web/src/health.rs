//! Health for orchestrators. One invariant: `/readyz` is ready only if what it names was tried just now and works.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use millrace_tracker::ingest::WorkerHealth;
use serde::Serialize;

use crate::App;

/// A database that does not answer for so long is not ready.
const DEADLINE: Duration = Duration::from_secs(3);

/// The process runs and answers.
pub(crate) async fn alive() -> impl IntoResponse {
    ([(header::CACHE_CONTROL, "no-store")], "ok\n")
}

#[derive(Debug, Serialize)]
struct Readiness {
    ready: bool,
    checks: Vec<Check>,
}

#[derive(Debug, Serialize)]
struct Check {
    what: String,
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

impl Check {
    fn of(what: String, error: Option<String>) -> Self {
        Self { what, ok: error.is_none(), why: error }
    }
}

/// Ready: the databases answer and every cluster's ingest runs. A cluster that is down does not make Millrace
/// unready, it serves what it can; ingest that is degraded says so without being unready.
pub(crate) async fn ready(State(app): State<Arc<App>>) -> Response {
    let mut checks = vec![Check::of("database".to_owned(), within(app.meta.check()).await)];
    let stores = app.clusters().iter().map(|cluster| async {
        Check::of(format!("traces of {}", cluster.name), within(cluster.traces.check()).await)
    });
    checks.extend(futures::future::join_all(stores).await);
    let now = app.clock.now();
    for cluster in app.clusters() {
        let what = format!("ingest of {}", cluster.name);
        checks.push(match cluster.ingest.status(now).health {
            WorkerHealth::Stopped => Check::of(what, Some("stopped".to_owned())),
            WorkerHealth::Off => Check { what, ok: true, why: Some("not run by this process".to_owned()) },
            WorkerHealth::Starting => Check { what, ok: true, why: Some("starting".to_owned()) },
            WorkerHealth::Degraded { why } => Check { what, ok: true, why: Some(why) },
            WorkerHealth::Running => Check::of(what, None),
        });
    }
    let ready = checks.iter().all(|check| check.ok);
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, [(header::CACHE_CONTROL, "no-store")], Json(Readiness { ready, checks })).into_response()
}

async fn within(check: impl Future<Output = millrace_store::Result<()>>) -> Option<String> {
    match tokio::time::timeout(DEADLINE, check).await {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(error.to_string()),
        Err(_) => Some(format!("no answer within {} s", DEADLINE.as_secs())),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
mod tests {
    use axum::http::StatusCode;

    use crate::testing::{broken_store_site, site};

    #[tokio::test]
    async fn readiness_names_what_fails() {
        let answer = site().get("/readyz").await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
        let site = broken_store_site();
        assert_eq!(site.get("/healthz").await.status, StatusCode::OK);
        let answer = site.get("/readyz").await;
        assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
        let body: serde_json::Value = serde_json::from_str(&answer.body).unwrap();
        assert_eq!(body["ready"], false);
        let failed: Vec<_> = body["checks"].as_array().unwrap().iter().filter(|c| c["ok"] == false).collect();
        assert_eq!(failed.len(), 1);
        assert_eq!(failed[0]["what"], "traces of shop");
        assert!(failed[0]["why"].as_str().unwrap().contains("locked"));
    }
}
