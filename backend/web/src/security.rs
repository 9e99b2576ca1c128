//! What keeps a browser from being turned against its user. One invariant: every answer carries these headers, and no
//! request that a foreign page sent changes anything.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{self, HeaderName};
use axum::http::{HeaderMap, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tower_http::csrf::{CsrfLayer, ProtectionError};

use crate::{App, Failure};

/// No inline script and no inline style anywhere: what a message contains can never run.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const HEADERS: [(HeaderName, HeaderValue); 5] = [
    (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(CONTENT_SECURITY_POLICY)),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::REFERRER_POLICY, HeaderValue::from_static("same-origin")),
    (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
];

pub(crate) async fn headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, value);
    }
    response
}

/// Requests that change something must come from our own pages, or from a program that is no browser.
pub(crate) fn csrf() -> CsrfLayer<fn(ProtectionError) -> Response> {
    CsrfLayer::new().with_rejection_response(|_| Failure::ForeignOrigin.into_response())
}

/// While there is no log-in, only names that mean this machine, or that the configuration lists, are answered: a page
/// whose own name was made to resolve to 127.0.0.1 (DNS rebinding) is refused.
pub(crate) async fn known_host(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let asked = request.uri().host().map(ToOwned::to_owned).or_else(|| host_of(request.headers()));
    match asked {
        Some(host) if is_loopback(&host) || app.hosts.contains(&host.to_ascii_lowercase()) => next.run(request).await,
        asked => Failure::ForeignHost(asked.unwrap_or_default()).into_response(),
    }
}

/// The host of the `Host` header, without the port.
fn host_of(headers: &HeaderMap) -> Option<String> {
    let text = headers.get(header::HOST)?.to_str().ok()?;
    let authority: axum::http::uri::Authority = text.parse().ok()?;
    Some(authority.host().to_owned())
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost") || address.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;

    use crate::testing::site;

    #[tokio::test]
    async fn only_names_of_this_machine_are_answered() {
        let site = site();
        for host in ["localhost", "127.0.0.1:8080", "[::1]:80", "LOCALHOST:1"] {
            assert_eq!(site.get_with("/about", &[("host", host)]).await.status, StatusCode::OK, "{host}");
        }
        for host in ["evil.example", "127.0.0.1.evil.example", "192.0.2.7", "localhost@evil.example", ""] {
            let answer = site.get_with("/about", &[("host", host)]).await;
            assert_eq!(answer.status, StatusCode::MISDIRECTED_REQUEST, "{host}");
        }
    }

    #[tokio::test]
    async fn a_foreign_page_changes_nothing() {
        let site = site();
        let form = "theme=dark&back=%2Fabout";
        for (name, value) in [("sec-fetch-site", "cross-site"), ("origin", "http://evil.example")] {
            let answer = site.post_with("/settings", form, &[(name, value)]).await;
            assert_eq!(answer.status, StatusCode::FORBIDDEN, "{name}");
            assert!(answer.header("set-cookie").is_none());
            assert!(answer.body.contains("<main"), "a page says what happened: {}", answer.body);
        }
        let answer = site.post_with("/settings", form, &[("sec-fetch-site", "same-origin")]).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER);
    }

    #[tokio::test]
    async fn every_answer_carries_the_headers() {
        let site = site();
        for path in ["/about", "/no-such-page", "/healthz", "/api/v1/none"] {
            let answer = site.get(path).await;
            let policy = answer.header("content-security-policy").expect("a policy");
            assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{path}");
            assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
            assert_eq!(answer.header("referrer-policy"), Some("same-origin"), "{path}");
        }
    }
}
