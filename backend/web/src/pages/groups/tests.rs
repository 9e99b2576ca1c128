//! The pages of groups on the fakes.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use axum::http::StatusCode;
use millrace_broker::fake::{Call, FakeClient, FakeCluster, FakeMessage, Fault};
use millrace_core::name::QueueRef;
use millrace_core::time::Millis;

use crate::testing::{FakeTraces, Site, builder, fake_cluster, view};

fn place() -> QueueRef {
    QueueRef { topic: "orders".to_owned(), broker: "broker-a".to_owned(), queue: 0 }
}

fn behind() -> FakeCluster {
    fake_cluster().committed_at("billing", &place(), 0)
}

async fn site_of(fake: &FakeCluster) -> Site {
    let site = Site::of(builder().cluster(view("shop", fake, FakeTraces::default())).build());
    site.settle().await;
    site.settle().await;
    site
}

/// What a page's form would send.
fn hidden(page: &str, name: &str) -> String {
    let start = format!("name=\"{name}\" value=\"");
    let rest = page.split(&start).nth(1).unwrap();
    let value = rest.split('"').next().unwrap();
    value.replace("&#62;", ">").replace("&gt;", ">")
}

#[tokio::test]
async fn the_list_says_how_each_group_does() {
    let site = site_of(&behind()).await;
    let page = site.get("/c/shop/groups").await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(page.body.contains("href=\"/c/shop/groups/billing\""), "{}", page.body);
    assert!(page.body.contains("nobody online") && page.body.contains("no offset committed"), "{}", page.body);
    let offline = site.get_block("/c/shop/groups?standing=offline", "groups").await.body;
    assert!(offline.trim_start().starts_with("<div id=\"groups\""));
    assert!(offline.contains("billing") && !offline.contains("price-enricher"), "{offline}");
    let chinese = site.get_with("/c/shop/groups", &[("accept-language", "zh-CN")]).await.body;
    assert!(chinese.contains("消费组") && chinese.contains("无客户端在线"), "{chinese}");
    let json: serde_json::Value = serde_json::from_str(&site.get("/api/v1/clusters/shop/groups").await.body).unwrap();
    let billing = json["groups"].as_array().unwrap().iter().find(|group| group["name"] == "billing").unwrap().clone();
    assert_eq!((&billing["standing"], &billing["lag"]["at_least"]), (&"offline".into(), &1.into()));
}

#[tokio::test]
async fn a_group_shows_its_progress_clients_and_configuration() {
    let fake = behind()
        .online(&FakeClient::of("billing", "c1").subscribed("orders", "web"))
        .online(&FakeClient::of("billing", "<b>c2</b>").subscribed("orders", "<i>app</i>"));
    let site = site_of(&fake).await;
    let progress = site.get("/c/shop/groups/billing").await.body;
    assert!(progress.contains("subscribe to") && progress.contains("in different ways"), "{progress}");
    let clients = site.get("/c/shop/groups/billing/clients").await.body;
    assert!(clients.contains("&#60;i&#62;app") || clients.contains("&lt;i&gt;app"), "{clients}");
    assert!(!clients.contains("<b>c2") && !clients.contains("<i>app"));
    let config = site.get("/c/shop/groups/billing/config").await.body;
    assert!(config.contains("broker-a") && config.contains(">16<"), "{config}");
    let client = site.get("/c/shop/groups/billing/clients/c1").await;
    assert!(client.status == StatusCode::OK && client.body.contains("main [RUNNABLE]"), "{}", client.body);
    assert_eq!(site.get("/c/shop/groups/billing/clients/nobody").await.status, StatusCode::NOT_FOUND);
    assert_eq!(site.get("/c/shop/groups/nobody").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn an_operator_previews_a_reset_and_sets_it() {
    let fake = behind();
    let site = site_of(&fake).await;
    let preview = site.get("/c/shop/groups/billing/reset?topic=orders&to=latest&queue=broker-a/0").await;
    assert_eq!(preview.status, StatusCode::OK);
    assert!(preview.body.contains("one is skipped"), "{}", preview.body);
    let seen = hidden(&preview.body, "seen");
    let form = |seen: &str| format!("topic=orders&to=latest&queue=broker-a%2F0&seen={}", crate::links::encoded(seen));
    let stale = site.post("/c/shop/groups/billing/reset", &form("broker-a/0:7>9")).await;
    assert_eq!(stale.status, StatusCode::CONFLICT);
    assert!(stale.body.contains("has moved since") && fake.committed_offset("billing", &place()) == Some(0));
    let done = site.post("/c/shop/groups/billing/reset", &form(&seen)).await;
    assert_eq!(done.status, StatusCode::OK, "{}", done.body);
    assert!(done.body.contains("The offset of one queue is set"), "{}", done.body);
    assert_eq!(fake.committed_offset("billing", &place()), Some(1));
    let wrong = site.get("/c/shop/groups/billing/reset?topic=orders&to=time&time=whenever").await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(wrong.body.contains("aria-invalid"), "{}", wrong.body);
}

#[tokio::test]
async fn forms_make_change_and_delete_a_group() {
    let fake = fake_cluster();
    let site = site_of(&fake).await;
    let form = "name=billing&consume=1&retry_max=3&retry_queues=1&brokers=broker-a&brokers=broker-b";
    let made = site.post("/c/shop/groups", form).await;
    assert_eq!(made.status, StatusCode::SEE_OTHER, "{}", made.body);
    assert_eq!(made.header("location"), Some("/c/shop/groups/billing"));
    let again = site.post("/c/shop/groups", form).await;
    assert_eq!(again.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(again.body.contains("There is a group of this name on broker-a, broker-b"), "{}", again.body);

    let edit = site.get("/c/shop/groups/billing/edit").await.body;
    assert!(edit.contains("value=\"3\"") && !edit.contains("name=\"name\""), "{edit}");
    fake.fail_call("broker-b", Call::PutGroup, Fault::Dead);
    let changed =
        site.post("/c/shop/groups/billing/edit", "retry_max=5&retry_queues=1&brokers=broker-a&brokers=broker-b");
    assert_eq!(changed.await.status, StatusCode::SEE_OTHER);
    let config = site.get("/c/shop/groups/billing/config").await.body;
    assert!(config.contains(">5<") && config.contains(">3<"), "{config}");

    assert_eq!(site.post("/c/shop/groups/billing/delete", "confirm=x").await.status, StatusCode::UNPROCESSABLE_ENTITY);
    let gone = site.post("/c/shop/groups/billing/delete", "confirm=billing").await;
    assert_eq!(gone.header("location"), Some("/c/shop/groups"), "{}", gone.body);
    assert_eq!(site.get("/c/shop/groups/billing").await.status, StatusCode::NOT_FOUND);
}

/// Three orders that `billing` gave up, the last with a body that wants to act.
fn given_up() -> FakeCluster {
    let mut fake = behind().topic("%DLQ%billing", 1);
    for (number, body) in ["{}", "[]", "<script>1</script>"].into_iter().enumerate() {
        let letter = FakeMessage::to("%DLQ%billing")
            .key(&format!("order-{number}"))
            .property("RETRY_TOPIC", "orders")
            .at(Millis(1_796_000_000_000 + i64::try_from(number).unwrap()))
            .body(body);
        fake = fake.message(letter.reconsumed(16));
    }
    fake
}

#[tokio::test]
async fn dead_letters_are_listed_chosen_and_sent_again_once() {
    let fake = given_up();
    let site = site_of(&fake).await;
    let groups = site.get("/c/shop/dead-letters").await.body;
    assert!(groups.contains("href=\"/c/shop/groups/billing/dead-letters\""), "{groups}");
    let path = "/c/shop/groups/billing/dead-letters";
    let page = site.get(path).await.body;
    assert!(page.contains("order-0") && page.contains("href=\"/c/shop/topics/orders\""), "{page}");
    assert!(!page.contains("<script>1"), "{page}");
    let chinese = site.get_with(path, &[("accept-language", "zh-CN")]).await.body;
    assert!(chinese.contains("仅发给 billing"), "{chinese}");

    let attempt = hidden(&page, "attempt");
    let nothing = site.post(path, &format!("attempt={attempt}&target=group")).await;
    assert_eq!(nothing.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(nothing.body.contains("Choose at least one message"), "{}", nothing.body);
    assert_eq!(hidden(&nothing.body, "attempt"), attempt, "the form is the same press");
    let form = format!("attempt={attempt}&target=group&places=broker-a%2F0%2F0&places=broker-a%2F0%2F9");
    let sent = site.post(path, &form).await.body;
    assert!(sent.contains("1 of 2 were sent again") && sent.contains("gone"), "{sent}");
    let again = site.post(path, &form).await.body;
    assert!(again.contains("had been sent already"), "{again}");
    assert_eq!(fake.calls(Call::Forward), 1);
    let marked = site.get(path).await.body;
    assert!(marked.contains("name=\"places\" value=\"broker-a/0/0\"") && marked.contains("/c/shop/records?q="));

    let api = "/api/v1/clusters/shop/groups/billing/dead-letters";
    let told: serde_json::Value = serde_json::from_str(&site.get(api).await.body).unwrap();
    assert_eq!((&told["total"], &told["letters"][2]["origin_topic"]), (&3.into(), &"orders".into()));
    assert_eq!(told["letters"][2]["resent"]["who"], crate::pages::topics::WHO);
    let json = r#"{"attempt":"press-0001","target":"topic","places":["broker-a/0/1"]}"#;
    let sent = site.request("POST", api, json, &[("content-type", "application/json")]).await;
    let sent: serde_json::Value = serde_json::from_str(&sent.body).unwrap();
    assert_eq!((&sent["done"], &sent["letters"][0]["outcome"]), (&1.into(), &"sent".into()), "{sent:#}");
}

#[tokio::test]
async fn a_group_without_dead_letters_says_so() {
    let site = site_of(&behind()).await;
    let page = site.get("/c/shop/groups/billing/dead-letters").await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(page.body.contains("This group has given no message up"), "{}", page.body);
    assert!(site.get("/c/shop/dead-letters").await.body.contains("No group has given a message up"));
    assert_eq!(site.get("/c/shop/groups/nobody/dead-letters").await.status, StatusCode::NOT_FOUND);
}
