//! A topic's life: created, sent to, looked into, followed, deleted.

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::flow::Flow;
use crate::support::api::Api;
use crate::support::millrace::Setup;

#[tokio::test]
async fn a_topic_lives_from_create_to_delete() {
    let setup = Setup::new();
    let server = setup.start();
    let api = &server.api;
    let name = format!("it_topic_{}", std::process::id());
    let topics = Api::of_cluster("/topics");
    let topic = format!("{topics}/{name}");
    let listed = |answer: &Value| {
        let rows = answer["topics"].as_array().map_or(&[][..], Vec::as_slice);
        rows.iter().any(|row| row["name"] == name.as_str())
    };
    let one_page = format!("{topics}?size=500");
    // Which brokers there are is known from the first snapshot on.
    let there = api.until(&one_page, |answer| answer["topics"].as_array().is_some_and(|rows| !rows.is_empty())).await;
    let brokers = there["topics"][0]["brokers"].clone();

    let wanted = json!({"name": name, "write_queues": 2, "message_type": "normal", "brokers": brokers});
    let made = api.post_json(&topics, &wanted).await;
    assert!(made.status.is_success(), "{}: {}", made.status, made.body);
    let made: Value = serde_json::from_str(&made.body).unwrap();
    assert_eq!((&made["failed"], &made["audit_error"]), (&json!(0), &Value::Null), "{made:#}");
    api.until(&one_page, listed).await;

    let body = "{\"n\":9007199254740993}";
    // The topic's own name: brokers serve several runs, and traces outlive topics.
    let key = format!("key-of-{name}");
    let sent = api.post_json(&format!("{topic}/messages"), &json!({"keys": [key], "tag": "test", "body": body})).await;
    assert!(sent.status.is_success(), "{}: {}", sent.status, sent.body);
    let sent: Value = serde_json::from_str(&sent.body).unwrap();
    let found = api.json(&format!("{topic}/messages")).await;
    let message = &found["messages"][0];
    assert_eq!(message["uniq_id"], sent["message_id"], "{found:#}");
    assert_eq!((&message["keys"], &message["body"]), (&json!([key]), &json!(body)), "every digit is kept");

    // What was sent from here was traced, and is a record like any other.
    let record = Api::of_cluster(&format!("/records/{key}"));
    let traced = |answer: &Value| answer["flow"]["messages"][0]["evidence"]["code"] == "traced";
    let answer = api.until(&record, traced).await;
    Flow::of(&answer).message(sent["message_id"].as_str().unwrap(), &name);

    let refused = api.delete(&format!("{topic}?confirm=another")).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{}", refused.body);
    let gone = api.delete(&format!("{topic}?confirm={name}")).await;
    assert!(gone.status.is_success(), "{}: {}", gone.status, gone.body);
    api.until(&one_page, |answer| !listed(answer)).await;
    assert_eq!(api.get(&topic).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_form_that_is_wrong_in_two_places_says_both() {
    let setup = Setup::new();
    let server = setup.start();
    let wrong = json!({"name": "no blanks allowed", "write_queues": 0, "message_type": "normal"});
    let refused = server.api.post_json(&Api::of_cluster("/topics"), &wrong).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{}", refused.body);
    let refused: Value = serde_json::from_str(&refused.body).unwrap();
    let fields: Vec<&str> =
        refused["errors"].as_array().unwrap().iter().map(|e| e["field"].as_str().unwrap()).collect();
    assert!(fields.contains(&"name") && fields.contains(&"write_queues"), "{refused:#}");
}
