//! A topic's life: created, sent to, looked into, followed, deleted.

use reqwest::StatusCode;
use serde_json::{Value, json};

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

    let made = api
        .post_json(
            &topics,
            &json!({"name": name, "read_queues": 2, "write_queues": 2, "permission": "rw", "message_type": "NORMAL"}),
        )
        .await;
    assert!(made.status.is_success(), "{}: {}", made.status, made.body);
    let listed = |topics: &Value| topics.to_string().contains(&format!("\"{name}\""));
    api.until(&topics, listed).await;

    let sent = api
        .post_json(
            &format!("{topic}/messages"),
            &json!({"key": "it-key-1", "tag": "test", "body": "{\"n\":9007199254740993}"}),
        )
        .await;
    assert!(sent.status.is_success(), "{}: {}", sent.status, sent.body);
    let found = api.json(&format!("{topic}/messages")).await;
    assert!(found.to_string().contains("it-key-1"), "{found:#}");
    assert!(found.to_string().contains("9007199254740993"), "every digit is kept: {found:#}");

    let gone = api.delete(&format!("{topic}?confirm={name}")).await;
    assert!(gone.status.is_success(), "{}: {}", gone.status, gone.body);
    api.until(&topics, |topics| !listed(topics)).await;
    assert_eq!(api.get(&topic).await.status, StatusCode::NOT_FOUND);
}
