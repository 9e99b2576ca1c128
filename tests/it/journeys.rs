//! The other ways in which messages travel: batches, several keys, ordered queues, transactions, delays.

use serde_json::json;

use crate::flow::{Flow, assert_attempts};
use crate::support::millrace::Setup;
use crate::truth::Truth;

#[tokio::test]
async fn a_message_of_a_batch_has_its_publication() {
    let truth = Truth::read();
    let setup = Setup::new();
    let server = setup.start();
    server.api.until_ingested().await;
    for key in ["cart-0", "cart-1", "cart-2"] {
        let sent = truth.sent_as("batch", key);
        // The batch's own trace has no keys: only its members' ids lead to it.
        let answer = server.api.record(&sent.message_id).await;
        let flow = Flow::of(&answer);
        let message = flow.message(&sent.message_id, "shop_carts");
        assert_eq!(message["batch"], json!(sent.batch), "{key}");
        assert_eq!(message["evidence"]["code"], "traced");
        // By key it is found too, although brokers and clients trace less of a batch's members.
        let by_key = server.api.record(key).await;
        let received = truth.received_by("cart_reader", key);
        if received != sent.message_id {
            // The embedded broker gives every member the batch's own id: what the consumers got is what is told.
            assert_eq!(Flow::of(&by_key).messages()[0]["id"], received, "{key}");
            continue;
        }
        Flow::of(&by_key).message(&sent.message_id, "shop_carts");
        // Consumers trace nothing of a batch's members: that the group passed it is inferred from its offset.
        let hop = flow.hop("cart_reader", &sent.message_id, "shop_carts");
        assert_eq!(hop["evidence"]["code"], "inferred_from_offset", "{hop:#}");
        assert_eq!(hop["state"]["code"], "passed", "{hop:#}");
    }
}

#[tokio::test]
async fn any_of_several_keys_leads_to_the_message() {
    let truth = Truth::read();
    let setup = Setup::new();
    let server = setup.start();
    server.api.until_ingested().await;
    let sent = truth.sent_as("several keys", "cart-b");
    for key in ["cart-a", "cart-b", "cart-c"] {
        let answer = server.api.record(key).await;
        let flow = Flow::of(&answer);
        assert_eq!(flow.messages().len(), 1, "{key}");
        assert_eq!(flow.message(&sent.message_id, "shop_carts")["keys"], json!(["cart-a", "cart-b", "cart-c"]));
        assert_attempts(
            flow.hop("cart_reader", &sent.message_id, "shop_carts"),
            truth.deliveries("cart_reader", &sent.message_id),
        );
    }
}

#[tokio::test]
async fn an_ordered_group_is_told_with_its_suspension() {
    let truth = Truth::read();
    let setup = Setup::new();
    let server = setup.start();
    server.api.until_ingested().await;
    let mut suspended = 0;
    for number in 0..8 {
        let key = format!("step-{number}");
        let sent = truth.sent_as("ordered", &key);
        let answer = server.api.record(&key).await;
        let flow = Flow::of(&answer);
        let hop = flow.hop("step_reader", &sent.message_id, "shop_steps");
        assert_attempts(hop, truth.deliveries("step_reader", &sent.message_id));
        assert_eq!(hop["state"]["code"], "ok", "{key}: {hop:#}");
        assert!(!flow.has_finding("out_of_order"), "{key}");
        suspended += usize::from(hop["attempts"].as_array().unwrap().len() > 1);
    }
    assert_eq!(suspended, 1);
}

#[tokio::test]
async fn transactions_end_as_their_producer_decided() {
    let truth = Truth::read();
    let setup = Setup::new();
    let server = setup.start();
    server.api.until_ingested().await;
    for (key, outcome) in [("pay-commit", "committed"), ("pay-rollback", "rolled_back"), ("pay-checked", "committed")] {
        let sent = truth.sent_as("transaction", key);
        let answer = server.api.record(key).await;
        let flow = Flow::of(&answer);
        let message = flow.message(&sent.message_id, "shop_payments");
        assert_eq!(message["kind"], "transaction", "{key}");
        assert_eq!(message["transaction"]["outcome"], outcome, "{key}: {message:#}");
        let decided: Vec<(&str, bool)> =
            truth.transactions.iter().filter(|of| of.key == key).map(|of| (of.state.as_str(), of.checked)).collect();
        let told: Vec<(&str, bool)> = message["transaction"]["ends"]
            .as_array()
            .unwrap()
            .iter()
            .map(|end| (end["state"].as_str().unwrap(), end["from_check"].as_bool().unwrap()))
            .collect();
        assert_eq!(told, decided, "{key}");
        if outcome == "rolled_back" {
            assert_eq!(flow.verdict(), "rolled_back");
            assert!(!flow.has_finding("missing"), "nobody should have got it");
        } else {
            let hop = flow.hop("payment_reader", &sent.message_id, "shop_payments");
            assert_attempts(hop, truth.deliveries("payment_reader", &sent.message_id));
            assert_eq!(hop["state"]["code"], "ok");
        }
    }
}

#[tokio::test]
async fn delayed_messages_wait_and_recalled_ones_are_not_missed() {
    let truth = Truth::read();
    let setup = Setup::new();
    let server = setup.start();
    server.api.until_ingested().await;
    for (case, key) in [("delay level", "remind-level"), ("timer", "remind-timer")] {
        let sent = truth.sent_as(case, key);
        let answer = server.api.record(key).await;
        let flow = Flow::of(&answer);
        assert_eq!(flow.message(&sent.message_id, "shop_reminders")["kind"], "delay", "{key}");
        let hop = flow.hop("reminder_reader", &sent.message_id, "shop_reminders");
        assert_attempts(hop, truth.deliveries("reminder_reader", &sent.message_id));
        assert!(hop["waited"].as_i64().unwrap() >= 3_000, "{key} was delayed: {hop:#}");
        assert!(!flow.has_finding("late"), "{key}");
    }
    let recalled = &truth.recalled[0];
    let answer = server.api.record(&recalled.key).await;
    let flow = Flow::of(&answer);
    assert_eq!(flow.verdict(), "recalled", "{:#}", flow.0["verdict"]);
    assert_eq!(flow.message(&recalled.message_id, "shop_reminders")["recalls"][0]["ok"], true);
    assert!(!flow.has_finding("missing"));
}
