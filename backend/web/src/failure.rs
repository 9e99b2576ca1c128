//! What can go wrong with a request, and how it looks: a page in the reader's language, or a problem document for
//! programs. One invariant: a failure says what happened, on what, and the way out; nothing secret is in it.

use std::any::Any;
use std::sync::Arc;

use askama::Template;
use axum::body::Body;
use axum::extract::{Request, State as AppState};
use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use millrace_broker::BrokerError;
use millrace_store::StoreError;
use serde::Serialize;
use tower_http::catch_panic::CatchPanicLayer;

use crate::App;
use crate::component::State;
use crate::cx::Cx;
use crate::i18n::{Locale, Msg};
use crate::render::filters;

/// Why a request has no proper answer.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error("there is nothing at this address")]
    NoSuchPage,
    #[error("no cluster {0} is configured")]
    NoSuchCluster(String),
    /// The cluster was asked and has no such thing.
    #[error("{what} is not in cluster {cluster}")]
    NotThere { what: String, cluster: String },
    #[error("this address does not take {0}")]
    WrongMethod(String),
    /// What was asked for cannot be understood: the key of a text that says so.
    #[error("the request is not understood")]
    Invalid(Msg),
    #[error("cluster {0} is read-only here")]
    ReadOnly(String),
    #[error("a page of another site sent this request")]
    ForeignOrigin,
    #[error("{0:?} is not a name of this site")]
    ForeignHost(String),
    #[error("too many live views are open")]
    TooManyStreams,
    #[error(transparent)]
    Broker(#[from] BrokerError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the answer took too long")]
    TooSlow,
    #[error("the request is larger than this address takes")]
    TooLarge,
    #[error("a template could not be filled")]
    Template(#[source] askama::Error),
    #[error("a handler stopped unexpectedly")]
    Panic,
    /// A status that some layer gave without a reason.
    #[error("status {0}")]
    Status(StatusCode),
}

/// What a failure says: headline, what exactly, and the way out.
struct Said {
    status: StatusCode,
    headline: Msg,
    detail: Option<String>,
    way_out: Msg,
}

impl Failure {
    fn said(&self) -> Said {
        let said = |status, headline, way_out| Said { status, headline, detail: None, way_out };
        match self {
            Self::NoSuchPage => said(StatusCode::NOT_FOUND, Msg::new("errors-no-page"), Msg::new("errors-no-page-way")),
            Self::NoSuchCluster(name) => said(
                StatusCode::NOT_FOUND,
                Msg::new("errors-no-cluster").with("cluster", name),
                Msg::new("errors-no-cluster-way"),
            ),
            Self::NotThere { what, cluster } => said(
                StatusCode::NOT_FOUND,
                Msg::new("errors-not-there").with("what", what).with("cluster", cluster),
                Msg::new("errors-not-there-way"),
            ),
            Self::WrongMethod(method) => said(
                StatusCode::METHOD_NOT_ALLOWED,
                Msg::new("errors-method").with("method", method),
                Msg::new("errors-method-way"),
            ),
            Self::Invalid(msg) => said(StatusCode::UNPROCESSABLE_ENTITY, msg.clone(), Msg::new("errors-invalid-way")),
            Self::ReadOnly(cluster) => said(
                StatusCode::FORBIDDEN,
                Msg::new("errors-read-only").with("cluster", cluster),
                Msg::new("errors-read-only-way"),
            ),
            Self::ForeignOrigin => {
                said(StatusCode::FORBIDDEN, Msg::new("errors-foreign-origin"), Msg::new("errors-foreign-origin-way"))
            }
            Self::ForeignHost(host) => said(
                StatusCode::MISDIRECTED_REQUEST,
                Msg::new("errors-foreign-host").with("host", host),
                Msg::new("errors-foreign-host-way"),
            ),
            Self::TooManyStreams => {
                said(StatusCode::SERVICE_UNAVAILABLE, Msg::new("errors-streams"), Msg::new("errors-streams-way"))
            }
            Self::Broker(error) => Said { detail: Some(error.to_string()), ..broker(error) },
            Self::Store(error) => Said {
                detail: Some(with_sources(error)),
                ..said(StatusCode::SERVICE_UNAVAILABLE, Msg::new("errors-store"), Msg::new("errors-store-way"))
            },
            Self::TooSlow => said(StatusCode::GATEWAY_TIMEOUT, Msg::new("errors-slow"), Msg::new("errors-slow-way")),
            Self::TooLarge => {
                said(StatusCode::PAYLOAD_TOO_LARGE, Msg::new("errors-large"), Msg::new("errors-large-way"))
            }
            Self::Template(_) | Self::Panic => {
                said(StatusCode::INTERNAL_SERVER_ERROR, Msg::new("errors-internal"), Msg::new("errors-internal-way"))
            }
            Self::Status(status) => {
                said(*status, Msg::new("errors-status").with("status", status.as_str()), Msg::new("errors-status-way"))
            }
        }
    }
}

fn broker(error: &BrokerError) -> Said {
    let said = |status, headline, way_out| Said { status, headline, detail: None, way_out };
    match error {
        BrokerError::NoNameServer(_) => {
            said(StatusCode::BAD_GATEWAY, Msg::new("errors-name-server"), Msg::new("errors-name-server-way"))
        }
        BrokerError::Unreachable { address, .. } => said(
            StatusCode::BAD_GATEWAY,
            Msg::new("errors-unreachable").with("address", address),
            Msg::new("errors-unreachable-way"),
        ),
        BrokerError::TimedOut { address, .. } => said(
            StatusCode::GATEWAY_TIMEOUT,
            Msg::new("errors-timed-out").with("address", address),
            Msg::new("errors-timed-out-way"),
        ),
        BrokerError::NoSuchBroker(name) => said(
            StatusCode::NOT_FOUND,
            Msg::new("errors-no-broker").with("broker", name),
            Msg::new("errors-not-there-way"),
        ),
        BrokerError::NotFound(what) => said(
            StatusCode::NOT_FOUND,
            Msg::new("errors-not-found").with("what", what),
            Msg::new("errors-not-there-way"),
        ),
        BrokerError::NotPermitted { address, .. } => said(
            StatusCode::FORBIDDEN,
            Msg::new("errors-not-permitted").with("address", address),
            Msg::new("errors-not-permitted-way"),
        ),
        BrokerError::Answered { address, code, .. } => said(
            StatusCode::BAD_GATEWAY,
            Msg::new("errors-answered").with("address", address).with("code", *code),
            Msg::new("errors-answered-way"),
        ),
        BrokerError::Protocol { address, .. } => said(
            StatusCode::BAD_GATEWAY,
            Msg::new("errors-protocol").with("address", address),
            Msg::new("errors-protocol-way"),
        ),
        BrokerError::Invalid(_) => {
            said(StatusCode::UNPROCESSABLE_ENTITY, Msg::new("errors-refused"), Msg::new("errors-invalid-way"))
        }
    }
}

fn with_sources(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text.push_str(": ");
        text.push_str(&error.to_string());
        source = error.source();
    }
    text
}

/// Carried by the response until [`show`] knows the reader.
#[derive(Clone)]
struct Pending(Arc<Failure>);

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut response = self.said().status.into_response();
        response.extensions_mut().insert(Pending(Arc::new(self)));
        response
    }
}

#[derive(Template)]
#[template(path = "errors/page.html", blocks = ["failure"])]
struct Page {
    headline: Msg,
    detail: Option<String>,
    way_out: Msg,
    status: u16,
    state: State,
}

/// RFC 9457.
#[derive(Debug, Serialize)]
struct Problem {
    r#type: &'static str,
    title: String,
    status: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    hint: String,
    instance: String,
}

/// Makes the request's [`Cx`] and turns failures into pages or problem documents.
pub(crate) async fn show(AppState(app): AppState<Arc<App>>, mut request: Request, next: Next) -> Response {
    let cx = Cx::of(&app, request.uri(), request.headers());
    let for_programs = request.uri().path().starts_with("/api/");
    request.extensions_mut().insert(cx.clone());
    let response = next.run(request).await;
    let status = response.status();
    if let Some(Pending(failure)) = response.extensions().get::<Pending>() {
        return answer(&cx, failure, for_programs);
    }
    let has_page = response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| {
        let kind = kind.as_bytes();
        kind.starts_with(b"text/html") || kind.starts_with(b"application/")
    });
    if !(status.is_client_error() || status.is_server_error()) || has_page {
        return response;
    }
    let failure = match status {
        StatusCode::GATEWAY_TIMEOUT => Failure::TooSlow,
        StatusCode::PAYLOAD_TOO_LARGE => Failure::TooLarge,
        StatusCode::NOT_FOUND => Failure::NoSuchPage,
        status => Failure::Status(status),
    };
    answer(&cx, &failure, for_programs)
}

fn answer(cx: &Cx, failure: &Failure, for_programs: bool) -> Response {
    let said = failure.said();
    if said.status.is_server_error() {
        tracing::warn!(error = %with_sources(failure), status = said.status.as_u16(), at = %cx.here, "a request failed");
    }
    let mut response = if for_programs {
        let problem = Problem {
            r#type: "about:blank",
            title: said.headline.text(Locale::En),
            status: said.status.as_u16(),
            detail: said.detail,
            hint: said.way_out.text(Locale::En),
            instance: cx.here.clone(),
        };
        let body = serde_json::to_string(&problem).unwrap_or_default();
        (said.status, [(header::CONTENT_TYPE, "application/problem+json")], body).into_response()
    } else {
        let page = Page {
            headline: said.headline,
            detail: said.detail,
            way_out: said.way_out,
            status: said.status.as_u16(),
            state: if said.status.is_server_error() { State::Bad } else { State::Warn },
        };
        // Only what htmx swaps into a part of a page gets a part.
        let shown = if cx.hx.target().is_some() {
            cx.html_with(said.status, &page.as_failure())
        } else {
            cx.html_with(said.status, &page)
        };
        shown.unwrap_or_else(|error| (said.status, error.to_string()).into_response())
    };
    if said.status == StatusCode::SERVICE_UNAVAILABLE {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("10"));
    }
    response
}

pub(crate) async fn no_such_page() -> Failure {
    Failure::NoSuchPage
}

pub(crate) async fn wrong_method(method: axum::http::Method, _: Uri) -> Failure {
    Failure::WrongMethod(method.to_string())
}

type OnPanic = fn(Box<dyn Any + Send>) -> Response<Body>;

/// A handler that panics costs its own request only.
pub(crate) fn catch_panic() -> CatchPanicLayer<OnPanic> {
    CatchPanicLayer::custom(|panic: Box<dyn Any + Send>| {
        let what = panic
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| panic.downcast_ref::<String>().cloned());
        tracing::error!(panic = what.as_deref().unwrap_or("unknown"), "a handler panicked");
        Failure::Panic.into_response()
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
mod tests {
    use axum::http::StatusCode;
    use millrace_broker::BrokerError;

    use super::Failure;
    use crate::i18n::Locale;
    use crate::testing::site;

    #[tokio::test]
    async fn people_get_a_page_and_programs_a_problem() {
        let site = site();
        let page = site.get_with("/c/none", &[("accept-language", "zh-CN")]).await;
        assert_eq!(page.status, StatusCode::NOT_FOUND);
        assert!(page.body.contains("<html lang=\"zh-CN\"") && page.body.contains("none"), "{}", page.body);
        let problem = site.get("/api/v1/clusters/none").await;
        assert_eq!(problem.status, StatusCode::NOT_FOUND);
        assert_eq!(problem.header("content-type"), Some("application/problem+json"));
        let problem: serde_json::Value = serde_json::from_str(&problem.body).unwrap();
        assert_eq!(problem["status"], 404);
        assert!(problem["title"].as_str().unwrap().contains("none"));
        assert_eq!(problem["instance"], "/api/v1/clusters/none");
    }

    #[tokio::test]
    async fn wrong_methods_are_told() {
        let answer = site().post_with("/about", "", &[]).await;
        assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED);
        assert!(answer.body.contains("<main"));
    }

    #[tokio::test]
    async fn a_panic_costs_its_own_request_only() {
        let app = crate::testing::app();
        let router = axum::Router::new()
            .route("/boom", axum::routing::get(|| async { panic!("boom: a secret") as &'static str }))
            .layer(super::catch_panic())
            .layer(axum::middleware::from_fn_with_state(std::sync::Arc::clone(&app), super::show));
        let request = axum::http::Request::get("/boom").body(axum::body::Body::empty()).unwrap();
        let response = tower::ServiceExt::oneshot(router, request).await.unwrap();
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        let body = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
        let body = String::from_utf8_lossy(&body);
        assert!(body.contains("Something in Millrace went wrong") && !body.contains("secret"), "{body}");
    }

    /// A part of a page gets a part, so that htmx never puts a page into a page.
    #[tokio::test]
    async fn a_part_that_fails_is_a_part() {
        let answer = site().get_block("/c/none", "state").await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND);
        assert!(answer.body.contains("role=\"alert\"") && !answer.body.contains("<html"), "{}", answer.body);
    }

    #[test]
    fn every_broker_error_names_its_broker_and_a_way_out() {
        let address = "192.0.2.1:10911".to_owned();
        let errors = [
            BrokerError::NoNameServer("192.0.2.9:9876".into()),
            BrokerError::Unreachable { address: address.clone(), why: "refused".into() },
            BrokerError::TimedOut { address: address.clone(), millis: 3_000 },
            BrokerError::NoSuchBroker("broker-z".into()),
            BrokerError::NotFound("topic orders".into()),
            BrokerError::NotPermitted { address: address.clone(), remark: "no".into() },
            BrokerError::Answered { address: address.clone(), code: 1, remark: "busy".into() },
            BrokerError::Protocol { address, why: "cut".into() },
            BrokerError::Invalid("a bad name".into()),
        ];
        for error in errors {
            let said = Failure::Broker(error.clone()).said();
            assert!(said.status.is_client_error() || said.status.is_server_error());
            assert_eq!(said.detail.as_deref(), Some(error.to_string().as_str()));
            for locale in Locale::ALL {
                assert_ne!(said.headline.text(locale), said.headline.key(), "{locale:?}");
                assert_ne!(said.way_out.text(locale), said.way_out.key(), "{locale:?}");
            }
        }
    }
}
