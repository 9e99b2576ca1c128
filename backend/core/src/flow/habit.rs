//! What groups usually do, learnt from recent traces: which topics they read, and which they write.
//!
//! A habit is no declaration. It is learnt only from what is certain in the traces given, and only where most records
//! show it.

use std::collections::{BTreeMap, BTreeSet};

use super::fact::Fact;
use super::model::Confidence;
use super::place::Groups;
use super::reconstruct::Assembly;
use crate::time::Millis;
use crate::trace::TraceRecord;

/// Deliveries that a group must have had before it has a habit.
const LEAST: usize = 8;

/// [`Fact::Consumes`] and [`Fact::Produces`] that `records` show, sorted.
pub fn habits(records: &[TraceRecord]) -> Vec<Fact> {
    let assembly = Assembly::of(records, &[], &Groups::default(), true);
    let topic = |message: usize| assembly.keys.get(message).and_then(|key| key.topic.as_deref());
    let mut read: BTreeMap<(&str, &str), Vec<Millis>> = BTreeMap::new();
    let mut delivered: BTreeMap<&str, usize> = BTreeMap::new();
    for hop in &assembly.hops {
        let ok = hop.attempts.iter().any(|attempt| attempt.ok == Some(true));
        let Some(group) = hop.group.as_deref().filter(|_| ok) else { continue };
        *delivered.entry(group).or_default() += 1;
        if let Some(topic) = topic(hop.message).filter(|_| hop.or_messages.is_empty()) {
            read.entry((group, topic)).or_default().extend(hop.attempts.iter().filter_map(|attempt| attempt.begin));
        }
    }
    let mut written: BTreeMap<(&str, &str), BTreeSet<usize>> = BTreeMap::new();
    for edge in assembly.edges.iter().filter(|edge| edge.confidence <= Confidence::High) {
        let group = assembly.hops.get(edge.from).and_then(|hop| hop.group.as_deref());
        if let Some(place) = group.zip(topic(edge.to)) {
            written.entry(place).or_default().insert(edge.from);
        }
    }
    let usual = |group: &str, times: usize| {
        delivered.get(group).is_some_and(|deliveries| *deliveries >= LEAST && times * 2 > *deliveries)
    };
    let consumes = read.iter().map(|((group, topic), begins)| Fact::Consumes {
        group: (*group).to_owned(),
        topic: (*topic).to_owned(),
        first: begins.iter().min().copied(),
        last: begins.iter().max().copied(),
    });
    let produces = written
        .iter()
        .filter(|((group, _), times)| usual(group, times.len()))
        .map(|((group, topic), _)| Fact::Produces { group: (*group).to_owned(), topic: (*topic).to_owned() });
    let mut facts: Vec<Fact> = consumes.chain(produces).collect();
    facts.sort();
    facts
}

#[cfg(test)]
mod tests {
    use super::habits;
    use crate::flow::Fact;
    use crate::name::QueueRef;
    use crate::time::Millis;
    use crate::trace::{TraceMessage, TraceRecord, decode};

    /// Orders that `cleaner` takes from `raw`; of every ten it passes on the first `passed`, naming the parent.
    fn traces(passed: u32) -> Vec<TraceRecord> {
        (0..20u32)
            .flat_map(|n| {
                let at = 1_700_000_000_000 + i64::from(n) * 1_000;
                let mut body = format!(
                    "Pub\u{1}{at}\u{1}r\u{1}source\u{1}raw\u{1}R{n}\u{1}t\u{1}o-{n}\u{1}b:1\u{1}1\u{1}1\u{1}0\u{1}F{n}\u{1}true\u{2}\
                     SubBefore\u{1}{}\u{1}r\u{1}cleaner\u{1}Q{n}\u{1}R{n}\u{1}0\u{1}o-{n}\u{2}\
                     SubAfter\u{1}Q{n}\u{1}R{n}\u{1}5\u{1}true\u{1}o-{n}\u{1}0\u{1}{}\u{1}cleaner\u{2}",
                    at + 5,
                    at + 10,
                );
                if n % 10 < passed {
                    let passed_on = format!(
                        "Pub\u{1}{}\u{1}r\u{1}cleaner_out\u{1}clean\u{1}C{n}\u{1}t\u{1}o-{n} ~p=R{n}\u{1}b:1\u{1}1\u{1}1\u{1}0\u{1}G{n}\u{1}true\u{2}",
                        at + 7,
                    );
                    body.push_str(&passed_on);
                }
                let message = TraceMessage {
                    queue: QueueRef { topic: "trace".into(), broker: "b".into(), queue: 0 },
                    offset: i64::from(n),
                    stored: Millis(at + 20),
                    born: Millis(at + 20),
                    born_host: "192.0.2.7".into(),
                    producer_group: None,
                    body: body.into_bytes(),
                };
                decode(&message).records
            })
            .collect()
    }

    #[test]
    fn what_most_deliveries_show_is_a_habit() {
        let (first, last) = (Some(Millis(1_700_000_000_005)), Some(Millis(1_700_000_019_005)));
        let consumes = Fact::Consumes { group: "cleaner".into(), topic: "raw".into(), first, last };
        let produces = Fact::Produces { group: "cleaner".into(), topic: "clean".into() };
        assert_eq!(habits(&traces(8)), [produces, consumes.clone()]);
        assert_eq!(habits(&traces(3)), [consumes], "few outputs are no habit");
        assert_eq!(habits(&[]), []);
    }
}
