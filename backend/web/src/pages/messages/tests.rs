//! The pages of messages on the fakes.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use axum::http::StatusCode;
use millrace_broker::BrokerError;
use millrace_broker::fake::{Call, FakeCluster, FakeMessage, Fault};
use millrace_core::time::Millis;

use crate::testing::{FakeTraces, Site, builder, fake_cluster, view};

async fn site_of(fake: &FakeCluster) -> Site {
    let site = Site::of(builder().cluster(view("shop", fake, FakeTraces::default())).build());
    site.settle().await;
    site
}

/// A hundred messages in two queues.
fn hundred() -> FakeCluster {
    let fake = fake_cluster();
    for number in 0..100 {
        let message = FakeMessage::to("orders_clean").on("broker-b", number % 2).key(&format!("order-{number}"));
        fake.append(
            message.at(Millis(1_800_000_000_000 + i64::from(number) * 1_000)).body(format!("{{\"n\":{number}}}")),
        );
    }
    fake
}

#[tokio::test]
async fn links_lead_through_all_pages_once() {
    let site = site_of(&hundred()).await;
    let (mut path, mut seen) = ("/c/shop/topics/orders_clean/messages?size=32".to_owned(), Vec::new());
    for _ in 0..10 {
        let body = site.get(&path).await.body;
        assert!(body.contains("of about 100"), "{body}");
        for part in body.split("href=\"/c/shop/topics/orders_clean/messages/broker-b/").skip(1) {
            seen.push(part.split('"').next().unwrap().to_owned());
        }
        let Some(next) = body.split("rel=\"next\" href=\"").nth(1) else { break };
        path = next.split('"').next().unwrap().replace("&#38;", "&").replace("&amp;", "&");
    }
    let all: std::collections::BTreeSet<_> = seen.iter().cloned().collect();
    assert_eq!((seen.len(), all.len()), (100, 100));
    assert_eq!(seen[0], "1/49");
}

#[tokio::test]
async fn times_are_echoed_and_bad_ones_refused_at_their_field() {
    let site = site_of(&hundred()).await;
    let by = "/c/shop/topics/orders_clean/messages?by=time";
    let page = site.get(&format!("{by}&from=1800000000&to=1800000009000")).await;
    assert!(page.body.contains("read as seconds:") && page.body.contains("read as milliseconds:"), "{}", page.body);
    assert!(page.body.contains("10 messages"), "{}", page.body);
    let bad = site.get(&format!("{by}&from=yesterday")).await;
    assert_eq!(bad.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(bad.body.contains("Not a time") && bad.body.contains("value=\"yesterday\""), "{}", bad.body);
    let reversed = site.get(&format!("{by}&from=1800000009&to=1800000000")).await;
    assert!(reversed.body.contains("The end is before the start"), "{}", reversed.body);
    assert_eq!(reversed.status, StatusCode::UNPROCESSABLE_ENTITY);
    let api = "/api/v1/clusters/shop/topics/orders_clean/messages?by=time&from=1800000009&to=1800000000";
    assert_eq!(site.get(api).await.status, StatusCode::UNPROCESSABLE_ENTITY);
    let none = site.get(&format!("{by}&from=1700000000&to=1700000001")).await;
    assert_eq!(none.status, StatusCode::OK);
    assert!(none.body.contains("No message was found"), "{}", none.body);
}

#[tokio::test]
async fn one_message_is_text_and_its_body_a_file() {
    let fake = fake_cluster();
    let json = br#"{"a":9007199254740993,"b":18446744073709551615,"c":"</script><img src=x onerror=alert(1)>"}"#;
    fake.append(FakeMessage::to("orders").on("broker-b", 1).property("note", "<b>\u{202e}").body(json.to_vec()));
    fake.append(FakeMessage::to("orders").on("broker-b", 1).body(vec![0xb6, 0xa9, 0xff, 0xfe, 0x00]));
    fake.append(FakeMessage::to("orders").on("broker-b", 1).body(vec![b'x'; 4 << 20]));
    let site = site_of(&fake).await;
    let at = |offset: u8| format!("/c/shop/topics/orders/messages/broker-b/1/{offset}");

    let page = site.get(&at(0)).await.body;
    assert!(page.contains("9007199254740993") && page.contains("18446744073709551615"), "{page}");
    assert!(!page.contains("<img src=x") && !page.contains("<b>\u{202e}") && page.contains("\\u{202e}"), "{page}");
    let file = site.get(&format!("{}/body", at(0))).await;
    assert_eq!(file.body.as_bytes(), json);
    assert_eq!(file.header("content-type"), Some("application/octet-stream"));
    assert!(file.header("content-disposition").unwrap().starts_with("attachment"));

    let binary = site.get(&at(1)).await.body;
    assert!(binary.contains("b6 a9 ff fe 00") && binary.contains("not UTF-8"), "{binary}");
    assert!(site.get(&format!("{}?as=gbk", at(1))).await.body.contains('订'));

    let large = site.get(&at(2)).await.body;
    assert!(large.contains("4 MiB") && large.contains("the first 64 KiB are shown"), "{}", large.len());
    assert!(large.len() < 200_000);
    assert_eq!(site.get(&format!("{}/body", at(2))).await.body.len(), 4 << 20);

    let gone = site.get(&at(9)).await;
    assert_eq!(gone.status, StatusCode::NOT_FOUND);
    assert!(gone.body.contains("the queue ends before 3"), "{}", gone.body);
}

#[tokio::test]
async fn an_id_says_what_it_was_taken_for() {
    let fake = fake_cluster();
    let stored = fake.append(FakeMessage::to("orders").on("broker-b", 1));
    let site = site_of(&fake).await;
    let found = site.get(&format!("/c/shop/messages?id={}", stored.offset_id)).await.body;
    assert!(found.contains("Taken for an offset id of broker-b") && found.contains("One message"), "{found}");
    let asked = site.get(&format!("/c/shop/messages?id={}", stored.id())).await;
    assert_eq!(asked.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(asked.body.contains("name its topic"), "{}", asked.body);
    let browse = site.get("/c/shop/messages?topic=orders").await;
    assert_eq!(browse.header("location"), Some("/c/shop/topics/orders/messages"));
}

#[tokio::test]
async fn programs_page_by_cursor() {
    let site = site_of(&hundred()).await;
    let path = "/api/v1/clusters/shop/topics/orders_clean/messages?size=60";
    let first: serde_json::Value = serde_json::from_str(&site.get(path).await.body).unwrap();
    assert_eq!((first["total"].as_i64(), first["messages"].as_array().unwrap().len()), (Some(100), 60));
    let next = format!("{path}&cursor={}", first["next"].as_str().unwrap());
    let second: serde_json::Value = serde_json::from_str(&site.get(&next).await.body).unwrap();
    assert_eq!((second["messages"].as_array().unwrap().len(), &second["next"]), (40, &serde_json::Value::Null));
    let bad = site.get(&format!("{path}&cursor=odd")).await;
    assert_eq!(bad.status, StatusCode::UNPROCESSABLE_ENTITY);
}

/// What would read as another line or name of the form is refused, never reshaped.
#[tokio::test]
async fn properties_of_programs_are_taken_as_they_are_or_refused() {
    let site = crate::testing::site();
    let json = [("content-type", "application/json")];
    for properties in [r#"{"a":"1\nb=2"}"#, r#"{"a=b":"c"}"#, r#"{"a\r":"c"}"#] {
        let body = format!(r#"{{"body":"x","properties":{properties}}}"#);
        let answer = site.post_with("/api/v1/clusters/shop/topics/orders/messages", &body, &json).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{properties}: {}", answer.body);
        assert!(answer.body.contains("\"properties\""), "{}", answer.body);
    }
}

/// No match, a fault, and a part of an answer are three things.
#[tokio::test]
async fn by_key_no_match_is_empty_a_fault_is_a_fault_and_a_part_is_told() {
    let fake = fake_cluster();
    let site = site_of(&fake).await;
    let asked = "shop/topics/orders/messages?by=key&key=order-99";
    let (api, page) = (format!("/api/v1/clusters/{asked}"), format!("/c/{asked}"));
    let empty = site.get(&api).await;
    let told: serde_json::Value = serde_json::from_str(&empty.body).unwrap();
    assert_eq!((empty.status, &told["messages"]), (StatusCode::OK, &serde_json::json!([])));

    let busy = || {
        let (address, remark) = ("192.0.2.1:10911".to_owned(), "index busy".to_owned());
        Fault::Answers(BrokerError::Answered { address, code: 1, remark })
    };
    fake.fail_call("broker-b", Call::MessagesByKey, busy());
    for path in [&api, &page] {
        let part = site.get(path).await;
        assert_eq!(part.status, StatusCode::OK, "{path}");
        assert!(part.body.contains("broker-b") && part.body.contains("index busy"), "{path}: {}", part.body);
    }
    fake.fail_call("broker-a", Call::MessagesByKey, busy());
    for path in [&api, &page] {
        let failed = site.get(path).await;
        assert_eq!(failed.status, StatusCode::BAD_GATEWAY, "{path}");
        assert!(
            failed.body.contains("192.0.2.1:10911") && failed.body.contains("index busy"),
            "{path}: {}",
            failed.body
        );
    }
}

/// A time without an offset is the reader's: 2027-01-15 16:00 in Shanghai is the first message's instant.
#[tokio::test]
async fn a_typed_time_is_of_the_reader_s_zone() {
    let site = site_of(&hundred()).await;
    let by = "/c/shop/topics/orders_clean/messages?by=time&from=2027-01-15%2016%3A00%3A00&to=2027-01-15%2016%3A00%3A04";
    let shanghai = site.get_with(by, &[("cookie", "tz=Asia%2FShanghai")]).await;
    assert!(shanghai.body.contains("5 messages"), "{}", shanghai.body);
    let utc = site.get(by).await;
    assert!(utc.body.contains("No message was found"), "{}", utc.body);
}

#[tokio::test]
async fn a_damaged_link_says_so_in_the_reader_s_language() {
    let site = site_of(&hundred()).await;
    let path = "/c/shop/topics/orders_clean/messages?cursor=odd";
    let page = site.get(path).await;
    assert_eq!(page.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(page.body.contains("The link to this page is damaged"), "{}", page.body);
    let chinese = site.get_with(path, &[("accept-language", "zh-CN")]).await.body;
    assert!(!chinese.contains("The link to this page") && chinese.contains("role=\"alert\""), "{chinese}");
}

fn next_of(page: &str) -> String {
    let next = page.split("rel=\"next\" href=\"").nth(1).unwrap().split('"').next().unwrap();
    next.replace("&#38;", "&")
}

/// Seventy of one key: the broker tells 64, the page says so and leads to the rest.
#[tokio::test]
async fn a_capped_look_up_by_key_leads_on() {
    let fake = fake_cluster();
    for number in 0..70 {
        let at = Millis(1_700_000_000_000 + number * 1_000);
        fake.append(FakeMessage::to("orders_clean").on("broker-b", 0).key("order-7").at(at));
    }
    let site = site_of(&fake).await;
    let page = site.get("/c/shop/topics/orders_clean/messages?by=key&key=order-7").await.body;
    assert!(page.contains("broker-b answered 64"), "{page}");
    let next = next_of(&page);
    assert!(next.contains("to="), "{next}");
    let rest = site.get(&next).await.body;
    let rows = |page: &str| page.matches("href=\"/c/shop/topics/orders_clean/messages/broker-b/0/").count();
    // The moment where the first answer ended is asked again: others of it may not have been told.
    assert_eq!((rows(&page), rows(&rest)), (64, 7), "{rest}");
    let api = site.get("/api/v1/clusters/shop/topics/orders_clean/messages?by=key&key=order-7").await.body;
    let api: serde_json::Value = serde_json::from_str(&api).unwrap();
    assert_eq!(api["messages"].as_array().unwrap().len(), 64);

    // All of one moment: a narrower time does not help, and the page says what does.
    let fake = fake_cluster();
    for _ in 0..70 {
        let at = Millis(1_700_000_000_000);
        fake.append(FakeMessage::to("orders_clean").on("broker-b", 0).key("order-7").at(at));
    }
    let site = site_of(&fake).await;
    let page = site.get("/c/shop/topics/orders_clean/messages?by=key&key=order-7").await.body;
    let page = site.get(&next_of(&page)).await.body;
    assert!(page.contains("All of these are of one moment"), "{page}");
}

#[tokio::test]
async fn what_cannot_be_inflated_is_shown_as_stored_with_the_reason() {
    let fake = fake_cluster();
    fake.append(FakeMessage::to("orders").on("broker-b", 1).body(vec![0x78, 0x9c, 0xff]).inflate_error("ratio > 200"));
    fake.append(FakeMessage::to("orders").on("broker-b", 1).body(""));
    fake.append(FakeMessage::to("orders").on("broker-b", 1).body("null"));
    let site = site_of(&fake).await;
    let at = |root: &str, offset: u8| format!("{root}/topics/orders/messages/broker-b/1/{offset}");
    let page = site.get(&at("/c/shop", 0)).await.body;
    assert!(
        page.contains("could not be inflated") && page.contains("ratio &#62; 200") && page.contains("78 9c ff"),
        "{page}"
    );
    let chinese = site.get_with(&at("/c/shop", 0), &[("accept-language", "zh-CN")]).await.body;
    assert!(chinese.contains("消息体已压缩且无法解压"), "{chinese}");
    let api = async |offset| -> serde_json::Value {
        serde_json::from_str(&site.get(&at("/api/v1/clusters/shop", offset)).await.body).unwrap()
    };
    assert_eq!(
        (&api(0).await["inflate_error"], &api(0).await["body_encoding"]),
        (&"ratio > 200".into(), &"hex".into())
    );
    // Nothing and the word "null" are two bodies.
    assert_eq!((&api(1).await["body"], &api(1).await["body_size"]), (&"".into(), &0.into()));
    assert_eq!((&api(2).await["body"], &api(2).await["body_size"]), (&"null".into(), &4.into()));
    let (empty, null) = (site.get(&at("/c/shop", 1)).await.body, site.get(&at("/c/shop", 2)).await.body);
    assert!(!empty.contains(">null<") && null.contains(">null<"), "{null}");
}
