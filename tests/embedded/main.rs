//! The first command of the README: an embedded RocketMQ, a pipeline that really runs on it, and the pages.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

#[path = "../support/mod.rs"]
mod support;

use std::collections::BTreeSet;

use serde_json::Value;
use support::millrace::{Server, Setup, millrace};
use tempfile::TempDir;

struct Demo {
    server: Server,
    name_server: String,
    keys: Vec<String>,
    _folder: TempDir,
}

impl Demo {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = millrace();
        command.args(["demo", "--port", "0", "--data"]).arg(folder.path());
        let mut server = Server::start(command, &folder.path().join("demo.log"));
        server.read_until(|line| line.starts_with("Ctrl-C"));
        let name_server = server.printed.iter().find_map(|line| Some(line.split_once("name server ")?.1.to_owned()));
        let keys = server.printed.iter().filter_map(|line| {
            let (_, rest) = line.split_once("?q=")?;
            rest.split_whitespace().next().map(str::to_owned)
        });
        let keys = keys.collect();
        Self { name_server: name_server.expect("the name server is printed"), keys, server, _folder: folder }
    }

    fn record(key: &str) -> String {
        format!("/api/v1/clusters/demo/records/{key}")
    }
}

fn verdict(answer: &Value) -> &str {
    answer["flow"]["verdict"]["code"].as_str().unwrap_or_default()
}

/// What is printed as worth a look is there, and has come through the broker.
#[tokio::test]
async fn the_demo_shows_records_that_really_travelled() {
    let demo = Demo::start();
    assert_eq!(demo.keys.len(), 3, "{:?}", demo.server.printed);
    for key in &demo.keys {
        let under_way = ["not_found", "in_progress", "waiting_at", "retrying", "only_published"];
        let settled = |answer: &Value| !under_way.contains(&verdict(answer));
        let answer = demo.server.api.until(&Demo::record(key), settled).await;
        assert!(answer["flow"]["hops"].as_array().unwrap().len() >= 2, "{key}: {:#}", answer["flow"]);
        assert!(answer["flow"]["messages"][0]["publications"][0]["broker"].as_str().unwrap().starts_with("127.0.0.1:"));
        let page = demo.server.api.get(&format!("/c/demo/records?q={key}")).await;
        assert!(page.status.is_success() && page.body.contains(key), "{key}: {}", page.status);
    }
    // The dead letter can be seen at the broker some seconds before the client sends the trace of its last try.
    let dead = |answer: &Value| verdict(answer) == "stopped_at" && answer["flow"]["verdict"]["tries"] == 3;
    demo.server.api.until(&Demo::record(&demo.keys[0]), dead).await;
}

/// A second program reads the same broker's traces into its own database, SQLite or PostgreSQL, and tells the same.
#[tokio::test]
async fn a_server_beside_the_demo_tells_the_same() {
    let demo = Demo::start();
    let key = &demo.keys[1];
    // Clients send their traces some seconds apart: until all are there, a look-up truly tells less.
    let done = |answer: &Value| {
        let messages = answer["flow"]["messages"].as_array().cloned().unwrap_or_default();
        let topics: BTreeSet<_> = messages.iter().filter_map(|message| message["topic"].as_str()).collect();
        let all = BTreeSet::from(["orders_raw", "orders_clean", "orders_priced", "orders_ready"]);
        ["complete", "traced_ok"].contains(&verdict(answer)) && messages.len() == all.len() && topics == all
    };
    let told = demo.server.api.until(&Demo::record(key), done).await;
    let setup = Setup::on(&demo.name_server);
    let server = setup.start();
    let path = support::api::Api::of_cluster(&format!("/records/{key}"));
    let same = server.api.until(&path, done).await;
    let ids = |answer: &Value| {
        let messages = answer["flow"]["messages"].as_array().unwrap().clone();
        messages.into_iter().map(|message| (message["id"].clone(), message["topic"].clone())).collect::<Vec<_>>()
    };
    assert_eq!(ids(&told), ids(&same));
}

#[tokio::test]
async fn an_interrupt_ends_the_demo_cleanly() {
    let demo = Demo::start();
    let address = demo.server.api.url("/healthz");
    demo.server.signal("INT");
    assert!(demo.server.stop_after_signal().success());
    assert!(reqwest::get(&address).await.is_err(), "nothing listens any more");
}
