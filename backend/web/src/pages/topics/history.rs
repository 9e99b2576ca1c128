//! A topic over time, as charts and as a table.

use askama::Template;
use axum::extract::Path;
use axum::response::Response;
use axum_extra::extract::Query;
use millrace_console::history::Kind;

use super::head::{Head, Part};
use crate::pages::history::line::{Asked, View};
use crate::render::filters;
use crate::{Failure, InCluster};

#[derive(Template)]
#[template(path = "topics/history.html")]
struct Show {
    head: Head,
    line: View,
}

pub(crate) async fn show(
    InCluster { cx, view }: InCluster,
    Path((_, name)): Path<(String, String)>,
    Query(asked): Query<Asked>,
) -> Result<Response, Failure> {
    let head = Head::of(&view, &name, Part::History);
    let line = View::of(&view, &cx, (Kind::Topic, &name), &asked, &head.link("history")).await?;
    cx.html(&Show { head, line })
}
