//! Clusters.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use millrace_console::overview::BrokerLine;
use millrace_core::coverage::Why;
use millrace_core::time::Millis;
use serde::Serialize;
use utoipa::ToSchema;

use super::{Covered, Total, Value};
use crate::i18n::Locale;
use crate::pages::overview;
use crate::{App, ClusterView, InCluster};

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

/// A broker's line.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Broker {
    name: String,
    address: Option<String>,
    replicas: usize,
    has_master: bool,
    /// Why the last reading failed.
    failure: Option<String>,
    failing_since: Option<i64>,
    read_at: Option<i64>,
    version: Value<String>,
    put_per_second: Value<f64>,
    get_per_second: Value<f64>,
    /// Share of the commit log's disk in use, 0 to 1.
    disk_used: Value<f64>,
    up_since: Value<i64>,
    topics: Value<usize>,
    groups: Value<usize>,
}

/// Something that wants a person: `what` it is, with the things and figures that it is about.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Attention {
    /// `warn` or `bad`.
    state: &'static str,
    /// In a sentence, in English.
    headline: String,
    detail: String,
    #[serde(flatten)]
    #[schema(value_type = Object)]
    facts: millrace_console::overview::Attention,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct NameServer {
    address: String,
    /// Why it does not answer.
    failure: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ClusterOverview {
    #[serde(flatten)]
    summary: ClusterSummary,
    coverage: Covered,
    name_servers: Vec<NameServer>,
    brokers: Vec<Broker>,
    /// Topics that people made.
    topics: Value<usize>,
    groups: Value<usize>,
    /// Into topics that people made.
    put_per_second: Total<f64>,
    attention: Vec<Attention>,
}

/// All configured clusters.
#[utoipa::path(get, path = "/api/v1/clusters", responses((status = 200, body = Clusters)), tag = "clusters")]
pub(crate) async fn list(State(app): State<Arc<App>>) -> Json<Clusters> {
    let now = app.clock.now();
    Json(Clusters { clusters: app.clusters().iter().map(|view| summary(view, now)).collect() })
}

fn summary(view: &ClusterView, now: Millis) -> ClusterSummary {
    let verdict = overview::verdict(view, now, Locale::En);
    ClusterSummary {
        name: view.name.clone(),
        writable: view.console.writable(),
        state: verdict.state.name(),
        headline: verdict.headline.text(Locale::En),
    }
}

/// One cluster: brokers, rates and what wants a person.
#[utoipa::path(
    get, path = "/api/v1/clusters/{cluster}", tag = "clusters",
    params(("cluster" = String, Path, description = "the cluster's name in the configuration")),
    responses((status = 200, body = ClusterOverview), (status = 404, body = super::Problem)),
)]
pub(crate) async fn overview(InCluster { cx, view }: InCluster) -> Json<ClusterOverview> {
    let (overview, _) = overview::read(&view, cx.now);
    let attention = |attention: millrace_console::overview::Attention| Attention {
        state: overview::state(&attention).name(),
        headline: overview::headline(&attention, cx.now, Locale::En).text(Locale::En),
        detail: overview::detail(&attention).text(Locale::En),
        facts: attention,
    };
    let counted = |count: usize| match overview.coverage.as_of {
        Some(_) => Value::Known(count),
        None => Value::Unknown(Why::NotReadYet.english()),
    };
    Json(ClusterOverview {
        summary: summary(&view, cx.now),
        coverage: Covered::from(&overview.coverage),
        put_per_second: Total::from(&overview.put_per_second),
        topics: counted(overview.topics),
        groups: counted(overview.groups),
        attention: overview.attention.into_iter().map(attention).collect(),
        name_servers: overview
            .name_servers
            .into_iter()
            .map(|(address, failure)| NameServer { address, failure: failure.map(|why| why.english()) })
            .collect(),
        brokers: overview.brokers.into_iter().map(Broker::from).collect(),
    })
}

impl From<BrokerLine> for Broker {
    fn from(line: BrokerLine) -> Self {
        let (failure, failing_since) =
            line.failure.map_or((None, None), |failure| (Some(failure.why.english()), Some(failure.since.0)));
        Self {
            name: line.name,
            address: line.address,
            replicas: line.replicas,
            has_master: line.has_master,
            failure,
            failing_since,
            read_at: line.read_at.map(|at| at.0),
            version: line.version.into(),
            put_per_second: line.put_per_second.into(),
            get_per_second: line.get_per_second.into(),
            disk_used: line.disk_used.into(),
            up_since: line.up_since.map(|at| at.0).into(),
            topics: line.topics.into(),
            groups: line.groups.into(),
        }
    }
}
