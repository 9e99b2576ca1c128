//! The web: pages and the JSON API over the ports. One invariant: everything that is served stands in
//! [`routes::table`] with the permission it needs, and nothing is served that does not stand there.
//!
//! # How to add a page
//!
//! 1. **Link.** Add a function to [`links`] that builds the address from typed parts. Templates and redirects call it
//!    (`{{ crate::links::topics(cluster) }}`); nobody puts an address together from strings, so names with `%`, blanks
//!    or Chinese characters are always encoded.
//! 2. **Route.** Add a row to [`routes::table`]: method, path, permission, kind, handler. A tested rule ties methods to
//!    permissions: `GET` reads, `POST` and `DELETE` write.
//! 3. **Handler.** In `pages/<page>.rs`. It takes [`InCluster`] (or [`Cx`] outside a cluster), asks the ports, builds a
//!    view and answers `cx.html(&view)`. Where htmx asks the same address it gets one block of the same template:
//!
//!    ```text
//!    match cx.hx.target() {
//!        Some("topics") => cx.html(&view.as_topics()),
//!        _ => cx.html(&view),
//!    }
//!    ```
//!
//!    The block's name is the `id` of the element that htmx swaps: `hx-target="#topics"`. Forms answer 422 with the form
//!    ([`Cx::html_with`]) or [`Cx::see_other`] with a [`Flash`]. What goes wrong is a [`Failure`], which becomes a page
//!    or a problem document by the route's kind.
//! 4. **Template.** `templates/<page>/*.html`, `{% extends "base.html" %}`, blocks `title` and `main`; components by
//!    `{% import "components/ui.html" as ui %}`. Texts by `{{ "topics-title"|t }}`, with a value `|t1("n", count)`; times
//!    `|time`, `|ago`, amounts `|num`, `|bytes`, `|duration`. The struct's module needs `use crate::render::filters;`.
//! 5. **Texts.** `templates/i18n/en/<page>.ftl` and `zh-CN/<page>.ftl`, keys begin with the page's name. A test fails on
//!    a key that is missing, unused or differs in its variables.
//! 6. **Live.** A second address `.../events` whose handler answers [`live::stream`]; the page has an element with
//!    `hx-sse:connect`, `hx-target` and `hx-swap="outerMorph"`.
//! 7. **API.** An operation in `api/`, annotated with `utoipa::path` and named in `api::Document`; a row of kind `Api`. A test
//!    compares the table with the document.
//! 8. **Test.** `testing::site()` serves the whole application on in-memory fakes: `site.get("/c/shop/topics").await`.

mod api;
mod app;
mod assets;
mod chart;
mod component;
mod cx;
mod failure;
mod format;
mod health;
mod i18n;
pub mod links;
mod live;
mod pages;
mod render;
mod route;
mod routes;
mod security;
mod telemetry;
#[cfg(test)]
mod testing;
mod why;

use std::sync::Arc;

use axum::Router;
use axum::middleware;

pub use app::{App, AppBuilder, ClusterView};
pub use cx::{Cx, Flash, InCluster};
pub use failure::Failure;
pub use route::{Access, Kind, Permission};

/// The OpenAPI document of the JSON API.
pub fn api_document() -> serde_json::Value {
    use utoipa::OpenApi as _;
    // It holds nothing that JSON cannot.
    serde_json::to_value(api::Document::openapi()).unwrap_or_default()
}

/// The whole application: every row of the table, with what holds for all of them around it.
pub fn router(app: Arc<App>) -> Router {
    let mut router = Router::new();
    for route in routes::table() {
        router = router.route(route.path, route.mount());
    }
    router
        .fallback(failure::no_such_page)
        .method_not_allowed_fallback(failure::wrong_method)
        .layer(security::csrf())
        .layer(middleware::from_fn_with_state(Arc::clone(&app), security::known_host))
        .layer(failure::catch_panic())
        .layer(middleware::from_fn_with_state(Arc::clone(&app), failure::show))
        .layer(assets::compression())
        .layer(middleware::from_fn(security::headers))
        .layer(middleware::from_fn(telemetry::observe))
        .with_state(app)
}
