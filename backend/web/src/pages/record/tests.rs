//! Record pages over recorded traces of a real task (`tests/traces`).
#![expect(clippy::unwrap_used, reason = "tests")]

use axum::http::StatusCode;

use crate::testing::{broken_store_site, recorded_site, site};

#[tokio::test]
async fn the_search_page_offers_what_was_just_traced() {
    let body = recorded_site().get("/c/shop/records").await.body;
    assert!(body.contains("Where is this record?"), "{body}");
    assert!(body.contains("/c/shop/records?q=recall-0"), "{body}");
    let silent = broken_store_site().get("/c/shop/records").await;
    assert_eq!(silent.status, StatusCode::OK);
    assert!(silent.body.contains("The trace store did not answer"), "{}", silent.body);
}

#[tokio::test]
async fn a_record_is_told_drawn_and_listed() {
    let site = recorded_site();
    let body = site.get("/c/shop/records?q=rec-0003").await.body;
    for shown in [
        "All traced deliveries ended well: 4 groups have it",
        "record key",
        "3 messages",
        "demo_op1 · try 2",
        "<svg class=\"drawing\"",
        "very likely",
        "id=\"hop-0\"",
        "href=\"#hop-0\"",
    ] {
        assert!(body.contains(shown), "{shown} is not in {body}");
    }
    // The drawing and the table tell of the same groups.
    for group in ["demo_op1", "demo_op2", "demo_lite_g", "demo_bcast_g"] {
        assert!(body.contains(&format!("<title>{group}: ")), "{group} is not drawn");
        assert!(body.contains(&format!("<th scope=\"row\">{group}</th>")), "{group} is not listed");
    }
}

#[tokio::test]
async fn a_dead_letter_is_said_first() {
    let body = recorded_site().get("/c/shop/records?q=rec-0007").await.body;
    assert!(
        body.contains("Stopped at demo_op1: failed 3 times, in the dead-letter topic since 02:54:03.468"),
        "{body}"
    );
    assert!(body.contains("0 of 1 group has the record"), "{body}");
    assert!(body.contains("%DLQ%demo_op1"), "{body}");
    let chinese = recorded_site().get_with("/c/shop/records?q=rec-0007", &[("accept-language", "zh-CN")]).await.body;
    assert!(chinese.contains("停在 demo_op1：失败 3 次"), "{chinese}");
}

#[tokio::test]
async fn views_are_links_and_a_block_is_part_of_the_page() {
    let site = recorded_site();
    let raw = site.get("/c/shop/records?q=rec-0000&view=raw").await.body;
    assert!(raw.contains("SubBefore") && raw.contains("demo_op1_out"), "{raw}");
    let messages = site.get("/c/shop/records?q=tx-unknown&view=messages").await.body;
    assert!(messages.contains("asked by the broker"), "{messages}");
    let block = site.get_block("/c/shop/records?q=rec-0000", "answer").await.body;
    assert!(block.trim_start().starts_with("<div id=\"answer\""), "{block}");
    assert!(site.first_event("/c/shop/records/events?q=rec-0000").await.contains("id=\"answer\""));
    let nothing = site.get("/c/shop/records/events").await;
    assert_eq!(nothing.status, StatusCode::UNPROCESSABLE_ENTITY);
}

#[tokio::test]
async fn one_key_of_several_records_is_a_choice() {
    let site = recorded_site();
    let all = site.get("/c/shop/records?q=old-0").await.body;
    assert!(all.contains("3 records use this key"), "{all}");
    assert!(all.contains("&#38;root=") || all.contains("&root="), "{all}");
    let one = site.get("/c/shop/records?q=old-0&root=C00002020CA05FFD2B2700A66DB30000").await.body;
    assert!(one.contains("demo_old_4_4_0") && !one.contains("demo_old_4_8_0"), "{one}");
}

#[tokio::test]
async fn nothing_found_says_what_was_searched_and_why_that_may_be() {
    let answer = recorded_site().get("/c/shop/records?q=nowhere%20%26%20%3Cb%3E").await;
    assert_eq!(answer.status, StatusCode::OK);
    for shown in [
        "Nothing was found for",
        "Likely reasons",
        "It may be spelt otherwise",
        "Searched 2 segments",
        "topics searched",
    ] {
        assert!(answer.body.contains(shown), "{shown} is not in {}", answer.body);
    }
    assert!(!answer.body.contains("<b>"), "{}", answer.body);
    let broken = broken_store_site().get("/c/shop/records?q=rec-0000").await;
    assert_eq!(broken.status, StatusCode::SERVICE_UNAVAILABLE, "a broken store is not an empty answer");
}

#[tokio::test]
async fn ids_are_taken_for_what_they_are() {
    let site = site();
    for (text, said) in [
        ("AC1415116D1418B4AAC217FE1B4E0000", "message id of 172.20.21.17"),
        ("0A9A002600002A9F0000000000002329", "offset message id: 10.154.0.38:10911"),
        ("0108719066FF9A489C04DB99CA00000003", "gRPC client’s message id of 08:71:90:66:ff:9a"),
        ("order-1", "record key"),
    ] {
        let body = site.get(&format!("/c/shop/records?q={text}")).await.body;
        assert!(body.contains(said), "{said} is not in {body}");
    }
    let long = site.get(&format!("/c/shop/records?q={}", "x".repeat(3_000))).await;
    assert_eq!(long.status, StatusCode::UNPROCESSABLE_ENTITY);
}

#[tokio::test]
async fn programs_get_the_same_answer() {
    let site = recorded_site();
    let answer = site.get("/api/v1/clusters/shop/records/rec-0003").await;
    let json: serde_json::Value = serde_json::from_str(&answer.body).unwrap();
    assert_eq!(json.pointer("/flow/verdict/code").unwrap(), "traced_ok");
    assert_eq!(json.pointer("/flow/hops/0/attempts").unwrap().as_array().unwrap().len(), 2);
    let nothing = site.get("/api/v1/clusters/shop/records/a%2Fb%20c").await;
    assert_eq!(nothing.status, StatusCode::OK);
    let json: serde_json::Value = serde_json::from_str(&nothing.body).unwrap();
    assert_eq!(
        (json.pointer("/question").unwrap(), json.pointer("/flow/verdict/code").unwrap()),
        (&"a/b c".into(), &"not_found".into())
    );
}

/// The client's clock is four seconds behind: its times are corrected, and the page says by how much.
#[tokio::test]
async fn a_clock_that_is_off_is_told_and_corrected() {
    use millrace_core::time::Millis;
    use millrace_core::trace::{TraceMessage, decode, recorded};

    let trace = |body: &str, born: i64, stored: i64, offset| {
        let body = body.replace('␁', "\u{1}").replace('␂', "\u{2}").into_bytes();
        let (born, stored, born_host) = (Millis(born), Millis(stored), format!("192.0.2.{offset}"));
        decode(&TraceMessage { born, stored, born_host, ..recorded::body(body, offset) }).records
    };
    let sent = "Pub␁10000␁DefaultRegion␁shop␁orders␁M1␁␁order-1␁192.0.2.1:10911␁2␁1␁0␁␁true␁192.0.2.7␂";
    let taken = "SubBefore␁6050␁DefaultRegion␁billing␁R1␁M1␁0␁order-1␂SubAfter␁R1␁M1␁5␁true␁order-1␁0␁6055␁billing␂";
    let records = [trace(sent, 10_001, 10_002, 1), trace(taken, 6_100, 10_110, 2)].concat();
    let page = crate::testing::traced_site(records).get("/c/shop/records?q=order-1").await.body;
    assert!(page.contains("The clock of 192.0.2.2 is 4 s behind the broker’s; its times are corrected"), "{page}");
    assert!(!page.contains("out of order") && !page.contains("before it was sent"), "{page}");
}

/// What clients traced is text, whatever it holds: no markup, no control characters, no turned writing.
#[tokio::test]
async fn a_hostile_trace_does_not_act() {
    use millrace_core::trace::{decode, recorded};

    let key = "k<b>\u{202e}\u{1b}[31m";
    let body = format!(
        "Pub\u{1}1700000000100\u{1}DefaultRegion\u{1}g\u{202e}<i>\u{1}orders\u{1}M1\u{1}tag\u{1}{key}\u{1}192.0.2.1:10911\u{1}3\u{1}2\u{1}0\u{1}C0000201\u{1}true\u{1}192.0.2.2\u{2}"
    );
    let records = decode(&recorded::body(body.into_bytes(), 1)).records;
    assert_eq!(records.len(), 1);
    let site = crate::testing::traced_site(records);
    for view in ["", "&view=messages", "&view=raw"] {
        let page = site.get(&format!("/c/shop/records?q=M1{view}")).await.body;
        assert!(page.contains("\\u{202e}"), "it is shown by its name{view}: {page}");
        for live in ["\u{202e}", "\u{1b}", "<i>", "k<b>"] {
            assert!(!page.contains(live), "{live:?} acts{view}");
        }
    }
}
