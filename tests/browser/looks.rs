//! Every page in both languages, both themes, wide and narrow: nothing that the browser complains of, nothing that axe
//! complains of, nothing that scrolls sideways.

use serde_json::Value;

use crate::chromium::{Driver, Look};
use crate::support::api::{Api, escape};
use crate::support::millrace::{CLUSTER, Server, Setup};

/// Name for the screenshot, and path.
async fn pages(server: &Server) -> Vec<(&'static str, String)> {
    let topic = format!("/c/{CLUSTER}/topics/orders_raw");
    let found = server.api.json(&Api::of_cluster("/topics/orders_raw/messages")).await;
    let message = first_message(&found).expect("a message of orders_raw");
    vec![
        ("clusters", "/".to_owned()),
        ("overview", format!("/c/{CLUSTER}")),
        ("ingest", format!("/c/{CLUSTER}/ingest")),
        ("record-search", format!("/c/{CLUSTER}/records")),
        ("record-whole", format!("/c/{CLUSTER}/records?q=order-000")),
        ("record-retried", format!("/c/{CLUSTER}/records?q=order-003")),
        ("record-dead", format!("/c/{CLUSTER}/records?q=order-007")),
        ("record-rolled-back", format!("/c/{CLUSTER}/records?q=pay-rollback")),
        ("record-messages", format!("/c/{CLUSTER}/records?q=order-003&view=messages")),
        ("record-raw", format!("/c/{CLUSTER}/records?q=order-003&view=raw")),
        ("record-nowhere", format!("/c/{CLUSTER}/records?q=nobody-sent-this")),
        ("topics", format!("/c/{CLUSTER}/topics")),
        ("topic-new", format!("/c/{CLUSTER}/topics/-/new")),
        ("topic", topic.clone()),
        ("topic-groups", format!("{topic}/groups")),
        ("topic-config", format!("{topic}/config")),
        ("topic-delete", format!("{topic}/delete")),
        ("topic-send", format!("{topic}/send")),
        ("messages", format!("{topic}/messages")),
        ("message", message),
        ("message-find", format!("/c/{CLUSTER}/messages")),
        ("groups", format!("/c/{CLUSTER}/groups")),
        ("group-new", format!("/c/{CLUSTER}/groups/-/new")),
        ("group", format!("/c/{CLUSTER}/groups/order_cleaner")),
        ("group-clients", format!("/c/{CLUSTER}/groups/order_cleaner/clients")),
        ("group-config", format!("/c/{CLUSTER}/groups/order_cleaner/config")),
        ("group-edit", format!("/c/{CLUSTER}/groups/order_cleaner/edit")),
        ("group-delete", format!("/c/{CLUSTER}/groups/order_cleaner/delete")),
        ("group-reset", format!("/c/{CLUSTER}/groups/order_cleaner/reset?topic=orders_raw&to=earliest")),
        ("group-dead-letters", format!("/c/{CLUSTER}/groups/order_cleaner/dead-letters")),
        ("group-history", format!("/c/{CLUSTER}/groups/order_cleaner/history?range=1h")),
        ("dead-letters", format!("/c/{CLUSTER}/dead-letters")),
        ("topic-history", format!("{topic}/history?range=1h")),
        ("history", format!("/c/{CLUSTER}/history?at=now")),
        ("about", "/about".to_owned()),
    ]
}

/// The address of the first message in an answer of the browse API.
fn first_message(found: &Value) -> Option<String> {
    let row = found["messages"].as_array()?.first()?;
    let (broker, queue, offset) = (row["broker"].as_str()?, row["queue"].as_i64()?, row["offset"].as_i64()?);
    Some(format!("/c/{CLUSTER}/topics/orders_raw/messages/{}/{queue}/{offset}", escape(broker)))
}

async fn look_at_everything(language: &'static str, theme: &'static str) {
    let setup = Setup::new();
    let server = setup.start();
    server.api.until_ingested().await;
    let pages = pages(&server).await;
    let driver = Driver::start();
    let mut faults = Vec::new();
    for width in [1440, 390] {
        let browser = driver.open(Look { language, theme, width, javascript: true }).await;
        browser.choose_theme(&server.api.url("")).await;
        for (name, path) in &pages {
            browser.open(&server.api.url(path)).await;
            let shown = browser.run("return document.documentElement.lang").await;
            assert_eq!(shown, language, "{name}");
            browser.photograph(name).await;
            faults.extend(browser.faults(name).await);
        }
        // The address does not exist, and the browser says so of itself; the page must still be a good one.
        browser.open(&server.api.url("/no/such/page")).await;
        browser.photograph("no-such-page").await;
        let expected = |fault: &String| !fault.contains("the server responded with a status of 404");
        faults.extend(browser.faults("no-such-page").await.into_iter().filter(expected));
        browser.close().await;
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

#[tokio::test]
async fn english_light() {
    look_at_everything("en", "light").await;
}

#[tokio::test]
async fn english_dark() {
    look_at_everything("en", "dark").await;
}

#[tokio::test]
async fn chinese_light() {
    look_at_everything("zh-CN", "light").await;
}

#[tokio::test]
async fn chinese_dark() {
    look_at_everything("zh-CN", "dark").await;
}
