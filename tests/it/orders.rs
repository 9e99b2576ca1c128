//! The shop's task, hop by hop: source -> order_cleaner -> order_pricer -> readers.

use crate::flow::{Flow, assert_attempts};
use crate::support::millrace::Setup;
use crate::truth::Truth;

/// Groups that read `orders_out`, and how often each of them gets a message.
const READERS: [(&str, usize); 3] = [("order_sink", 1), ("order_watch", 2), ("order_audit", 1)];

fn last_digit(key: &str) -> u32 {
    key.chars().next_back().and_then(|last| last.to_digit(10)).expect("a number")
}

fn orders(truth: &Truth) -> Vec<&str> {
    let orders: Vec<&str> = truth.keys().into_iter().filter(|key| key.starts_with("order-")).collect();
    assert!(orders.len() >= 10, "{orders:?}");
    orders
}

/// Messages, deliveries with their outcomes, and what produced what: nothing lacks and nothing is added.
#[tokio::test]
async fn every_order_is_told_as_it_went() {
    let truth = Truth::read();
    let setup = Setup::new();
    let server = setup.start();
    server.api.until_ingested().await;
    for key in orders(&truth) {
        let answer = server.api.record(key).await;
        let flow = Flow::of(&answer);
        assert_eq!(answer["taken_for"]["kind"], "key");

        let mut told: Vec<(&str, Option<&str>)> =
            flow.messages().iter().map(|m| (m["id"].as_str().unwrap(), m["topic"].as_str())).collect();
        let mut sent: Vec<(&str, Option<&str>)> =
            truth.sent_with(key).map(|sent| (sent.message_id.as_str(), Some(sent.topic.as_str()))).collect();
        told.sort_unstable();
        sent.sort_unstable();
        assert_eq!(told, sent, "{key}: {:#}", flow.0);

        for sent in truth.sent_with(key) {
            let (id, topic) = (sent.message_id.as_str(), sent.topic.as_str());
            let message = flow.message(id, topic);
            assert_eq!(message["publications"][0]["group"], sent.group, "{key}");
            assert_eq!(message["publications"].as_array().unwrap().len(), 1, "{key}");
            assert_eq!(message["evidence"]["code"], "traced");
            assert_eq!(message["keys"], serde_json::json!([key]));
            assert!(
                !flow.has_finding("duplicate_delivery"),
                "{key}: a broadcasting group is no duplicate: {:#}",
                flow.0
            );
            let groups: &[(&str, usize)] = match topic {
                "orders_raw" => &[("order_cleaner", 1)],
                "orders_clean" => &[("order_pricer", 1)],
                _ => &READERS,
            };
            for (group, times) in groups {
                let hop = flow.hop(group, id, topic);
                assert_attempts(hop, truth.deliveries(group, id));
                let ends = truth.deliveries(group, id).filter(|delivery| delivery.outcome == "ok").count();
                assert!(ends == *times || matches!(last_digit(key), 4 | 7), "{key}: {group} {ends}");
            }
        }
    }
}

#[tokio::test]
async fn what_an_operator_made_of_an_order_hangs_at_its_delivery() {
    let truth = Truth::read();
    let setup = Setup::new();
    let server = setup.start();
    server.api.until_ingested().await;
    for key in orders(&truth) {
        if matches!(last_digit(key), 4 | 7) {
            continue;
        }
        let answer = server.api.record(key).await;
        let flow = Flow::of(&answer);
        let raw = truth.sent_as("order", key);
        let clean = truth.sent_as("cleaned", key);
        let cleaned = flow.edge("order_cleaner", (&raw.message_id, "orders_raw"), (&clean.message_id, "orders_clean"));
        // The successful one, after those that failed.
        let attempts = truth.deliveries("order_cleaner", &raw.message_id).count();
        assert_eq!(cleaned["attempt"], attempts - 1, "{key}: {cleaned:#}");

        let out = truth.sent_with(key).find(|sent| sent.topic == "orders_out").unwrap();
        let priced = flow.edge("order_pricer", (&clean.message_id, "orders_clean"), (&out.message_id, "orders_out"));
        match last_digit(key) {
            6 => {
                assert_eq!(
                    (&priced["rule"], &priced["confidence"]),
                    (&"parent_token".into(), &"exact".into()),
                    "{key}"
                );
            }
            8 => {
                assert_eq!(out.message_id, clean.message_id, "the same object keeps its id");
                assert_eq!((&priced["rule"], &priced["confidence"]), (&"same_object".into(), &"exact".into()), "{key}");
            }
            _ => assert_eq!(priced["rule"], "in_process_key", "{key}: {priced:#}"),
        }
        assert_eq!(flow.0["roots"].as_array().unwrap().len(), 1, "{key}: one record");
    }
}

#[tokio::test]
async fn verdicts_name_where_an_order_stopped() {
    let truth = Truth::read();
    let setup = Setup::new();
    let server = setup.start();
    server.api.until_ingested().await;
    for key in orders(&truth) {
        let answer = server.api.record(key).await;
        let flow = Flow::of(&answer);
        match last_digit(key) {
            7 => {
                let verdict = &flow.0["verdict"];
                assert_eq!(flow.verdict(), "stopped_at", "{key}: {verdict:#}");
                assert_eq!(verdict["group"], "order_cleaner");
                assert_eq!(verdict["tries"], 3);
                assert!(verdict["dead_since"].is_i64(), "{verdict:#}");
                assert!(flow.has_finding("dead"));
                let raw = truth.sent_as("order", key);
                let dead = truth.dead.iter().find(|dead| dead.key == key).unwrap();
                assert_eq!((&dead.group[..], &dead.message_id), ("order_cleaner", &raw.message_id));
                let hop = flow.hop("order_cleaner", &raw.message_id, "orders_raw");
                assert_eq!(hop["state"]["code"], "dead_lettered");
                assert_eq!(hop["state"]["confirmed"], true, "the copy is in the dead-letter topic: {hop:#}");
                assert_eq!(hop["dead_letters"][0]["topic"], "%DLQ%order_cleaner");
                let reader = flow.hop("dead_reader", &raw.message_id, "orders_raw");
                assert_eq!(reader["read_from"]["topic"], "%DLQ%order_cleaner", "its copy, not the message: {reader:#}");
            }
            4 => assert!(
                ["complete", "traced_ok", "dropped_at"].contains(&flow.verdict()),
                "{key}: {:#}",
                flow.0["verdict"]
            ),
            _ => assert!(["complete", "traced_ok"].contains(&flow.verdict()), "{key}: {:#}", flow.0["verdict"]),
        }
    }
}

/// One record under all its names: the key, the message's id, and the broker's offset id.
#[tokio::test]
async fn an_order_is_found_by_any_of_its_names() {
    let truth = Truth::read();
    let setup = Setup::new();
    let server = setup.start();
    server.api.until_ingested().await;
    let raw = truth.sent_as("order", "order-000");
    let by_key = server.api.record("order-000").await;
    let ids = |answer: &serde_json::Value| {
        Flow::of(answer).messages().iter().map(|message| message["id"].clone()).collect::<Vec<_>>()
    };
    for (name, kind) in [(raw.message_id.as_str(), "uniq"), (raw.offset_id.as_deref().unwrap(), "offset")] {
        let answer = server.api.record(name).await;
        assert_eq!(answer["taken_for"]["kind"], kind, "{name}");
        assert_eq!(ids(&answer), ids(&by_key), "{name}: {:#}", answer["flow"]);
    }
}

#[tokio::test]
async fn a_record_that_is_nowhere_says_what_was_searched() {
    let setup = Setup::new();
    let server = setup.start();
    server.api.until_ingested().await;
    let answer = server.api.record("order-nobody-sent").await;
    assert_eq!(Flow::of(&answer).verdict(), "not_found");
    assert_eq!(Flow::of(&answer).messages().len(), 0);
    assert_eq!(answer["unfound"][0]["reason"], "key_nowhere", "{:#}", answer["unfound"]);
    assert!(answer["coverage"]["trace_queues"].as_u64().unwrap() >= 1, "{:#}", answer["coverage"]);
    assert_eq!(answer["coverage"]["topics"]["coverage"]["missed"], serde_json::json!([]), "{:#}", answer["coverage"]);
}
