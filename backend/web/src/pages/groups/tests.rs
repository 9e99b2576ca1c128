//! The pages of groups on the fakes.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use axum::http::StatusCode;
use millrace_broker::fake::{Call, FakeClient, FakeCluster, Fault};
use millrace_core::name::QueueRef;

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
