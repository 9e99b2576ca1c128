//! The JSON API. One invariant: an operation calls the same functions as the page, stands in the table of routes and in
//! the OpenAPI document; a value that is not known says why and is never a number.

pub(crate) mod clusters;
pub(crate) mod dead_letters;
pub(crate) mod groups;
pub(crate) mod history;
pub(crate) mod ingest;
pub(crate) mod messages;
pub(crate) mod offsets;
pub(crate) mod records;
pub(crate) mod topics;

use axum::Json;
use millrace_console::Tally;
use millrace_core::coverage::{Coverage, Known, Missed};
use serde::Serialize;
use utoipa::{OpenApi, ToSchema};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Millrace",
        description = "What Millrace shows on its pages, for programs. Instants are milliseconds since 1970-01-01T00:00:00Z. \
                       A value that could not be read is {\"unknown\": why}. Failures are problem documents (RFC 9457).",
        version = "1",
        license(name = "Apache-2.0", identifier = "Apache-2.0")
    ),
    paths(
        document,
        clusters::list,
        clusters::overview,
        ingest::show,
        records::show,
        topics::list,
        topics::create,
        topics::show,
        topics::delete,
        groups::list,
        groups::create,
        groups::show,
        groups::change,
        groups::delete,
        offsets::plan,
        offsets::reset,
        groups::client,
        history::moment,
        history::topic,
        history::group,
        history::broker,
        dead_letters::groups,
        dead_letters::list,
        dead_letters::resend,
        messages::browse,
        messages::send,
        messages::show,
    ),
    components(schemas(Problem))
)]
pub(crate) struct Document;

/// This document.
#[utoipa::path(get, path = "/api/v1/openapi.json", responses((status = 200, description = "OpenAPI 3.1")), tag = "api")]
pub(crate) async fn document() -> Json<utoipa::openapi::OpenApi> {
    Json(Document::openapi())
}

/// A failure, RFC 9457.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Problem {
    r#type: String,
    title: String,
    status: u16,
    /// What exactly went wrong.
    detail: Option<String>,
    /// The way out.
    hint: String,
    instance: String,
}

/// A value, or why it is not known.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Value<T> {
    Known(T),
    Unknown(String),
}

impl<T> From<Known<T>> for Value<T> {
    fn from(known: Known<T>) -> Self {
        match known {
            Known::Known(value) => Self::Known(value),
            Known::Unknown(why) => Self::Unknown(why.english()),
        }
    }
}

/// A sum over brokers or queues: `value` only when every part is known, else a lower bound and what is missing.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Total<T> {
    value: Option<T>,
    at_least: T,
    missing: Vec<Missing>,
    /// Parts whose value is the last good one.
    stale: Vec<Missing>,
    as_of: Option<i64>,
}

impl<T: Copy + Default + std::ops::AddAssign> From<&Tally<T>> for Total<T> {
    fn from(tally: &Tally<T>) -> Self {
        Self {
            value: tally.value(),
            at_least: tally.at_least(),
            missing: tally.missing().iter().map(Missing::from).collect(),
            stale: tally.stale_parts().iter().map(Missing::from).collect(),
            as_of: tally.as_of().map(|at| at.0),
        }
    }
}

/// What an answer looked at and what it could not reach.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Covered {
    pub(crate) asked: usize,
    pub(crate) answered: usize,
    pub(crate) missed: Vec<Missing>,
    /// When the oldest part of the answer was read.
    pub(crate) as_of: Option<i64>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Missing {
    pub(crate) what: String,
    pub(crate) why: String,
}

impl From<&Missed> for Missing {
    fn from(missed: &Missed) -> Self {
        Self { what: missed.what.clone(), why: missed.why.english() }
    }
}

impl From<&Coverage> for Covered {
    fn from(coverage: &Coverage) -> Self {
        Self {
            asked: coverage.asked,
            answered: coverage.answered,
            missed: coverage.missed.iter().map(Missing::from).collect(),
            as_of: coverage.as_of.map(|at| at.0),
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::collections::BTreeSet;

    use utoipa::OpenApi;

    use super::Document;
    use crate::route::Kind;
    use crate::routes::table;

    #[test]
    fn the_document_and_the_table_agree() {
        let document = serde_json::to_value(Document::openapi()).unwrap();
        let mut documented = BTreeSet::new();
        for (path, operations) in document.get("paths").unwrap().as_object().unwrap() {
            for method in operations.as_object().unwrap().keys() {
                documented.insert(format!("{} {path}", method.to_uppercase()));
            }
        }
        let served: BTreeSet<_> = table()
            .into_iter()
            .filter(|route| route.kind == Kind::Api)
            .map(|route| format!("{} {}", route.method, route.path))
            .collect();
        assert_eq!(documented, served);
    }

    #[test]
    fn the_document_changes_only_on_purpose() {
        insta::assert_json_snapshot!(Document::openapi());
    }
}
