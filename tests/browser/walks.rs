//! What a person does: looks a record up, creates, uses and deletes a topic, goes back and forward; with JavaScript and
//! without.

use crate::chromium::{Driver, Look};
use crate::support::millrace::{CLUSTER, Server, Setup};

/// The Enter key, as WebDriver types it.
const ENTER: char = '\u{e007}';

const WITHOUT_JAVASCRIPT: Look = Look { javascript: false, ..Look::PLAIN };

async fn ready() -> (Setup, Server, Driver) {
    let setup = Setup::new();
    let server = setup.start();
    server.api.until_ingested().await;
    (setup, server, Driver::start())
}

async fn search_to_record(look: Look) {
    let (_setup, server, driver) = ready().await;
    let browser = driver.open(look).await;
    browser.open(&server.api.url(&format!("/c/{CLUSTER}"))).await;
    browser.fill("#find", &format!("order-007{ENTER}")).await;
    let record = browser.arrive(|path| path.starts_with(&format!("/c/{CLUSTER}/records?"))).await;
    assert!(record.contains("q=order-007"), "{record}");
    assert_eq!(browser.text("h1").await, "order-007");
    let verdict = browser.text(".verdict").await;
    assert!(
        verdict.contains("order_cleaner") && verdict.contains('3'),
        "the sentence names where and how often: {verdict}"
    );
    assert!(browser.text("main").await.contains("%DLQ%order_cleaner"));
    browser.assert_quiet("the record").await;

    browser.back().await;
    browser.arrive(|path| path == format!("/c/{CLUSTER}")).await;
    browser.forward().await;
    browser.arrive(|path| path == record).await;
    assert_eq!(browser.text("h1").await, "order-007", "forward shows the whole page again");
    browser.assert_quiet("back and forward").await;
    browser.close().await;
}

#[tokio::test]
async fn a_search_leads_to_the_record() {
    search_to_record(Look::PLAIN).await;
}

#[tokio::test]
async fn a_search_leads_to_the_record_without_javascript() {
    search_to_record(WITHOUT_JAVASCRIPT).await;
}

async fn create_to_delete(look: Look, topic: &str) {
    let (_setup, server, driver) = ready().await;
    let browser = driver.open(look).await;
    let topics = format!("/c/{CLUSTER}/topics");
    browser.open(&server.api.url(&topics)).await;
    browser.press(&format!("a[href='{topics}/-/new']")).await;
    browser.arrive(|path| path == format!("{topics}/-/new")).await;

    // A wrong value keeps what was typed and says what is wrong at its field.
    browser.fill("#name", topic).await;
    browser.fill("#write_queues", "many").await;
    browser.press("#form button[type=submit]").await;
    browser.find("#write_queues[aria-invalid=true]").await;
    assert_eq!(browser.value("#name").await, topic);
    browser.fill("#write_queues", "2").await;
    browser.press("#form button[type=submit]").await;
    browser.arrive(|path| path.starts_with(&format!("{topics}/{topic}"))).await;
    assert!(browser.text("main").await.contains(topic));

    browser.open(&server.api.url(&format!("{topics}/{topic}/send"))).await;
    browser.fill("#keys", "walk-key-1").await;
    browser.fill("#tag", "walk").await;
    browser.fill("#body", "<script>alert(1)</script>").await;
    browser.press("#form button[type=submit]").await;
    browser.arrive(|path| !path.ends_with("/send")).await;
    browser.open(&server.api.url(&format!("{topics}/{topic}/messages"))).await;
    assert!(browser.text("main").await.contains("walk-key-1"));

    browser.open(&server.api.url(&format!("{topics}/{topic}/delete"))).await;
    browser.fill("#confirm", topic).await;
    browser.press("form[data-confirm] button[type=submit]").await;
    browser.arrive(|path| !path.ends_with("/delete")).await;
    browser.open(&server.api.url(&topics)).await;
    assert!(!browser.has(&format!("a[href='{topics}/{topic}']")).await, "{topic} is still listed");
    browser.close().await;
}

#[tokio::test]
async fn a_topic_lives_from_create_to_delete() {
    create_to_delete(Look::PLAIN, &format!("walk_{}", std::process::id())).await;
}

#[tokio::test]
async fn a_topic_lives_from_create_to_delete_without_javascript() {
    create_to_delete(WITHOUT_JAVASCRIPT, &format!("walk_no_js_{}", std::process::id())).await;
}

/// The switches are forms: they lead back to where one was.
#[tokio::test]
async fn language_and_theme_switch_in_place() {
    let (_setup, server, driver) = ready().await;
    let browser = driver.open(Look::PLAIN).await;
    let here = format!("/c/{CLUSTER}/topics");
    browser.open(&server.api.url(&here)).await;
    browser.press("button[name=lang][value=zh-CN]").await;
    browser.find("html[lang=zh-CN]").await;
    assert_eq!(browser.path().await, here);
    browser.press(".prefs button[name=theme]").await;
    browser.find("html[data-theme=light]").await;
    assert_eq!(browser.path().await, here);
    browser.assert_quiet("the switches").await;
    browser.close().await;
}

/// An operator looks at what a reset would do, does it, and sees what came of it.
async fn preview_to_reset(look: Look, group: &str, topic: &str) {
    let (_setup, server, driver) = ready().await;
    let browser = driver.open(look).await;
    let here = format!("/c/{CLUSTER}/groups/{group}");
    browser.open(&server.api.url(&here)).await;
    browser.press(&format!("a[href='{here}/reset']")).await;
    browser.arrive(|path| path == format!("{here}/reset")).await;

    // A time that is none is told at its field, and nothing is planned.
    browser.fill("#topic", topic).await;
    browser.fill("#time", "yesterday-ish").await;
    browser.press("form[method=get].panel button[type=submit]").await;
    browser.find("#time[aria-invalid=true]").await;
    browser.assert_refused("a time that is none", 422).await;
    assert!(!browser.has("form[method=post] button.risk").await, "there is no plan to carry out");

    browser.fill("#time", "2020-01-01 00:00").await;
    browser.press("form[method=get].panel button[type=submit]").await;
    browser.find("form[method=post] button.risk").await;
    let plan = browser.text("main").await;
    assert!(plan.contains("again"), "the preview says what is read again: {plan}");
    browser.press("form[method=post] button.risk").await;
    browser.find(".verdict.ok").await;
    browser.assert_quiet("the reset").await;

    browser.open(&server.api.url(&here)).await;
    assert!(browser.has("td.num a[href*='by=offset']").await, "the group has messages before it again");
    browser.close().await;
}

#[tokio::test]
async fn an_operator_previews_a_reset_and_does_it() {
    preview_to_reset(Look::PLAIN, "order_pricer", "orders_clean").await;
}

#[tokio::test]
async fn an_operator_previews_a_reset_and_does_it_without_javascript() {
    preview_to_reset(WITHOUT_JAVASCRIPT, "order_sink", "orders_out").await;
}

/// A tester finds a message among the dead letters and sends it to its group once more; pressing again sends nothing.
#[tokio::test]
async fn a_tester_sends_a_dead_letter_again() {
    let (_setup, server, driver) = ready().await;
    let browser = driver.open(Look::PLAIN).await;
    browser.open(&server.api.url(&format!("/c/{CLUSTER}/dead-letters"))).await;
    let letters = format!("/c/{CLUSTER}/groups/order_cleaner/dead-letters");
    browser.press(&format!("td a[href='{letters}']")).await;
    browser.arrive(|path| path == letters).await;
    // Other walks look at order-007.
    let row = "//tr[not(.//a[text()='order-007'])]//input[@name='places']";
    browser
        .run(&format!(
            "document.evaluate(\"{row}\", document, null, XPathResult.FIRST_ORDERED_NODE_TYPE).singleNodeValue.click()"
        ))
        .await;
    browser.press("form[method=post] button.first").await;
    browser.find(".verdict.ok").await;
    browser.assert_quiet("what was sent again").await;

    browser.back().await;
    browser.find("input[name=places]").await;
    browser.open(&server.api.url(&letters)).await;
    assert!(browser.has("td a[href*='/records?q=']").await);
    browser.close().await;
}
