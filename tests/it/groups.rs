//! Groups: those of the shop, and one that is made, set and deleted.

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::support::api::Api;
use crate::support::millrace::Setup;

fn row<'a>(answer: &'a Value, name: &str) -> Option<&'a Value> {
    answer["groups"].as_array()?.iter().find(|group| group["name"] == name)
}

#[tokio::test]
async fn the_shop_s_groups_are_told() {
    let setup = Setup::new();
    let server = setup.start();
    let api = &server.api;
    let all = Api::of_cluster("/groups?size=500");
    // Ages and rates are known from the second snapshot on.
    let told = |answer: &Value| {
        row(answer, "order_cleaner").is_some_and(|group| {
            group["clients"]["value"] == 0
                && group["lag"]["value"].is_i64()
                && !group["oldest_unread"]["known"].is_i64()
        })
    };
    let answer = api.until(&all, told).await;
    let cleaner = row(&answer, "order_cleaner").unwrap();
    assert_eq!(cleaner["standing"], "done", "{cleaner:#}");
    assert!(cleaner["dead_letters"]["at_least"].as_i64().unwrap() >= 2, "{cleaner:#}");
    let topics = cleaner["topics"].as_array().unwrap();
    assert!(topics.contains(&json!("orders_raw")), "{cleaner:#}");

    let detail = api.json(&Api::of_cluster("/groups/order_cleaner")).await;
    let queues = detail["queues"].as_array().unwrap();
    let on = |topic: &str| queues.iter().filter(|queue| queue["topic"] == topic).count();
    assert!(on("orders_raw") >= 4, "{detail:#}");
    assert!(queues.iter().all(|queue| queue["lag"] == 0 || queue["committed"].is_null()), "{detail:#}");
    assert_eq!(api.get(&Api::of_cluster("/groups/nobody-made-it")).await.status, StatusCode::NOT_FOUND);
}

const ORDERS: i64 = 5;

/// A topic with orders that no other test looks at: who commits offsets on a shared one is on everybody's records.
async fn own_topic(api: &Api) -> (String, Value) {
    let name = format!("it_group_topic_{}", std::process::id());
    let topics = Api::of_cluster("/topics");
    let on_brokers =
        |answer: &Value| answer["topics"][0]["brokers"].as_array().is_some_and(|brokers| !brokers.is_empty());
    let there = api.until(&format!("{topics}?filter=orders_raw"), on_brokers).await;
    let brokers = there["topics"][0]["brokers"].clone();
    let wanted = json!({"name": name, "write_queues": 2, "message_type": "normal", "brokers": brokers});
    let made = api.post_json(&topics, &wanted).await;
    assert!(made.status.is_success(), "{}: {}", made.status, made.body);
    for number in 0..ORDERS {
        let order = json!({"keys": [format!("{name}-{number}")], "body": "{}"});
        let sent = api.post_json(&format!("{topics}/{name}/messages"), &order).await;
        assert!(sent.status.is_success(), "{}: {}", sent.status, sent.body);
    }
    let stored = |answer: &Value| answer["topics"][0]["offset_span"]["value"] == ORDERS;
    api.until(&format!("{topics}?filter={name}"), stored).await;
    (name, brokers)
}

#[tokio::test]
async fn a_group_lives_from_create_to_delete_and_its_offsets_are_set_as_previewed() {
    let setup = Setup::new();
    let server = setup.start();
    let api = &server.api;
    let name = format!("it_group_{}", std::process::id());
    let groups = Api::of_cluster("/groups");
    let group = format!("{groups}/{name}");
    let all = format!("{groups}?size=500");
    let (topic, brokers) = own_topic(api).await;
    let made = api.post_json(&groups, &json!({"name": name, "retry_max_times": 3, "brokers": brokers})).await;
    assert!(made.status.is_success(), "{}: {}", made.status, made.body);
    let made: Value = serde_json::from_str(&made.body).unwrap();
    assert_eq!((&made["failed"], &made["audit_error"]), (&json!(0), &Value::Null), "{made:#}");
    api.until(&all, |answer| row(answer, &name).is_some()).await;

    let changed = api.put_json(&group, &json!({"retry_max_times": 5, "brokers": brokers})).await;
    assert!(changed.status.is_success(), "{}: {}", changed.status, changed.body);
    let changed = |answer: &Value| answer["configs"][0]["config"]["retry_max_times"] == 5;
    api.until(&group, changed).await;

    let plan = api.json(&format!("{group}/offsets?topic={topic}&to=earliest")).await;
    let queues = plan["queues"].as_array().unwrap();
    assert!(queues.len() >= 2 && queues.iter().all(|queue| queue["committed"].is_null()), "{plan:#}");
    assert_eq!(plan["online"]["known"], 0);
    let offsets = format!("{group}/offsets");
    let set = json!({"topic": topic, "to": "earliest", "seen": plan["seen"]});
    let done = api.put_json(&offsets, &set).await;
    assert!(done.status.is_success(), "{}: {}", done.status, done.body);
    let done: Value = serde_json::from_str(&done.body).unwrap();
    assert_eq!(done["failed"], 0, "{done:#}");
    for queue in done["queues"].as_array().unwrap() {
        assert_eq!(queue["committed"]["known"], queue["queue"]["target"], "read back: {done:#}");
    }
    // The same preview again is stale: the offsets are set now.
    let stale = api.put_json(&offsets, &set).await;
    assert_eq!(stale.status, StatusCode::CONFLICT, "{}", stale.body);
    let behind =
        api.until(&all, |answer| row(answer, &name).is_some_and(|group| group["lag"]["value"] == ORDERS)).await;
    assert_eq!(row(&behind, &name).unwrap()["standing"], "offline", "orders wait and nobody reads them");

    let gone = api.delete(&format!("{group}?confirm={name}")).await;
    assert!(gone.status.is_success(), "{}: {}", gone.status, gone.body);
    api.until(&all, |answer| row(answer, &name).is_none()).await;
    let gone = api.delete(&Api::of_cluster(&format!("/topics/{topic}?confirm={topic}"))).await;
    assert!(gone.status.is_success(), "{}: {}", gone.status, gone.body);
}
