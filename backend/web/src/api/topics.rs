//! Topics.

use axum::Json;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum_extra::extract::Query;
use millrace_broker::TopicConfig;
use millrace_console::snapshot::{GroupOnTopic, TopicState};
use millrace_console::topics::{Chip, DeleteForm, NewTopicForm, TopicDetail, list as list_topics};
use millrace_console::{ConsoleError, FieldErrors, Outcomes};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Covered, Total, Value};
use crate::i18n::Locale;
use crate::pages::topics::fields::say;
use crate::pages::topics::list::Asked;
use crate::pages::topics::{WHO, failure};
use crate::{ClusterView, Failure, InCluster};

#[derive(Debug, Serialize, ToSchema)]
#[expect(clippy::struct_field_names, reason = "the names of the JSON")]
pub(crate) struct Topics {
    topics: Vec<Topic>,
    total: usize,
    page: usize,
    pages: usize,
    coverage: Covered,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Topic {
    name: String,
    /// `normal`, `fifo`, `delay`, `transaction`, `mixed`, `unspecified`, `retry`, `dead_letter` or `system`.
    kind: &'static str,
    brokers: Vec<String>,
    /// Write queues over all brokers.
    queues: Total<i64>,
    put_per_second: Total<f64>,
    /// From the lowest offset to the end over all queues: no count, as offsets may have holes.
    offset_span: Total<i64>,
    /// Null where every queue is empty.
    last_write: Value<Option<i64>>,
    groups: Vec<TopicGroup>,
    /// Of the group furthest behind; null where no group reads the topic.
    lag: Option<Total<i64>>,
    /// The brokers have different configurations of it.
    differs: bool,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TopicGroup {
    group: String,
    lag: Total<i64>,
    /// Messages that retention removed before the group read them.
    expired_unread: i64,
    /// How far its offsets lie beyond the queues' ends.
    beyond_end: i64,
    /// `steady`, `growing` or `stuck`.
    trend: String,
    /// No broker knows such a group: its offsets are left over.
    left_over: bool,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TopicInFull {
    name: String,
    brokers: Vec<TopicBroker>,
    queues: Vec<Queue>,
    groups: Vec<TopicReader>,
    coverage: Covered,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TopicBroker {
    broker: String,
    #[schema(value_type = Object)]
    config: TopicConfig,
    read_at: Option<i64>,
    /// Why the figures are old or absent.
    failure: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
#[expect(clippy::struct_field_names, reason = "the names of the JSON")]
pub(crate) struct Queue {
    broker: String,
    queue: i32,
    min: i64,
    /// One past the highest.
    max: i64,
    last_write: Option<i64>,
    read_at: i64,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TopicReader {
    group: String,
    /// Null where it is subscribed and has committed no offset.
    progress: Option<TopicGroup>,
    committed: Vec<Committed>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Committed {
    broker: String,
    queue: i32,
    offset: i64,
}

/// As typed: texts, which are parsed as the page's form is.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct NewTopic {
    name: String,
    write_queues: u32,
    /// As many as write queues, if left out.
    read_queues: Option<u32>,
    /// `rw`, `r` or `w`; `rw` if left out.
    perm: String,
    /// `normal`, `fifo`, `delay`, `transaction`, `mixed` or `unspecified`.
    message_type: String,
    brokers: Vec<String>,
}

#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default)]
pub(crate) struct Confirmed {
    /// The topic's name again.
    confirm: String,
    /// On these brokers; on all, if left out.
    #[serde(rename = "broker")]
    brokers: Vec<String>,
}

/// What came of it, place by place.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Done {
    succeeded: usize,
    failed: usize,
    outcomes: Vec<Outcome>,
    /// Why the audit trail does not have it.
    audit_error: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Outcome {
    /// A broker's or name server's name.
    at: String,
    /// Null: it worked.
    error: Option<String>,
}

/// What is wrong with each field. RFC 9457.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WrongFields {
    r#type: &'static str,
    title: &'static str,
    status: u16,
    errors: Vec<WrongField>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WrongField {
    field: &'static str,
    code: &'static str,
    /// In a sentence, in English.
    message: String,
}

/// 422 with every field's error, or the failure.
pub(super) fn refused(view: &ClusterView, error: ConsoleError) -> Result<Response, Failure> {
    match error {
        ConsoleError::Invalid(errors) => Ok(wrong_fields(&errors)),
        other => Err(failure(view, other)),
    }
}

fn wrong_fields(errors: &FieldErrors) -> Response {
    let errors = errors.0.iter().map(|error| WrongField {
        field: error.field,
        code: error.code,
        message: say(error).text(Locale::En),
    });
    let body = WrongFields {
        r#type: "about:blank",
        title: "some fields are not as they must be",
        status: 422,
        errors: errors.collect(),
    };
    let json = serde_json::to_string(&body).unwrap_or_default();
    let kind = [(axum::http::header::CONTENT_TYPE, "application/problem+json")];
    (StatusCode::UNPROCESSABLE_ENTITY, kind, json).into_response()
}

impl From<&TopicState> for Topic {
    fn from(state: &TopicState) -> Self {
        Self {
            name: state.name.clone(),
            kind: Chip::of(state).word(),
            brokers: state.brokers.iter().map(|place| place.broker.clone()).collect(),
            queues: Total::from(&state.queues),
            put_per_second: Total::from(&state.per_second),
            offset_span: Total::from(&state.span),
            last_write: state.last_write.clone().map(|at| at.map(|at| at.0)).into(),
            groups: state.groups.iter().map(|on| TopicGroup::from(on.as_ref())).collect(),
            lag: state.lag.as_ref().map(Total::from),
            differs: state.differs,
        }
    }
}

impl From<&GroupOnTopic> for TopicGroup {
    fn from(on: &GroupOnTopic) -> Self {
        use millrace_console::snapshot::Trend;
        Self {
            group: on.group.clone(),
            lag: Total::from(&on.lag),
            expired_unread: on.expired_unread,
            beyond_end: on.beyond_end,
            trend: match on.trend {
                Trend::Steady => "steady",
                Trend::Growing { .. } => "growing",
                Trend::Stuck { .. } => "stuck",
            }
            .to_owned(),
            left_over: on.left_over,
        }
    }
}

impl From<TopicDetail> for TopicInFull {
    fn from(detail: TopicDetail) -> Self {
        let queues = detail.queues().map(|at| Queue {
            broker: at.broker.to_owned(),
            queue: at.stats.queue.queue,
            min: at.stats.min,
            max: at.stats.max,
            last_write: at.stats.last_update.map(|at| at.0),
            read_at: at.read_at.0,
        });
        Self {
            queues: queues.collect(),
            groups: detail
                .readers
                .iter()
                .map(|reader| TopicReader {
                    group: reader.group.clone(),
                    progress: reader.lag.as_ref().map(TopicGroup::from),
                    committed: reader
                        .committed
                        .iter()
                        .map(|(broker, queue, offset)| Committed {
                            broker: broker.clone(),
                            queue: *queue,
                            offset: *offset,
                        })
                        .collect(),
                })
                .collect(),
            coverage: Covered::from(&detail.coverage),
            brokers: detail
                .brokers
                .into_iter()
                .map(|place| TopicBroker {
                    broker: place.broker,
                    config: place.config,
                    read_at: place.read_at.map(|at| at.0),
                    failure: place.failure.map(|failure| failure.why.english()),
                })
                .collect(),
            name: detail.name,
        }
    }
}

impl From<Outcomes> for Done {
    fn from(outcomes: Outcomes) -> Self {
        Self {
            succeeded: outcomes.succeeded(),
            failed: outcomes.failed(),
            outcomes: outcomes.each.into_iter().map(|each| Outcome { at: each.at, error: each.error }).collect(),
            audit_error: outcomes.audit_error,
        }
    }
}

/// Topics from the last snapshot; a page makes no call to a broker.
#[utoipa::path(
    get, path = "/api/v1/clusters/{cluster}/topics", tag = "topics",
    params(
        ("cluster" = String, Path, description = "the cluster's name in the configuration"),
        ("filter" = Option<String>, Query, description = "part of the name or of a reading group's name"),
        ("kind" = Option<String>, Query, description = "one kind alone, as in the answer"),
        ("all" = Option<String>, Query, description = "1: retry, dead-letter and system topics too"),
        ("sort" = Option<String>, Query, description = "name, type, queues, rate, groups, lag or last_write; unknown comes last"),
        ("desc" = Option<String>, Query, description = "1: from the largest"),
        ("page" = Option<usize>, Query, description = "from 1"),
        ("size" = Option<usize>, Query, description = "rows of a page, 500 at most"),
    ),
    responses((status = 200, body = Topics), (status = 404, body = super::Problem)),
)]
pub(crate) async fn list(InCluster { view, .. }: InCluster, Query(asked): Query<Asked>) -> Json<Topics> {
    let page = list_topics(&view.console.snapshot(), &asked.query());
    Json(Topics {
        topics: page.rows.iter().map(|state| Topic::from(state.as_ref())).collect(),
        total: page.total,
        page: page.page,
        pages: page.pages,
        coverage: Covered::from(&page.coverage),
    })
}

/// One topic, read now from every broker that has it.
#[utoipa::path(
    get, path = "/api/v1/clusters/{cluster}/topics/{topic}", tag = "topics",
    params(("cluster" = String, Path, description = "the cluster's name"), ("topic" = String, Path, description = "the topic's name")),
    responses((status = 200, body = TopicInFull), (status = 404, body = super::Problem)),
)]
pub(crate) async fn show(
    InCluster { view, .. }: InCluster,
    Path((_, topic)): Path<(String, String)>,
) -> Result<Json<TopicInFull>, Failure> {
    let detail = view.console.topic(&topic).await.map_err(|error| failure(&view, error))?;
    Ok(Json(TopicInFull::from(detail)))
}

/// Makes a topic on the chosen brokers. 200 also where some of them failed: each outcome says.
#[utoipa::path(
    post, path = "/api/v1/clusters/{cluster}/topics", tag = "topics", request_body = NewTopic,
    params(("cluster" = String, Path, description = "the cluster's name")),
    responses((status = 200, body = Done), (status = 403, body = super::Problem), (status = 422, body = WrongFields)),
)]
pub(crate) async fn create(InCluster { view, .. }: InCluster, Json(new): Json<NewTopic>) -> Result<Response, Failure> {
    let form = NewTopicForm {
        name: new.name,
        write_queues: new.write_queues.to_string(),
        read_queues: new.read_queues.map(|queues| queues.to_string()).unwrap_or_default(),
        perm: new.perm,
        message_type: new.message_type,
        brokers: new.brokers,
    };
    match view.console.create_topic(WHO, &form).await {
        Ok(outcomes) => Ok(Json(Done::from(outcomes)).into_response()),
        Err(error) => refused(&view, error),
    }
}

/// Deletes a topic with every message in it. `confirm` must be its name.
#[utoipa::path(
    delete, path = "/api/v1/clusters/{cluster}/topics/{topic}", tag = "topics",
    params(
        ("cluster" = String, Path, description = "the cluster's name"), ("topic" = String, Path, description = "the topic's name"),
        ("confirm" = String, Query, description = "the topic's name again"),
        ("broker" = Option<Vec<String>>, Query, description = "on these brokers; on all, if left out"),
    ),
    responses((status = 200, body = Done), (status = 403, body = super::Problem), (status = 404, body = super::Problem), (status = 422, body = WrongFields)),
)]
pub(crate) async fn delete(
    InCluster { view, .. }: InCluster,
    Path((_, topic)): Path<(String, String)>,
    Query(confirmed): Query<Confirmed>,
) -> Result<Response, Failure> {
    let form = DeleteForm { confirm: confirmed.confirm, brokers: confirmed.brokers };
    match view.console.delete_topic(WHO, &topic, &form).await {
        Ok(outcomes) => Ok(Json(Done::from(outcomes)).into_response()),
        Err(error) => refused(&view, error),
    }
}
