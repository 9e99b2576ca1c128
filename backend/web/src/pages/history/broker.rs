//! A broker over time, as charts and as a table.

use askama::Template;
use axum::extract::Path;
use axum::response::Response;
use axum_extra::extract::Query;
use millrace_console::history::Kind;

use crate::pages::history::line::{Asked, View};
use crate::render::filters;
use crate::{Failure, InCluster, links};

#[derive(Template)]
#[template(path = "history/broker.html")]
struct Show {
    cluster: String,
    broker: String,
    line: View,
}

pub(crate) async fn show(
    InCluster { cx, view }: InCluster,
    Path((_, name)): Path<(String, String)>,
    Query(asked): Query<Asked>,
) -> Result<Response, Failure> {
    let line = View::of(&view, &cx, (Kind::Broker, &name), &asked, &links::broker_history(&view.name, &name)).await?;
    cx.html(&Show { cluster: view.name.clone(), broker: name, line })
}
