//! What is said of a group that traced nothing: never more than the evidence allows.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use super::cases::{flow, subscribed};
use crate::flow::fixture::{before, delivery, keyed, publication, rec};
use crate::flow::{ConsumeModel, Evidence, Fact, FindingKind, Flow, HopState, Options, Verdict, Why, reconstruct};
use crate::name::QueueRef;
use crate::time::Millis;

const LATE: i64 = 600_000;

fn queue() -> QueueRef {
    QueueRef { topic: "orders".into(), broker: "broker-a".into(), queue: 2 }
}

fn stored(offset: i64) -> Fact {
    Fact::Stored {
        topic: "orders".into(),
        message_id: "M1".into(),
        offset_id: None,
        queue: queue(),
        offset,
        stored: Millis(1_003),
        keys: Vec::new(),
        tags: Some("paid".into()),
        reconsume_times: 0,
    }
}

fn committed(group: &str, committed: i64) -> Fact {
    Fact::Committed { group: group.into(), queue: queue(), committed }
}

fn only_sent(facts: &[Fact]) -> Flow {
    flow("M1", LATE, &[rec(publication(&["M1"], "orders", 1_000))], facts)
}

#[test]
fn an_offset_tells_passed_or_waiting_and_no_more() {
    let passed = only_sent(&[stored(100), committed("billing", 101)]);
    assert_eq!(passed.hops[0].state, HopState::Passed);
    assert_eq!(passed.hops[0].evidence, Evidence::InferredFromOffset);
    let next = only_sent(&[stored(100), committed("billing", 100)]);
    assert_eq!(next.hops[0].state, HopState::Waiting { ahead: Some(0) });
    let behind = only_sent(&[stored(100), committed("billing", 60)]);
    assert_eq!(behind.verdict, Verdict::WaitingAt { group: "billing".into(), ahead: Some(40) });
}

#[test]
fn a_group_is_missing_only_if_it_is_known_to_trace() {
    let silent = only_sent(&[subscribed("orders", "billing")]);
    assert_eq!(silent.hops[0].state, HopState::Unknown { why: Why::NotTraced });
    assert_eq!(silent.hops[0].evidence, Evidence::Unknown { why: Why::NotTraced });

    let mut records = vec![rec(publication(&["M1"], "orders", 1_000))];
    records.extend(delivery("R9", "M9", "billing", (900, 905), 0, true));
    let missing = flow("M1", LATE, &records, &[subscribed("orders", "billing")]);
    assert_eq!(missing.hops[0].state, HopState::Missing { since: Millis(11_005) });
    assert_eq!(missing.hops[0].evidence, Evidence::Absent);
    assert!(matches!(missing.verdict, Verdict::MissingAt { .. }));
    assert!(matches!(missing.findings[0].kind, FindingKind::Missing { .. }));

    // Or by what it usually does, at the time in question.
    let habit = |first, last| Fact::Consumes {
        group: "billing".into(),
        topic: "orders".into(),
        first: Some(Millis(first)),
        last: Some(Millis(last)),
    };
    let state = |habit: Fact| only_sent(&[subscribed("orders", "billing"), habit]).hops[0].state.clone();
    assert_eq!(state(habit(900, 1_100)), HopState::Missing { since: Millis(11_005) });
    for other in [habit(1_100, 1_200), habit(800, 900)] {
        assert_eq!(state(other), HopState::Unknown { why: Why::NotTraced });
    }

    let options = Options { watermark: Some(Millis(5_000)), ..Options::of("M1", Millis(LATE)) };
    let behind = reconstruct(&records, &[subscribed("orders", "billing")], &options);
    assert_eq!(behind.hops[0].state, HopState::Unknown { why: Why::IngestBehind });
    assert!(behind.findings.is_empty());
}

#[test]
fn a_group_that_is_offline_broadcasting_or_filtering_is_not_missing() {
    let with = |expression: &str, clients, model| Fact::Subscribed {
        topic: "orders".into(),
        group: "billing".into(),
        expression: Some(expression.into()),
        clients,
        model,
    };
    let state = |fact: Fact, tagged: bool| {
        let facts = [fact, stored(1)];
        only_sent(if tagged { &facts } else { &facts[..1] }).hops[0].state.clone()
    };
    assert_eq!(state(with("*", Some(0), None), false), HopState::Unknown { why: Why::GroupOffline });
    assert_eq!(
        state(with("*", Some(2), Some(ConsumeModel::Broadcasting)), false),
        HopState::Unknown { why: Why::Broadcasting }
    );
    assert_eq!(
        state(with("refund || new", Some(1), Some(ConsumeModel::Clustering)), true),
        HopState::NotExpected { why: Why::Filtered }
    );
    assert_eq!(
        state(with("paid||new", Some(1), Some(ConsumeModel::Clustering)), true),
        HopState::Unknown { why: Why::NotTraced }
    );
    assert_eq!(
        state(with("amount > 3", Some(1), Some(ConsumeModel::Clustering)), true),
        HopState::Unknown { why: Why::NotTraced }
    );
}

/// A POP group's offset moves when messages are handed out.
#[test]
fn the_offset_of_a_pop_group_proves_no_success() {
    let told = |model| {
        let subscribed = Fact::Subscribed {
            topic: "orders".into(),
            group: "billing".into(),
            expression: Some("*".into()),
            clients: Some(1),
            model: Some(model),
        };
        only_sent(&[subscribed, stored(1), committed("billing", 100)]).hops[0].state.clone()
    };
    assert_eq!(told(ConsumeModel::Clustering), HopState::Passed);
    assert_eq!(told(ConsumeModel::Pop), HopState::Unknown { why: Why::Pop });
}

#[test]
fn work_without_an_end_is_in_progress_then_stuck_or_unknown() {
    let request = "0A0000011F9018B4AAC2000000640005";
    let mut records = vec![rec(publication(&["M1"], "orders", 1_000)), rec(before(request, "M1", "billing", 1_010, 0))];
    let working = flow("M1", 2_000, &records, &[]);
    assert_eq!(working.hops[0].state, HopState::Consuming { since: Some(Millis(1_010)) });
    assert!(matches!(working.verdict, Verdict::InProgress { .. }));

    let now = 10_000_000;
    let silent = flow("M1", now, &records, &[]);
    assert_eq!(silent.hops[0].state, HopState::Unknown { why: Why::EndNotTraced });
    assert!(!silent.findings.iter().any(|finding| matches!(finding.kind, FindingKind::Stuck { .. })));

    // The process still traces other work long after the timeout: it lives, and this delivery hangs.
    records.push(rec(before("0A0000011F9018B4AAC2000F42400009", "M8", "billing", 5_000_000, 0)));
    let stuck = flow("M1", now, &records, &[]);
    assert!(stuck.findings.iter().any(|finding| matches!(finding.kind, FindingKind::Stuck { .. })));
}

#[test]
fn a_drop_is_called_one_only_where_something_must_come_out() {
    let mut records = vec![rec(publication(&["M1"], "orders", 1_000))];
    records.extend(delivery("R1", "M1", "enricher", (1_010, 1_020), 0, true));
    assert!(matches!(flow("M1", LATE, &records, &[]).verdict, Verdict::TracedOk { groups: 1, .. }));
    let facts = [subscribed("orders", "enricher")];
    assert!(matches!(flow("M1", LATE, &records, &facts).verdict, Verdict::Complete { groups: 1, .. }));
    let facts = [Fact::Produces { group: "enricher".into(), topic: "priced".into() }];
    let dropped = flow("M1", LATE, &records, &facts);
    assert_eq!(dropped.verdict, Verdict::DroppedAt { group: "enricher".into() });
    records.push(rec(keyed(&["~p=M1"], publication(&["M2"], "priced", 1_015))));
    assert!(matches!(flow("M1", LATE, &records, &facts).verdict, Verdict::TracedOk { .. }));
}

#[test]
fn one_key_overtaken_is_out_of_order_only_where_the_order_is_known() {
    let id = |ms: &str| format!("0A0000011F9018B4AAC2{ms}0001");
    let (a, b) = (id("00000064"), id("00000065"));
    let mut records = vec![
        rec(keyed(&["k"], publication(&[&a], "orders", 1_000))),
        rec(keyed(&["k"], publication(&[&b], "orders", 1_001))),
    ];
    records.extend(delivery("R2", &b, "billing", (1_010, 1_020), 0, true));
    records.extend(delivery("R1", &a, "billing", (1_030, 1_040), 0, true));
    let overtaken = flow("k", 2_000, &records, &[]);
    let found = overtaken.findings.iter().filter(|f| matches!(f.kind, FindingKind::OutOfOrder { .. }));
    assert_eq!(found.count(), 1);

    let other = b.replace("0A000001", "0A000002");
    records[1] = rec(keyed(&["k"], publication(&[&other], "orders", 1_001)));
    records[2..4].clone_from_slice(&delivery("R2", &other, "billing", (1_010, 1_020), 0, true));
    let unknown = flow("k", 2_000, &records, &[]);
    assert!(!unknown.findings.iter().any(|f| matches!(f.kind, FindingKind::OutOfOrder { .. })));
}

#[test]
fn an_orphan_a_repair_and_a_double() {
    let records = delivery("R1", "M1", "billing", (1_010, 1_020), 0, true);
    let orphan = flow("M1", LATE, &records, &[]);
    assert_eq!(orphan.messages[0].topic, None);
    assert!(orphan.findings.iter().any(|finding| finding.kind == FindingKind::Orphan));

    let repaired = flow("M1", LATE, &records, &[stored(7)]);
    let named: Vec<_> = repaired.messages.iter().filter_map(|message| message.topic.as_deref()).collect();
    assert_eq!(named, ["orders"]);
    assert_eq!(repaired.hops.len(), 1);
    assert_eq!(repaired.hops[0].message.0, 0);

    let double = only_sent(&[stored(7), stored(8)]);
    assert!(double.findings.iter().any(|finding| finding.kind == FindingKind::StoredTwice { times: 2 }));
    assert_eq!(double.messages[0].begin().unwrap(), Millis(1_000));
}
