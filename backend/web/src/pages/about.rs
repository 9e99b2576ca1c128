//! What Millrace is, its API and its health addresses.

use askama::Template;
use axum::response::Response;

use crate::render::filters;
use crate::route::Kind;
use crate::{Cx, Failure};

#[derive(Template)]
#[template(path = "about/show.html")]
struct About {
    operations: Vec<Operation>,
}

struct Operation {
    method: String,
    path: &'static str,
    permission: String,
}

pub(crate) async fn show(cx: Cx) -> Result<Response, Failure> {
    let operations = crate::routes::table()
        .into_iter()
        .filter(|route| route.kind == Kind::Api)
        .map(|route| Operation {
            method: route.method.to_string(),
            path: route.path,
            permission: format!("{:?}", route.permission),
        })
        .collect();
    cx.html(&About { operations })
}
