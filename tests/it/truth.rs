//! What the shop says really happened: one JSON object a line, as `OrderTask` printed it.

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::support::millrace::variable;

#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "event", rename_all = "lowercase")]
enum Line {
    Sent(Sent),
    Consumed(Consumed),
    Dead(Dead),
    Transaction(Transaction),
    Recalled(Recalled),
    End { whole: bool },
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Sent {
    pub(crate) case: String,
    pub(crate) group: String,
    pub(crate) topic: String,
    /// With parent tokens.
    pub(crate) keys: Vec<String>,
    pub(crate) message_id: String,
    pub(crate) offset_id: Option<String>,
    #[serde(default)]
    pub(crate) batch: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Consumed {
    pub(crate) group: String,
    pub(crate) key: String,
    pub(crate) message_id: String,
    pub(crate) retry: i64,
    pub(crate) outcome: String,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Dead {
    pub(crate) group: String,
    pub(crate) key: String,
    pub(crate) message_id: String,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Transaction {
    pub(crate) key: String,
    pub(crate) state: String,
    pub(crate) checked: bool,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Recalled {
    pub(crate) key: String,
    pub(crate) message_id: String,
}

#[derive(Debug, Default)]
pub(crate) struct Truth {
    pub(crate) sent: Vec<Sent>,
    pub(crate) consumed: Vec<Consumed>,
    pub(crate) dead: Vec<Dead>,
    pub(crate) transactions: Vec<Transaction>,
    pub(crate) recalled: Vec<Recalled>,
}

impl Truth {
    pub(crate) fn read() -> Self {
        let file = variable("MILLRACE_TEST_TRUTH");
        let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}"));
        let mut truth = Self::default();
        let mut ended = false;
        for line in text.lines().filter(|line| line.starts_with('{')) {
            match serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")) {
                Line::Sent(sent) => truth.sent.push(sent),
                Line::Consumed(consumed) => truth.consumed.push(consumed),
                Line::Dead(dead) => truth.dead.push(dead),
                Line::Transaction(transaction) => truth.transactions.push(transaction),
                Line::Recalled(recalled) => truth.recalled.push(recalled),
                Line::End { whole } => ended = whole,
            }
        }
        assert!(ended, "{file}: the shop did not come to its end");
        truth
    }

    /// Every record key, without parent tokens.
    pub(crate) fn keys(&self) -> BTreeSet<&str> {
        let keys = self.sent.iter().flat_map(|sent| &sent.keys).map(String::as_str);
        keys.filter(|key| !key.starts_with("~p=")).collect()
    }

    pub(crate) fn sent_with<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a Sent> {
        self.sent.iter().filter(move |sent| sent.keys.iter().any(|of| of == key))
    }

    /// The one message of a case; for cases that happen once.
    pub(crate) fn sent_as(&self, case: &str, key: &str) -> &Sent {
        let mut sent = self.sent.iter().filter(|sent| sent.case == case);
        sent.find(|sent| sent.keys.iter().any(|of| of == key)).unwrap_or_else(|| panic!("no {case} of {key}"))
    }

    /// The id under which a group got the message of this key.
    pub(crate) fn received_by(&self, group: &str, key: &str) -> &str {
        let got = self.consumed.iter().find(|consumed| consumed.group == group && consumed.key == key);
        &got.unwrap_or_else(|| panic!("{group} never got {key}")).message_id
    }

    /// Deliveries of a message to a group, in the order in which they happened.
    pub(crate) fn deliveries<'a>(&'a self, group: &'a str, message_id: &'a str) -> impl Iterator<Item = &'a Consumed> {
        self.consumed.iter().filter(move |consumed| consumed.group == group && consumed.message_id == message_id)
    }
}
