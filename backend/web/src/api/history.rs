//! What was: figures over time, and everything at a moment.

use axum::Json;
use axum::extract::Path;
use axum::response::{IntoResponse as _, Response};
use axum_extra::extract::Query;
use millrace_console::history::{Kind, Point};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::cx::Cx;
use crate::pages::history::line::Asked as AskedLine;
use crate::pages::history::moment::Asked as AskedMoment;
use crate::pages::topics::{failure, fields};
use crate::{ClusterView, Failure, InCluster};

/// Figures at equal steps.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct History {
    from: i64,
    /// Milliseconds.
    step: i64,
    /// Oldest first; null where nothing was recorded. A figure that was not known is null.
    #[schema(value_type = Vec<Option<Object>>)]
    points: Vec<Option<Value>>,
}

/// A cluster at a moment.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Moment {
    /// The minute, or the hour, that the moment lies in.
    from: i64,
    until: i64,
    /// From the first to the last instant that is recorded; null: nothing is.
    recorded: Option<(i64, i64)>,
    #[schema(value_type = Object)]
    topics: Map<String, Value>,
    #[schema(value_type = Object)]
    groups: Map<String, Value>,
    #[schema(value_type = Object)]
    brokers: Map<String, Value>,
}

fn named(kind: Kind, point: &Point) -> Value {
    let figures = kind.figures().iter().zip(point);
    Value::Object(figures.map(|(name, figure)| ((*name).to_owned(), Value::from(*figure))).collect())
}

async fn line(view: &ClusterView, kind: Kind, name: &str, asked: &AskedLine) -> Result<Response, Failure> {
    let line = view.console.history_of(kind, name, asked.range()).await.map_err(|error| failure(view, error))?;
    let points = line.points.iter().map(|point| point.as_ref().map(|point| named(kind, point))).collect();
    Ok(Json(History { from: line.from.0, step: line.step, points }).into_response())
}

type Named = Path<(String, String)>;

/// A topic's figures over time.
#[utoipa::path(
    get, path = "/api/v1/clusters/{cluster}/topics/{topic}/history", tag = "history",
    params(
        ("cluster" = String, Path), ("topic" = String, Path),
        ("range" = Option<String>, Query, description = "`1h`, `24h` (default), `7d` or `90d`.")
    ),
    responses(
        (status = 200, description = "Each point: `messages_per_second` (mean), `lag` of the slowest group (largest), `messages` from the lowest offset to the end.", body = History),
        (status = 404, body = super::Problem)
    )
)]
pub(crate) async fn topic(
    InCluster { view, .. }: InCluster,
    Path((_, topic)): Named,
    Query(asked): Query<AskedLine>,
) -> Result<Response, Failure> {
    line(&view, Kind::Topic, &topic, &asked).await
}

/// A group's figures over time.
#[utoipa::path(
    get, path = "/api/v1/clusters/{cluster}/groups/{group}/history", tag = "history",
    params(
        ("cluster" = String, Path), ("group" = String, Path),
        ("range" = Option<String>, Query, description = "`1h`, `24h` (default), `7d` or `90d`.")
    ),
    responses(
        (status = 200, description = "Each point: `lag` (largest), `wait_ms` of the oldest message not consumed (longest), `consumed_per_second` (mean), `clients` online.", body = History),
        (status = 404, body = super::Problem)
    )
)]
pub(crate) async fn group(
    InCluster { view, .. }: InCluster,
    Path((_, group)): Named,
    Query(asked): Query<AskedLine>,
) -> Result<Response, Failure> {
    line(&view, Kind::Group, &group, &asked).await
}

/// A broker's figures over time.
#[utoipa::path(
    get, path = "/api/v1/clusters/{cluster}/brokers/{broker}/history", tag = "history",
    params(
        ("cluster" = String, Path), ("broker" = String, Path),
        ("range" = Option<String>, Query, description = "`1h`, `24h` (default), `7d` or `90d`.")
    ),
    responses(
        (status = 200, description = "Each point: `put_per_second`, `get_per_second` (mean), `disk_used` and `answered`, shares from 0 to 1.", body = History),
        (status = 404, body = super::Problem)
    )
)]
pub(crate) async fn broker(
    InCluster { view, .. }: InCluster,
    Path((_, broker)): Named,
    Query(asked): Query<AskedLine>,
) -> Result<Response, Failure> {
    line(&view, Kind::Broker, &broker, &asked).await
}

/// Everything at a moment.
#[utoipa::path(
    get, path = "/api/v1/clusters/{cluster}/history", tag = "history",
    params(
        ("cluster" = String, Path),
        ("at" = Option<String>, Query, description = "An hour ago where absent. ISO 8601, a number since 1970, or a time ago such as `-2h`.")
    ),
    responses(
        (status = 200, description = "Figures by name, as in the histories of topics, groups and brokers; empty where nothing was recorded.", body = Moment),
        (status = 404, body = super::Problem),
        (status = 422, body = super::Problem)
    )
)]
pub(crate) async fn moment(
    InCluster { cx, view }: InCluster,
    Query(asked): Query<AskedMoment>,
) -> Result<Response, Failure> {
    let at = read(&asked, &cx, &view)?;
    let moment = view.console.moment(at).await.map_err(|error| failure(&view, error))?;
    let of = |kind| moment.of(kind).map(|(name, point)| (name.to_owned(), named(kind, point))).collect();
    let answer = Moment {
        from: moment.from.0,
        until: moment.until.0,
        recorded: moment.recorded.map(|(first, last)| (first.0, last.0)),
        topics: of(Kind::Topic),
        groups: of(Kind::Group),
        brokers: of(Kind::Broker),
    };
    Ok(Json(answer).into_response())
}

fn read(asked: &AskedMoment, cx: &Cx, view: &ClusterView) -> Result<millrace_core::time::Millis, Failure> {
    asked.at(cx, view.console.now()).map_err(|errors| {
        let first = errors.0.first().map(fields::say);
        Failure::Invalid(first.unwrap_or_else(|| crate::i18n::Msg::new("messages-error-time")))
    })
}
