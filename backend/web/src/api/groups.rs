//! Consumer groups.

use axum::Json;
use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use axum_extra::extract::Query;
use millrace_broker::{ClientRunning, GroupConfig};
use millrace_console::groups::{
    ClientSays, DeleteGroupForm, GroupDetail, GroupForm, GroupQueue, Standing, list as list_groups,
};
use millrace_console::snapshot::GroupState;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::topics::{Done, WrongFields, refused};
use super::{Covered, Total, Value};
use crate::pages::groups::list::Asked;
use crate::pages::topics::{WHO, failure};
use crate::{Failure, InCluster};

#[derive(Debug, Serialize, ToSchema)]
#[expect(clippy::struct_field_names, reason = "the names of the JSON")]
pub(crate) struct Groups {
    groups: Vec<Group>,
    total: usize,
    page: usize,
    pages: usize,
    coverage: Covered,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Group {
    name: String,
    /// `stuck`, `offline`, `growing`, `unknown`, `reading`, `done`, `no_offset` or `left_over`.
    standing: &'static str,
    brokers: Vec<String>,
    topics: Vec<String>,
    /// Different client ids that are online.
    clients: Total<i64>,
    /// `CONSUME_PASSIVELY`, `CONSUME_ACTIVELY` or `CONSUME_POP`; empty while nobody is online.
    consume_type: String,
    /// `CLUSTERING` or `BROADCASTING`; empty while nobody is online.
    message_model: String,
    /// Null where it has committed no offset.
    lag: Option<Total<i64>>,
    consumed_per_second: Value<f64>,
    /// When the oldest message was stored that it has not consumed; null where it consumed all.
    oldest_unread: Value<Option<i64>>,
    /// Offset span of its dead-letter topic; null where there is none.
    dead_letters: Option<Total<i64>>,
    /// The brokers have different configurations of it.
    differs: bool,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct GroupInFull {
    name: String,
    consume_type: String,
    message_model: String,
    queues: Vec<GroupProgress>,
    clients: Vec<GroupClient>,
    /// Topics that its clients subscribe to in different ways: messages get lost.
    mismatches: Vec<GroupMismatch>,
    configs: Vec<GroupAtBroker>,
    coverage: Covered,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct GroupAtBroker {
    broker: String,
    #[schema(value_type = Object)]
    config: GroupConfig,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct GroupProgress {
    topic: String,
    broker: String,
    queue: i32,
    /// One past the highest offset.
    end: i64,
    /// Null where it never committed.
    committed: Option<i64>,
    lag: Option<i64>,
    last_consumed: Option<i64>,
    oldest_unread: Value<Option<i64>>,
    /// Ids of the clients that say they read it.
    owners: Vec<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct GroupClient {
    id: String,
    address: String,
    language: String,
    version: String,
    brokers: Vec<String>,
    /// How many queues it reads; unknown where it does not answer.
    queues: Value<usize>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct GroupMismatch {
    topic: String,
    ways: Vec<GroupWay>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct GroupWay {
    /// Null: these clients do not subscribe to the topic.
    expression: Option<String>,
    clients: Vec<String>,
}

/// What a client says of itself.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ClientInFull {
    id: String,
    #[schema(value_type = Object)]
    running: ClientRunning,
}

/// A group's settings. What is left out is RocketMQ's default.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct GroupIn {
    name: String,
    /// Off: its clients get nothing until it is on again.
    consume_enable: bool,
    broadcast_enable: bool,
    orderly: bool,
    /// Deliveries after the first; -1: clients decide.
    retry_max_times: i32,
    retry_queues: i32,
    brokers: Vec<String>,
}

impl Default for GroupIn {
    fn default() -> Self {
        Self {
            name: String::new(),
            consume_enable: true,
            broadcast_enable: true,
            orderly: false,
            retry_max_times: 16,
            retry_queues: 1,
            brokers: Vec::new(),
        }
    }
}

impl From<GroupIn> for GroupForm {
    fn from(group: GroupIn) -> Self {
        let flag = |on: bool| if on { "1".to_owned() } else { String::new() };
        Self {
            name: group.name,
            consume: flag(group.consume_enable),
            broadcast: flag(group.broadcast_enable),
            orderly: flag(group.orderly),
            retry_max: group.retry_max_times.to_string(),
            retry_queues: group.retry_queues.to_string(),
            brokers: group.brokers,
        }
    }
}

#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default)]
pub(crate) struct GroupConfirmed {
    /// The group's name again.
    confirm: String,
    /// `1`: its dead letters go, too.
    dead_letters: String,
}

impl From<&GroupState> for Group {
    fn from(state: &GroupState) -> Self {
        Self {
            name: state.name.clone(),
            standing: Standing::of(state).word(),
            brokers: state.brokers.iter().map(|place| place.broker.clone()).collect(),
            topics: state.topics.iter().map(|on| on.topic.clone()).collect(),
            clients: Total::from(&state.clients.online),
            consume_type: state.clients.consume_type.clone(),
            message_model: state.clients.message_model.clone(),
            lag: state.lag.as_ref().map(Total::from),
            consumed_per_second: state.per_second.clone().into(),
            oldest_unread: state.oldest_unread.clone().map(|at| at.map(|at| at.0)).into(),
            dead_letters: state.dead.as_ref().map(Total::from),
            differs: state.differs,
        }
    }
}

impl From<&GroupQueue> for GroupProgress {
    fn from(at: &GroupQueue) -> Self {
        Self {
            topic: at.queue.topic.clone(),
            broker: at.queue.broker.clone(),
            queue: at.queue.queue,
            end: at.end,
            committed: at.committed,
            lag: at.lag(),
            last_consumed: at.last_consumed.map(|at| at.0),
            oldest_unread: at.oldest_unread.clone().map(|at| at.map(|at| at.0)).into(),
            owners: at.owners.clone(),
        }
    }
}

impl From<GroupDetail> for GroupInFull {
    fn from(detail: GroupDetail) -> Self {
        let clients = detail.clients.iter().map(|client| GroupClient {
            id: client.connection.client_id.clone(),
            address: client.connection.address.clone(),
            language: client.connection.language.clone(),
            version: client.connection.version.clone(),
            brokers: client.brokers.clone(),
            queues: match &client.says {
                ClientSays::Running(running) => Value::Known(running.queues.len()),
                ClientSays::Nothing(why) => Value::Unknown(why.english()),
            },
        });
        let mismatches = detail.mismatches.iter().map(|mismatch| GroupMismatch {
            topic: mismatch.topic.clone(),
            ways: mismatch
                .ways
                .iter()
                .map(|(way, clients)| GroupWay {
                    expression: way.as_ref().map(|way| way.expression.clone()),
                    clients: clients.clone(),
                })
                .collect(),
        });
        let places = detail.state.iter().flat_map(|state| &state.brokers);
        let configs = places.map(|at| GroupAtBroker { broker: at.broker.clone(), config: at.config.clone() });
        Self {
            queues: detail.queues.iter().map(GroupProgress::from).collect(),
            clients: clients.collect(),
            mismatches: mismatches.collect(),
            configs: configs.collect(),
            coverage: Covered::from(&detail.coverage),
            name: detail.name,
            consume_type: detail.consume_type,
            message_model: detail.message_model,
        }
    }
}

/// Groups from the last snapshot; a page makes no call to a broker.
#[utoipa::path(
    get, path = "/api/v1/clusters/{cluster}/groups", tag = "groups",
    params(
        ("cluster" = String, Path, description = "the cluster's name in the configuration"),
        ("filter" = Option<String>, Query, description = "part of the name or of a topic that it reads"),
        ("standing" = Option<String>, Query, description = "one standing alone, as in the answer"),
        ("all" = Option<String>, Query, description = "1: RocketMQ's own groups too"),
        ("sort" = Option<String>, Query, description = "name, standing, clients, topics, rate, lag or age; unknown comes last"),
        ("desc" = Option<String>, Query, description = "1: from the largest"),
        ("page" = Option<usize>, Query, description = "from 1"),
        ("size" = Option<usize>, Query, description = "rows of a page, 500 at most"),
    ),
    responses((status = 200, body = Groups), (status = 404, body = super::Problem)),
)]
pub(crate) async fn list(InCluster { view, .. }: InCluster, Query(asked): Query<Asked>) -> Json<Groups> {
    let page = list_groups(&view.console.snapshot(), &asked.query());
    Json(Groups {
        groups: page.rows.iter().map(|state| Group::from(state.as_ref())).collect(),
        total: page.total,
        page: page.page,
        pages: page.pages,
        coverage: Covered::from(&page.coverage),
    })
}

/// One group, read now from every broker that knows it; its clients are asked what they read.
#[utoipa::path(
    get, path = "/api/v1/clusters/{cluster}/groups/{group}", tag = "groups",
    params(("cluster" = String, Path, description = "the cluster's name"), ("group" = String, Path, description = "the group's name")),
    responses((status = 200, body = GroupInFull), (status = 404, body = super::Problem)),
)]
pub(crate) async fn show(
    InCluster { view, .. }: InCluster,
    Path((_, group)): Path<(String, String)>,
) -> Result<Json<GroupInFull>, Failure> {
    let detail = view.console.group(&group).await.map_err(|error| failure(&view, error))?;
    Ok(Json(GroupInFull::from(detail)))
}

/// What one client says of itself, with the stacks of its threads.
#[utoipa::path(
    get, path = "/api/v1/clusters/{cluster}/groups/{group}/clients/{client}", tag = "groups",
    params(
        ("cluster" = String, Path, description = "the cluster's name"), ("group" = String, Path, description = "the group's name"),
        ("client" = String, Path, description = "the client's id"),
    ),
    responses((status = 200, body = ClientInFull), (status = 404, body = super::Problem)),
)]
pub(crate) async fn client(
    InCluster { view, .. }: InCluster,
    Path((_, group, id)): Path<(String, String, String)>,
) -> Result<Json<ClientInFull>, Failure> {
    let running = view.console.client_stacks(&group, &id).await.map_err(|error| failure(&view, error))?;
    Ok(Json(ClientInFull { id, running }))
}

/// Makes a group on the chosen brokers. 200 also where some of them failed: each outcome says.
#[utoipa::path(
    post, path = "/api/v1/clusters/{cluster}/groups", tag = "groups", request_body = GroupIn,
    params(("cluster" = String, Path, description = "the cluster's name")),
    responses((status = 200, body = Done), (status = 403, body = super::Problem), (status = 422, body = WrongFields)),
)]
pub(crate) async fn create(InCluster { view, .. }: InCluster, Json(group): Json<GroupIn>) -> Result<Response, Failure> {
    match view.console.create_group(WHO, &group.into()).await {
        Ok(outcomes) => Ok(Json(Done::from(outcomes)).into_response()),
        Err(error) => refused(&view, error),
    }
}

/// Changes a group on the chosen brokers, all of which must have it. The name is that of the address.
#[utoipa::path(
    put, path = "/api/v1/clusters/{cluster}/groups/{group}", tag = "groups", request_body = GroupIn,
    params(("cluster" = String, Path, description = "the cluster's name"), ("group" = String, Path, description = "the group's name")),
    responses((status = 200, body = Done), (status = 403, body = super::Problem), (status = 404, body = super::Problem), (status = 422, body = WrongFields)),
)]
pub(crate) async fn change(
    InCluster { view, .. }: InCluster,
    Path((_, name)): Path<(String, String)>,
    Json(group): Json<GroupIn>,
) -> Result<Response, Failure> {
    match view.console.change_group(WHO, &name, &group.into()).await {
        Ok(outcomes) => Ok(Json(Done::from(outcomes)).into_response()),
        Err(error) => refused(&view, error),
    }
}

/// Deletes a group with its offsets and its retry topic. `confirm` must be its name.
#[utoipa::path(
    delete, path = "/api/v1/clusters/{cluster}/groups/{group}", tag = "groups",
    params(
        ("cluster" = String, Path, description = "the cluster's name"), ("group" = String, Path, description = "the group's name"),
        ("confirm" = String, Query, description = "the group's name again"),
        ("dead_letters" = Option<String>, Query, description = "1: its dead letters go, too"),
    ),
    responses((status = 200, body = Done), (status = 403, body = super::Problem), (status = 404, body = super::Problem), (status = 422, body = WrongFields)),
)]
pub(crate) async fn delete(
    InCluster { view, .. }: InCluster,
    Path((_, group)): Path<(String, String)>,
    Query(confirmed): Query<GroupConfirmed>,
) -> Result<Response, Failure> {
    let form = DeleteGroupForm { confirm: confirmed.confirm, dead_letters: confirmed.dead_letters };
    match view.console.delete_group(WHO, &group, &form).await {
        Ok(outcomes) => Ok(Json(Done::from(outcomes)).into_response()),
        Err(error) => refused(&view, error),
    }
}
