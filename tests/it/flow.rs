//! A flow as the API tells it, for asking it questions.

use serde_json::Value;

use crate::truth::Consumed;

#[derive(Debug)]
pub(crate) struct Flow<'a>(pub(crate) &'a Value);

impl<'a> Flow<'a> {
    pub(crate) fn of(answer: &'a Value) -> Self {
        Self(&answer["flow"])
    }

    pub(crate) fn messages(&self) -> &'a [Value] {
        self.0["messages"].as_array().expect("messages")
    }

    pub(crate) fn hops(&self) -> &'a [Value] {
        self.0["hops"].as_array().expect("hops")
    }

    pub(crate) fn verdict(&self) -> &'a str {
        self.0["verdict"]["code"].as_str().expect("a verdict")
    }

    pub(crate) fn message(&self, id: &str, topic: &str) -> &'a Value {
        let index = self.message_index(id, topic);
        &self.messages()[index]
    }

    fn message_index(&self, id: &str, topic: &str) -> usize {
        let found = self.messages().iter().position(|message| message["id"] == id && message["topic"] == topic);
        found.unwrap_or_else(|| panic!("{id} in {topic} is not in the flow: {:#}", self.0))
    }

    fn hop_index(&self, group: &str, message: usize) -> Option<usize> {
        self.hops().iter().position(|hop| hop["group"] == group && hop["message"] == message)
    }

    /// The hop by which `group` consumed the message.
    pub(crate) fn hop(&self, group: &str, id: &str, topic: &str) -> &'a Value {
        let index = self.hop_index(group, self.message_index(id, topic));
        &self.hops()[index.unwrap_or_else(|| panic!("no hop of {group} for {id} in {topic}: {:#}", self.0))]
    }

    /// The best edge that leads to the message, if it comes from `group`'s hop on the parent.
    pub(crate) fn edge(&self, group: &str, parent: (&str, &str), child: (&str, &str)) -> &'a Value {
        let from = self.hop_index(group, self.message_index(parent.0, parent.1)).expect("the parent's hop");
        let to = self.message_index(child.0, child.1);
        let edges = self.0["edges"].as_array().expect("edges").iter().filter(|edge| edge["to"] == to);
        let best = edges.max_by_key(|edge| edge["score"].as_u64());
        let best = best.unwrap_or_else(|| panic!("nothing leads to {child:?}: {:#}", self.0));
        assert_eq!(best["from"], from, "{group} did not produce {child:?}: {best:#}");
        best
    }

    pub(crate) fn has_finding(&self, kind: &str) -> bool {
        self.0["findings"].as_array().expect("findings").iter().any(|finding| finding["finding"] == kind)
    }
}

/// How a client's trace tells this outcome: success, and the context's code.
fn traced(outcome: &str) -> (bool, &'static str) {
    match outcome {
        "ok" | "dropped" => (true, "success"),
        "later" | "suspended" => (false, "failed"),
        "null" => (false, "return_null"),
        "exception" => (false, "exception"),
        other => panic!("the truth knows no outcome {other}"),
    }
}

/// Every delivery that happened is an attempt of the hop, in order and with its outcome, and there are no others.
pub(crate) fn assert_attempts<'a>(hop: &Value, deliveries: impl Iterator<Item = &'a Consumed>) {
    let mut happened: Vec<(i64, bool, &str)> = deliveries
        .map(|delivery| {
            let (ok, outcome) = traced(&delivery.outcome);
            (delivery.retry, ok, outcome)
        })
        .collect();
    happened.sort_unstable_by_key(|(retry, ..)| *retry);
    let told: Vec<(i64, bool, &str)> = hop["attempts"]
        .as_array()
        .expect("attempts")
        .iter()
        .map(|attempt| {
            (
                attempt["retry"].as_i64().expect("a retry"),
                attempt["ok"].as_bool().expect("a result"),
                attempt["outcome"].as_str().expect("an outcome"),
            )
        })
        .collect();
    assert_eq!(told, happened, "{hop:#}");
}
