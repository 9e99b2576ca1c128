//! Each request as a server span and in `http.server.request.duration`, by OpenTelemetry's names.
//!
//! Invariant: a route's pattern is told, never the address itself: it holds record keys.

use std::sync::OnceLock;
use std::time::Instant;

use axum::extract::{MatchedPath, Request};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::Response;
use opentelemetry::KeyValue;
use opentelemetry::metrics::Histogram;
use tracing::field::Empty;
use tracing::{Instrument as _, info_span};

/// Seconds, as the conventions for HTTP metrics advise.
const BOUNDARIES: [f64; 14] = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0];

fn durations() -> &'static Histogram<f64> {
    static DURATIONS: OnceLock<Histogram<f64>> = OnceLock::new();
    DURATIONS.get_or_init(|| {
        opentelemetry::global::meter("millrace.web")
            .f64_histogram("http.server.request.duration")
            .with_unit("s")
            .with_description("Time until a request's answer began")
            .with_boundaries(BOUNDARIES.to_vec())
            .build()
    })
}

/// Methods that nobody defined are one value, so that callers cannot make metrics grow.
fn known(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "_OTHER",
    }
}

pub(crate) async fn observe(request: Request, next: Next) -> Response {
    let began = Instant::now();
    let method = known(request.method());
    let route = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let name = route.as_ref().map_or_else(|| method.to_owned(), |route| format!("{method} {route}"));
    let span = info_span!(
        "request",
        otel.name = name,
        otel.kind = "server",
        otel.status_code = Empty,
        http.request.method = method,
        http.route = route,
        http.response.status_code = Empty,
    );
    let response = next.run(request).instrument(span.clone()).await;
    let status = response.status();
    span.record("http.response.status_code", status.as_u16());
    if status.is_server_error() {
        span.record("otel.status_code", "ERROR");
    }
    let mut attributes = vec![
        KeyValue::new("http.request.method", method),
        KeyValue::new("http.response.status_code", i64::from(status.as_u16())),
    ];
    attributes.extend(route.map(|route| KeyValue::new("http.route", route)));
    durations().record(began.elapsed().as_secs_f64(), &attributes);
    response
}
