//! All clusters, each with how it is. With one cluster there is nothing to choose: straight on to it.

use std::sync::Arc;

use askama::Template;
use axum::extract::State as AppState;
use axum::response::{IntoResponse, Redirect, Response};

use crate::component::Verdict;
use crate::pages::overview;
use crate::render::filters;
use crate::{App, Cx, Failure, links};

#[derive(Template)]
#[template(path = "clusters/list.html")]
struct List {
    clusters: Vec<Card>,
}

struct Card {
    name: String,
    verdict: Verdict,
}

pub(crate) async fn list(cx: Cx, AppState(app): AppState<Arc<App>>) -> Result<Response, Failure> {
    if let [only] = app.clusters() {
        return Ok(Redirect::to(&links::overview(&only.name).to_string()).into_response());
    }
    let clusters = app
        .clusters()
        .iter()
        .map(|cluster| Card { name: cluster.name.clone(), verdict: overview::verdict(cluster, cx.now, cx.locale) })
        .collect();
    cx.html(&List { clusters })
}
