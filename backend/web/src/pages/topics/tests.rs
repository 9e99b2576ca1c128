//! The pages of topics on the fakes.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use axum::http::StatusCode;
use millrace_broker::MessageType;
use millrace_broker::fake::{Call, FakeCluster, FakeMessage, Fault};
use millrace_core::name::QueueRef;

use crate::testing::{FakeTraces, Site, builder, fake_cluster, site, view};

async fn site_of(fake: &FakeCluster) -> Site {
    let site = Site::of(builder().cluster(view("shop", fake, FakeTraces::default())).build());
    site.settle().await;
    site
}

fn hostile() -> FakeCluster {
    let odd = millrace_broker::TopicConfig {
        name: "<img src=x onerror=alert(1)>".to_owned(),
        read_queues: 1,
        write_queues: 1,
        perm: millrace_broker::Perm::READ_WRITE,
        message_type: MessageType::Normal,
        order: false,
        attributes: std::collections::BTreeMap::new(),
    };
    fake_cluster().topic_on("broker-a", odd).topic("%DLQ%price-enricher", 1)
}

#[tokio::test]
async fn the_list_is_one_page_with_and_without_htmx() {
    let site = site_of(&hostile()).await;
    let page = site.get("/c/shop/topics").await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(page.body.contains("<html") && page.body.contains("orders_clean"));
    assert!(page.body.contains("2 of 2 brokers answered"), "{}", page.body);
    assert!(!page.body.contains("<img src=x"));
    assert!(!page.body.contains(">%DLQ%price-enricher</a>"), "hidden unless asked for");
    let block = site.get_block("/c/shop/topics?filter=clean", "topics").await.body;
    assert!(block.trim_start().starts_with("<div id=\"topics\"") && block.contains("orders_clean"), "{block}");
    assert!(!block.contains(">orders</a>"));
    let dead = site.get("/c/shop/topics?kind=dead_letter").await.body;
    assert!(dead.contains("/c/shop/topics/%25DLQ%25price-enricher"), "{dead}");
    let none = site.get_with("/c/shop/topics?filter=nowhere", &[("accept-language", "zh-CN")]).await.body;
    assert!(none.contains("没有主题匹配“nowhere”"), "{none}");
}

#[tokio::test]
async fn what_is_not_known_is_no_number() {
    let fake = fake_cluster();
    let place = QueueRef { topic: "orders".to_owned(), broker: "broker-a".to_owned(), queue: 0 };
    let fake = fake.committed_at("price-enricher", &place, 0);
    fake.fail("broker-b", Fault::Dead);
    let site = site_of(&fake).await;
    let body = site.get("/c/shop/topics").await.body;
    assert!(body.contains("1 of 2 brokers answered") && body.contains("≥ 1"), "{body}");
    let json: serde_json::Value = serde_json::from_str(&site.get("/api/v1/clusters/shop/topics").await.body).unwrap();
    let orders = json["topics"].as_array().unwrap().iter().find(|topic| topic["name"] == "orders").unwrap().clone();
    assert!(orders["lag"]["value"].is_null());
    assert_eq!((&orders["lag"]["at_least"], &json["coverage"]["answered"]), (&1.into(), &1.into()));
}

#[tokio::test]
async fn create_answers_422_with_the_form_or_303_with_the_outcome() {
    let fake = fake_cluster();
    let site = site_of(&fake).await;
    let form = site.get("/c/shop/topics/-/new").await.body;
    assert!(form.contains("name=\"brokers\" value=\"broker-b\" checked"), "{form}");

    let bad = site.post("/c/shop/topics", "name=a+b&write_queues=0&perm=rw&message_type=normal").await;
    assert_eq!(bad.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(bad.body.contains("value=\"a b\""), "what was typed is still there: {}", bad.body);
    for said in ["is not allowed", "from 1 to 1,024", "at least one broker"] {
        assert!(bad.body.contains(said) || bad.body.contains(&said.replace("1,024", "1024")), "{said}: {}", bad.body);
    }
    assert_eq!(fake.calls(Call::PutTopic), 0);

    let good = "name=invoices&write_queues=4&read_queues=&perm=rw&message_type=fifo&brokers=broker-a&brokers=broker-b";
    let made = site.post("/c/shop/topics", good).await;
    assert_eq!(made.status, StatusCode::SEE_OTHER);
    assert_eq!(made.header("location"), Some("/c/shop/topics/invoices"));
    assert!(made.header("set-cookie").unwrap().contains("topics-created"));
    let page = site.get("/c/shop/topics/invoices").await;
    assert!(page.body.contains("No group reads this topic"), "{}", page.body);
}

#[tokio::test]
async fn delete_says_what_goes_away_and_asks_for_the_name() {
    let fake = fake_cluster();
    let site = site_of(&fake).await;
    let page = site.get("/c/shop/topics/orders/delete").await.body;
    assert!(page.contains("data-confirm=\"orders\"") && page.contains("every message in it"), "{page}");
    let wrong = site.post("/c/shop/topics/orders/delete", "confirm=order").await;
    assert_eq!((wrong.status, fake.calls(Call::DeleteTopic)), (StatusCode::UNPROCESSABLE_ENTITY, 0));
    let done = site.post("/c/shop/topics/orders/delete", "confirm=orders&brokers=broker-a&brokers=broker-b").await;
    assert_eq!((done.status, done.header("location")), (StatusCode::SEE_OTHER, Some("/c/shop/topics")));
    assert_eq!(site.get("/c/shop/topics/orders").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_test_message_leads_on_and_is_there() {
    let fake = fake_cluster();
    fake.set_now(crate::testing::NOW);
    let site = site_of(&fake).await;
    assert!(site.get("/c/shop/topics/orders/send").await.body.contains("name=\"properties\""));
    let bad = site.post("/c/shop/topics/orders/send", "properties=UNIQ_KEY%3D1&body=x").await;
    assert_eq!(bad.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(bad.body.contains("keeps UNIQ_KEY for itself"), "{}", bad.body);
    let sent = site.post("/c/shop/topics/orders/send", "keys=order-99&tag=paid&body=%7B%7D%0D%0A&properties=").await;
    assert_eq!(sent.status, StatusCode::SEE_OTHER, "{}", sent.body);
    let found = site.get("/c/shop/topics/orders/messages?by=key&key=order-99").await.body;
    assert!(found.contains("One message with key “order-99”"), "{found}");
}

#[tokio::test]
async fn a_read_only_cluster_offers_no_change_and_refuses_it() {
    let site = crate::testing::read_only_site();
    site.settle().await;
    let page = site.get("/c/shop/topics/orders").await.body;
    assert!(!page.contains("/delete") && !page.contains("/send"), "{page}");
    assert_eq!(site.get("/c/shop/topics/-/new").await.status, StatusCode::FORBIDDEN);
    assert_eq!(site.post("/c/shop/topics", "name=x").await.status, StatusCode::FORBIDDEN);
    assert_eq!(site.post("/c/shop/topics/orders/delete", "confirm=orders").await.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn every_part_of_a_topic_answers_in_both_languages() {
    let fake = fake_cluster().message(FakeMessage::to("orders").on("broker-b", 1));
    let site = site_of(&fake).await;
    for part in ["", "/groups", "/config", "/messages", "/send", "/delete"] {
        for language in ["en", "zh-CN"] {
            let answer = site.get_with(&format!("/c/shop/topics/orders{part}"), &[("accept-language", language)]).await;
            assert_eq!(answer.status, StatusCode::OK, "{part} {language}: {}", answer.body);
            assert!(!answer.body.contains(" style=") && !answer.body.contains(">topics-"), "{part} {language}");
        }
    }
}

#[tokio::test]
async fn programs_do_the_same() {
    let site = site();
    site.settle().await;
    let headers = [("content-type", "application/json")];
    let path = "/api/v1/clusters/shop/topics";
    let bad = site.post_with(path, r#"{"name":"a b","write_queues":4}"#, &headers).await;
    assert_eq!(bad.status, StatusCode::UNPROCESSABLE_ENTITY);
    let told: serde_json::Value = serde_json::from_str(&bad.body).unwrap();
    assert_eq!(told["errors"][0]["code"], "name-character");
    let good = r#"{"name":"invoices","write_queues":4,"brokers":["broker-a"]}"#;
    let done: serde_json::Value = serde_json::from_str(&site.post_with(path, good, &headers).await.body).unwrap();
    assert_eq!((&done["succeeded"], &done["failed"]), (&1.into(), &0.into()));
    let shown: serde_json::Value = serde_json::from_str(&site.get(&format!("{path}/invoices")).await.body).unwrap();
    assert_eq!(shown["queues"].as_array().unwrap().len(), 4);
}
