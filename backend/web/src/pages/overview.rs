//! A cluster at a glance.

use std::sync::Arc;

use askama::Template;
use axum::extract::State as AppState;
use axum::response::Response;
use millrace_core::time::Millis;

use crate::component::Verdict;
use crate::render::filters;
use crate::{App, ClusterView, Failure, InCluster, live};

#[derive(Template)]
#[template(path = "overview/show.html", blocks = ["state"])]
struct Show {
    cluster: String,
    ingest: Verdict,
}

impl Show {
    async fn of(view: &ClusterView, cx: &crate::Cx) -> Self {
        Self { cluster: view.name.clone(), ingest: super::ingest::verdict(&view.ingest.status(cx.now), cx.locale) }
    }
}

/// The cluster in a sentence.
pub(crate) fn verdict(view: &ClusterView, now: Millis) -> Verdict {
    super::ingest::verdict(&view.ingest.status(now), crate::i18n::Locale::En)
}

pub(crate) async fn show(InCluster { cx, view }: InCluster) -> Result<Response, Failure> {
    cx.html(&Show::of(&view, &cx).await)
}

pub(crate) async fn events(
    InCluster { cx, view }: InCluster,
    AppState(app): AppState<Arc<App>>,
) -> Result<Response, Failure> {
    let changes = live::changes(view.ingest.changes());
    let clock = Arc::clone(&app.clock);
    live::stream(&app, changes, move || {
        let mut cx = cx.clone();
        cx.now = clock.now();
        let view = Arc::clone(&view);
        async move { cx.render(&Show::of(&view, &cx).await.as_state()) }
    })
}
