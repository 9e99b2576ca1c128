//! Static files, inside the binary. One invariant: the address contains a hash of all of them, so an answer may be kept
//! for ever and a new version is never mixed with an old one.

use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use rust_embed::{EmbeddedFile, RustEmbed};
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, NotForContentType, Predicate};

use crate::Failure;

#[derive(RustEmbed)]
#[folder = "../../static"]
struct Files;

/// The first 12 digits of a hash over the hashes of all files.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let mut names: Vec<_> = Files::iter().collect();
    names.sort();
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for name in names {
        let digest = Files::get(&name).map(|file| file.metadata.sha256_hash()).unwrap_or_default();
        for byte in name.as_bytes().iter().chain(&digest) {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    format!("{hash:016x}").chars().take(12).collect()
});

/// The address of a static file, for templates.
pub(crate) fn url(file: &str) -> String {
    format!("/static/{}/{file}", *VERSION)
}

pub(crate) async fn file(Path((version, name)): Path<(String, String)>) -> Response {
    let Some(file) = Files::get(&name) else {
        return Failure::NoSuchPage.into_response();
    };
    let keep = if version == *VERSION { "public, max-age=31536000, immutable" } else { "no-store" };
    answer(&name, file, keep)
}

pub(crate) async fn favicon() -> Response {
    match Files::get("favicon.svg") {
        Some(file) => answer("favicon.svg", file, "public, max-age=86400"),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

fn answer(name: &str, file: EmbeddedFile, keep: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(content_type(name))),
        (header::CACHE_CONTROL, HeaderValue::from_static(keep)),
    ];
    (headers, file.data.into_owned()).into_response()
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map_or("", |(_, end)| end) {
        "css" => "text/css; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "svg" => "image/svg+xml",
        "md" | "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

/// Compresses what is worth it; events must leave at once.
pub(crate) fn compression() -> CompressionLayer<impl Predicate> {
    CompressionLayer::new().compress_when(DefaultPredicate::new().and(NotForContentType::new("text/event-stream")))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::{Files, url};
    use crate::testing::site;

    #[tokio::test]
    async fn files_stay_in_caches_and_are_compressed() {
        let answer = site().get_with(&url("app.css"), &[("accept-encoding", "gzip")]).await;
        assert_eq!(answer.header("content-type"), Some("text/css; charset=utf-8"));
        assert_eq!(answer.header("cache-control"), Some("public, max-age=31536000, immutable"));
        assert_eq!(answer.header("content-encoding"), Some("gzip"));
        assert_eq!(site().get("/static/x/../Cargo.toml").await.status, 404);
        assert_eq!(site().get(&url("none.css")).await.status, 404);
    }

    /// Each vendored file is the one whose digest is written down.
    #[test]
    fn vendored_files_are_what_they_claim() {
        let list = String::from_utf8(Files::get("VENDORED.md").unwrap().data.into_owned()).unwrap();
        let vendored: Vec<_> = Files::iter().filter(|name| name.starts_with("vendor/")).collect();
        assert!(vendored.len() >= 2);
        for name in vendored {
            let digest = Files::get(&name).unwrap().metadata.sha256_hash();
            let digest: Vec<String> = digest.iter().map(|byte| format!("{byte:02x}")).collect();
            let digest = digest.concat();
            assert!(
                list.lines().any(|line| line.contains(name.as_ref()) && line.contains(&digest)),
                "{name} with {digest} is not in VENDORED.md"
            );
        }
    }

    /// Nothing that is our own asks a third party for anything or writes a style into an element.
    #[test]
    fn own_script_keeps_to_the_policy() {
        let script = String::from_utf8(Files::get("console.js").unwrap().data.into_owned()).unwrap();
        assert!(script.lines().count() < 200, "console.js stays small");
        for forbidden in ["innerHTML", "eval(", "new Function", "://", ".style", "setAttribute(\"style"] {
            assert!(!script.contains(forbidden), "console.js contains {forbidden}");
        }
    }
}
