//! What the shop's operators gave up, with where it came from. (Sending it again would change what other tests see: the
//! adapter's suite does that on topics of its own.)

use serde_json::Value;

use crate::support::api::Api;
use crate::support::millrace::Setup;

#[tokio::test]
async fn the_shop_s_dead_letters_are_told_with_their_origin() {
    let setup = Setup::new();
    let server = setup.start();
    let api = &server.api;
    let listed = |answer: &Value| {
        let groups = answer["groups"].as_array().map_or(&[][..], Vec::as_slice);
        groups.iter().any(|group| group["group"] == "order_cleaner" && group["letters"]["at_least"].as_i64() >= Some(2))
    };
    api.until(&Api::of_cluster("/dead-letters"), listed).await;
    let told = api.json(&Api::of_cluster("/groups/order_cleaner/dead-letters")).await;
    let letters = told["letters"].as_array().unwrap();
    assert!(letters.len() >= 2, "{told:#}");
    for letter in letters {
        assert_eq!(letter["origin_topic"], "orders_raw", "{letter:#}");
        assert!(letter["message"]["reconsume_times"].as_i64() >= Some(1), "{letter:#}");
    }
}
