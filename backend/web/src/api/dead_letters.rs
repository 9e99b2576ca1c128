//! Dead letters, and sending them again.

use axum::Json;
use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use axum_extra::extract::Query;
use millrace_console::dead_letters::{ResendForm, ResendOutcome};
use millrace_console::messages::{Cursor, Limits};
use millrace_console::{ConsoleError, FieldErrors};
use millrace_core::coverage::Known;
use millrace_core::name::DLQ_PREFIX;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::messages::Message;
use super::topics::{WrongFields, refused};
use super::{Covered, Total, Value};
use crate::pages::messages::browse::{Asked, By, Times, browse_of};
use crate::pages::topics::WHO;
use crate::{ClusterView, Cx, Failure, InCluster};

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DeadLetterGroups {
    /// The group whose last message died last comes first.
    groups: Vec<DeadLetterGroup>,
    coverage: Covered,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DeadLetterGroup {
    group: String,
    /// A broker knows the group still.
    known: bool,
    topic: String,
    /// From the lowest offset to the end.
    letters: Total<i64>,
    /// When the last one was stored; null inside: there is none.
    last: Value<Option<i64>>,
}

/// Groups that have a dead-letter topic.
#[utoipa::path(
    get, path = "/api/v1/clusters/{cluster}/dead-letters", tag = "dead letters",
    params(("cluster" = String, Path, description = "the cluster's name")),
    responses((status = 200, body = DeadLetterGroups)),
)]
pub(crate) async fn groups(InCluster { view, .. }: InCluster) -> Json<DeadLetterGroups> {
    let told = view.console.dead_letter_groups();
    let groups = told.rows.into_iter().map(|row| DeadLetterGroup {
        known: row.state.is_some(),
        topic: row.topic.name.clone(),
        letters: Total::from(&row.topic.span),
        last: match &row.topic.last_write {
            Known::Known(at) => Value::Known(at.map(|at| at.0)),
            Known::Unknown(why) => Value::Unknown(why.english()),
        },
        group: row.group,
    });
    Json(DeadLetterGroups { groups: groups.collect(), coverage: Covered::from(&told.coverage) })
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DeadLetters {
    letters: Vec<DeadLetter>,
    /// On all pages together, as counted for the first.
    total: i64,
    /// `cursor` of the next page; null at the end.
    next: Option<String>,
    coverage: Covered,
    /// Why it is not known which were sent again.
    resent_error: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DeadLetter {
    /// `broker/queue/offset`, for sending it again.
    place: String,
    /// The topic that it came from.
    origin_topic: Option<String>,
    /// Offset message id of the original.
    origin_id: Option<String>,
    /// The last time that it was sent again from here.
    resent: Option<ResentOnce>,
    message: Message,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ResentOnce {
    at: i64,
    who: String,
    message_id: String,
}

/// A group's dead letters, newest first.
#[utoipa::path(
    get, path = "/api/v1/clusters/{cluster}/groups/{group}/dead-letters", tag = "dead letters",
    params(
        ("cluster" = String, Path, description = "the cluster's name"), ("group" = String, Path, description = "the group's name"),
        ("by" = Option<String>, Query, description = "newest or time"),
        ("from" = Option<String>, Query, description = "by time: ISO 8601 (UTC without an offset), epoch in s, ms, µs or ns, or -15m; included"),
        ("to" = Option<String>, Query, description = "by time: as from; included"),
        ("order" = Option<String>, Query, description = "by time: newest or oldest first"),
        ("size" = Option<usize>, Query, description = "rows of a page, 200 at most"),
        ("cursor" = Option<String>, Query, description = "next of the page before"),
    ),
    responses((status = 200, body = DeadLetters), (status = 404, body = super::Problem), (status = 422, body = WrongFields)),
)]
pub(crate) async fn list(
    InCluster { cx, view }: InCluster,
    Path((_, group)): Path<(String, String)>,
    Query(asked): Query<Asked>,
) -> Result<Response, Failure> {
    match find(&view, &cx, &group, &asked).await {
        Ok(found) => Ok(Json(found).into_response()),
        Err(error) => refused(&view, error),
    }
}

async fn find(view: &ClusterView, cx: &Cx, group: &str, asked: &Asked) -> Result<DeadLetters, ConsoleError> {
    let times = Times::read(asked, &crate::format::Zone::default(), cx.now)?;
    let asked = match asked.by() {
        By::Newest | By::Time => asked,
        _ => return Err(FieldErrors::one("by", "by-unknown").into()),
    };
    let browse = browse_of(asked, times, cx.now)?;
    let cursor = (!asked.cursor.is_empty())
        .then(|| Cursor::parse(&asked.cursor, &format!("{DLQ_PREFIX}{group}")))
        .transpose()
        .map_err(|_| FieldErrors::one("cursor", "cursor-damaged"))?;
    let told = view.console.dead_letters(group, &browse, asked.size.unwrap_or(32), cursor, Limits::default()).await?;
    let letters = told.page.rows.iter().zip(told.letters).map(|(row, letter)| DeadLetter {
        place: format!("{}/{}/{}", row.message.queue.broker, row.message.queue.queue, row.message.offset),
        origin_topic: letter.origin.topic,
        origin_id: letter.origin.message_id,
        resent: letter.resent.map(|resent| ResentOnce {
            at: resent.at.0,
            who: resent.who,
            message_id: resent.message_id,
        }),
        message: Message::start(&row.message),
    });
    Ok(DeadLetters {
        letters: letters.collect(),
        total: told.page.total,
        next: told.page.next.map(|next| next.encode()),
        coverage: Covered::from(&told.page.coverage),
        resent_error: told.resent_error,
    })
}

/// Dead letters to send again.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ResendIn {
    /// A name of your own for this request, 8 to 64 letters, digits, - and _: repeated under the same name, nothing is
    /// sent twice.
    attempt: String,
    /// `group`: to its retry topic, as the same records. `topic`: to the topic that each came from, as new messages for
    /// every group.
    target: String,
    /// `broker/queue/offset` of each, 1000 at most.
    places: Vec<String>,
    /// At most so many a second, 1 to 1000; 50, if left out.
    per_second: Option<u32>,
}

impl From<ResendIn> for ResendForm {
    fn from(wanted: ResendIn) -> Self {
        let ResendIn { attempt, target, places, per_second } = wanted;
        Self { attempt, target, places, per_second: per_second.map(|rate| rate.to_string()).unwrap_or_default() }
    }
}

/// What became of each, in the order of the request.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ResentOut {
    letters: Vec<LetterOutcome>,
    /// Those that were sent, now or before.
    done: usize,
    /// Why the audit trail does not have it.
    audit_error: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LetterOutcome {
    place: String,
    /// `sent`, `sent_before`, `weakly` (stored, see `why`), `in_doubt`, `dead_again` (the broker moved it back, as for
    /// groups that read in order), `gone` or `refused`.
    outcome: &'static str,
    message_id: Option<String>,
    why: Option<String>,
}

/// Sends dead letters again.
#[utoipa::path(
    post, path = "/api/v1/clusters/{cluster}/groups/{group}/dead-letters", tag = "dead letters", request_body = ResendIn,
    params(("cluster" = String, Path, description = "the cluster's name"), ("group" = String, Path, description = "the group's name")),
    responses(
        (status = 200, body = ResentOut), (status = 403, body = super::Problem), (status = 404, body = super::Problem),
        (status = 422, body = WrongFields),
    ),
)]
pub(crate) async fn resend(
    InCluster { view, .. }: InCluster,
    Path((_, group)): Path<(String, String)>,
    Json(wanted): Json<ResendIn>,
) -> Result<Response, Failure> {
    match view.console.resend(WHO, &group, &wanted.into()).await {
        Ok(sent) => {
            let done = sent.done();
            let letters = sent.each.into_iter().map(|(place, outcome)| told(place.to_string(), outcome)).collect();
            Ok(Json(ResentOut { letters, done, audit_error: sent.audit_error }).into_response())
        }
        Err(error) => refused(&view, error),
    }
}

fn told(place: String, outcome: ResendOutcome) -> LetterOutcome {
    let (outcome, message_id, why) = match outcome {
        ResendOutcome::Sent { message_id } => ("sent", Some(message_id), None),
        ResendOutcome::SentBefore { message_id, .. } => ("sent_before", Some(message_id), None),
        ResendOutcome::Weakly { status, message_id } => ("weakly", Some(message_id), Some(status.code().to_owned())),
        ResendOutcome::InDoubt { why } => ("in_doubt", None, Some(why)),
        ResendOutcome::DeadAgain => ("dead_again", None, None),
        ResendOutcome::Gone => ("gone", None, None),
        ResendOutcome::Refused { why } => ("refused", None, Some(why)),
    };
    LetterOutcome { place, outcome, message_id, why }
}
