//! One client of a group: what it says of itself, down to the stacks of its threads.

use askama::Template;
use axum::extract::Path;
use axum::response::Response;
use millrace_broker::ClientRunning;

use super::head::{Head, Part};
use crate::render::filters;
use crate::{Failure, InCluster};

#[derive(Template)]
#[template(path = "groups/client.html")]
struct Show {
    head: Head,
    client: String,
    running: ClientRunning,
}

pub(crate) async fn show(
    InCluster { cx, view }: InCluster,
    Path((_, group, client)): Path<(String, String, String)>,
) -> Result<Response, Failure> {
    let running = view.console.client_stacks(&group, &client).await;
    let running = running.map_err(|error| crate::pages::topics::failure(&view, error))?;
    cx.html(&Show { head: Head::of(&view, &group, Part::Form), client, running })
}
