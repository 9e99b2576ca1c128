//! Clusters that are down, die, or are set up wrong.

use serde_json::{Value, json};

use crate::own_cluster::OwnCluster;
use crate::support::api::Api;
use crate::support::millrace::{CLUSTER, Server, Setup, run};

fn state(answer: &Value) -> &str {
    answer["state"].as_str().unwrap()
}

/// Sends a message with `key` and waits until its record is known by its trace.
async fn send_and_find(server: &Server, topic: &str, key: &str) {
    let sent = server
        .api
        .post_json(&Api::of_cluster(&format!("/topics/{topic}/messages")), &json!({"keys": [key], "body": "{}"}))
        .await;
    assert!(sent.status.is_success(), "{key}: {}", sent.body);
    find(server, key).await;
}

async fn find(server: &Server, key: &str) {
    let traced = |answer: &Value| answer["flow"]["messages"][0]["evidence"]["code"] == "traced";
    server.api.until(&Api::of_cluster(&format!("/records/{key}")), traced).await;
}

/// What `doctor` says of a deployment that is not well.
fn doctor(setup: &Setup) -> String {
    let cluster = format!("{CLUSTER}={}", setup.name_server);
    let database = format!("sqlite:{}", setup.folder.path().join("doctor").display());
    let told = run(&["doctor", "--cluster", &cluster, "--database", &database], "");
    let text = String::from_utf8(told.stdout).unwrap();
    assert!(!told.status.success(), "{text}");
    text
}

#[tokio::test]
async fn a_cluster_that_comes_late_dies_and_returns_is_told_and_followed() {
    let cluster = OwnCluster::start("");
    cluster.stop();
    let setup = Setup::on(&cluster.name_server);
    let server = setup.start();
    let overview = Api::of_cluster("");
    let down = server.api.until(&overview, |answer| state(answer) == "bad").await;
    assert!(down.to_string().contains(&cluster.name_server), "the name server is named: {down:#}");

    cluster.start_again();
    let up = server.api.until(&overview, |answer| answer["brokers"][0]["version"]["known"].is_string()).await;
    let broker = up["brokers"][0]["name"].clone();
    let topic = json!({"name": "late_orders", "write_queues": 2, "message_type": "normal", "brokers": [broker]});
    let made = server.api.post_json(&Api::of_cluster("/topics"), &topic).await;
    assert!(made.status.is_success(), "{}", made.body);
    send_and_find(&server, "late_orders", "before-the-crash").await;

    cluster.kill("broker-a");
    let dead = |answer: &Value| answer["brokers"][0]["failure"].is_string() && state(answer) == "bad";
    server.api.until(&overview, dead).await;
    // What was read before is still told.
    find(&server, "before-the-crash").await;

    cluster.start_again();
    server.api.until(&overview, |answer| answer["brokers"][0]["failure"].is_null() && state(answer) != "bad").await;
    send_and_find(&server, "late_orders", "after-the-crash").await;
    find(&server, "before-the-crash").await;
}

#[tokio::test]
async fn an_unreachable_broker_address_is_named_with_the_way_out() {
    let cluster = OwnCluster::start("brokerIP1=192.0.2.1");
    let setup = Setup::on(&cluster.name_server);
    let server = setup.start();
    let named = |answer: &Value| state(answer) == "bad" && answer["attention"].to_string().contains("192.0.2.1");
    server.api.until(&Api::of_cluster(""), named).await;
    let text = doctor(&setup);
    assert!(text.contains("192.0.2.1") && text.contains("brokerIP1"), "{text}");
    assert!(!text.contains("trace topic"), "nothing is known of its topics: {text}");
}

#[tokio::test]
async fn a_missing_trace_topic_is_told_wherever_traces_are_wanted() {
    let cluster = OwnCluster::start("traceTopicEnable=false");
    let setup = Setup::on(&cluster.name_server);
    let server = setup.start();
    // Brokers register some seconds after they say that they are up.
    let missing = |answer: &Value| answer["attention"][0]["what"] == "trace_topic_missing";
    server.api.until(&Api::of_cluster(""), missing).await;
    let text = doctor(&setup);
    assert!(text.contains("no broker has a trace topic") && text.contains("traceTopicEnable=true"), "{text}");
    let told = |answer: &Value| answer["unfound"].to_string().contains("no_trace_topic");
    server.api.until(&Api::of_cluster("/records/order-001"), told).await;
}
