//! Flows of a few records each.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use crate::flow::fixture::{after, at, before, delivery, keyed, on, publication, rec, transaction_end, typed};
use crate::flow::{
    ConsumeModel, Fact, FindingKind, Flow, HopState, MessageKind, Options, TransactionOutcome, Verdict, Why,
    reconstruct,
};
use crate::name::QueueRef;
use crate::time::Millis;
use crate::trace::{PubType, TraceEvent, TraceRecord, TransactionState};

pub(super) fn flow(subject: &str, now: i64, records: &[TraceRecord], facts: &[Fact]) -> Flow {
    let options = Options { watermark: Some(Millis(now)), ..Options::of(subject, Millis(now)) };
    reconstruct(records, facts, &options)
}

pub(super) fn subscribed(topic: &str, group: &str) -> Fact {
    Fact::Subscribed {
        topic: topic.into(),
        group: group.into(),
        expression: Some("*".into()),
        clients: Some(1),
        model: Some(ConsumeModel::Clustering),
    }
}

pub(super) fn group(name: &str, max_retries: i64) -> Fact {
    Fact::Group { group: name.into(), max_retries: Some(max_retries), orderly: Some(false) }
}

fn finding(flow: &Flow, holds: impl Fn(&FindingKind) -> bool) -> bool {
    flow.findings.iter().any(|finding| holds(&finding.kind))
}

/// A batch is one send of several messages; each has its own flow.
#[test]
fn members_of_a_batch_are_found_by_their_own_ids() {
    let mut batch = publication(&["M1", "M2", "M3"], "orders", 1_000);
    if let TraceEvent::Pub(e) = &mut batch {
        e.offset_ids = vec!["O1".into(), "O2".into(), "O3".into()];
    }
    let mut records = vec![rec(batch)];
    records.extend(delivery("R1", "M2", "billing", (1_010, 1_020), 0, true));
    let facts = [subscribed("orders", "billing")];

    let second = flow("M2", 2_000, &records, &facts);
    assert_eq!(second.messages.len(), 1);
    assert_eq!(second.messages[0].topic.as_deref(), Some("orders"));
    assert_eq!(second.messages[0].batch, ["M1", "M2", "M3"]);
    assert_eq!(second.messages[0].offset_ids, ["O2"]);
    assert_eq!(second.hops[0].state, HopState::Ok { at: Some(Millis(1_020)) });
    assert_eq!(second.hops[0].waited, Some(5));

    let first = flow("M1", 2_000, &records, &facts);
    assert_eq!(first.hops[0].state, HopState::Waiting { ahead: None });
    assert_eq!(first.verdict, Verdict::WaitingAt { group: "billing".into(), ahead: None });
    assert_eq!(flow("O3", 2_000, &records, &facts).messages[0].id, "M3");
}

#[test]
fn any_order_of_arrival_gives_one_flow() {
    let records = [
        rec(after("R1", "M1", "billing", 1_020, true)),
        rec(publication(&["M1"], "orders", 1_000)),
        rec(before("R1", "M1", "billing", 1_010, 0)),
    ];
    let expected = flow("M1", 2_000, &records, &[]);
    assert_eq!(expected.hops[0].attempts.len(), 1);
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let shuffled = order.map(|place: usize| records[place].clone());
        assert_eq!(flow("M1", 2_000, &shuffled, &[]), expected);
    }
}

#[test]
fn retries_end_in_the_dead_letter_topic() {
    let mut records = vec![rec(publication(&["M1"], "orders", 1_000))];
    records.extend(delivery("R1", "M1", "billing", (1_010, 1_020), 0, false));
    let facts = [group("billing", 2)];

    let early = flow("M1", 6_020, &records, &facts);
    assert_eq!(early.hops[0].state, HopState::Retrying { tries: 1, next_due: Some(Millis(11_020)) });
    assert!(matches!(early.verdict, Verdict::Retrying { tries: 1, next_due: Some(Millis(11_020)), .. }));
    assert!(!finding(&early, |kind| matches!(kind, FindingKind::Missing { .. })));

    records.extend(delivery("R2", "M1", "billing", (11_030, 11_040), 1, false));
    records.extend(delivery("R3", "M1", "billing", (41_050, 41_060), 2, false));
    let dead = flow("M1", 42_000, &records, &facts);
    assert_eq!(dead.hops.len(), 1);
    assert_eq!(dead.hops[0].attempts.len(), 3);
    assert_eq!(dead.hops[0].state, HopState::DeadLettered { tries: 3, since: None, confirmed: false });

    let copy = Fact::DeadLetter {
        group: "billing".into(),
        message_id: "M1".into(),
        topic: "%DLQ%billing".into(),
        stored: Some(Millis(41_070)),
        offset_id: Some("D1".into()),
        origin_id: None,
        tries: None,
    };
    // Clients may retry less often than the group's configuration says: the copy is the proof.
    let confirmed = flow("M1", 42_000, &records[..3], &[copy]);
    let state = HopState::DeadLettered { tries: 1, since: Some(Millis(41_070)), confirmed: true };
    assert_eq!(confirmed.hops[0].state, state);
    assert!(matches!(
        confirmed.verdict,
        Verdict::StoppedAt { tries: 1, dead_since: Some(Millis(41_070)), reached: 0, of: 1, .. }
    ));

    // With sixteen retries the third failure is just another one.
    let more = flow("M1", 42_000, &records, &[]);
    assert_eq!(more.hops[0].state, HopState::Retrying { tries: 3, next_due: Some(Millis(101_060)) });
}

/// Dead letters keep the id: who takes them is told apart by its subscription, and is not whom the message was for.
#[test]
fn a_reader_of_dead_letters_is_no_reader_of_the_topic() {
    let mut records = vec![rec(keyed(&["order-1"], publication(&["M1"], "orders", 1_000)))];
    records.extend(delivery("R1", "M1", "shipper", (1_010, 1_014), 0, false));
    records.extend(delivery("R2", "M1", "morgue", (9_000, 9_005), 1, true));
    let copy = Fact::DeadLetter {
        group: "shipper".into(),
        message_id: "M1".into(),
        topic: "%DLQ%shipper".into(),
        stored: Some(Millis(2_000)),
        offset_id: None,
        origin_id: None,
        tries: None,
    };
    let facts = [copy, subscribed("orders", "shipper"), subscribed("%DLQ%shipper", "morgue")];
    let flow = flow("order-1", 20_000, &records, &facts);
    let morgue = flow.hops.iter().find(|hop| hop.group.as_deref() == Some("morgue")).unwrap();
    assert_eq!(morgue.read_from.as_ref().map(|copy| copy.topic.as_str()), Some("%DLQ%shipper"));
    assert_eq!(morgue.waited, Some(7_000), "from the dead letter on");
    let dead_since = Some(Millis(2_000));
    let stopped = Verdict::StoppedAt { group: "shipper".into(), tries: 1, dead_since, reached: 0, of: 1 };
    assert_eq!(flow.verdict, stopped);
}

#[test]
fn a_retry_that_does_not_come_is_a_failure_only_when_it_was_looked_for() {
    let mut records = vec![rec(publication(&["M1"], "orders", 1_000))];
    records.extend(delivery("R1", "M1", "billing", (1_010, 1_020), 0, false));
    let mut options = Options { watermark: Some(Millis(20_000)), ..Options::of("M1", Millis(1_000_000)) };
    let behind = reconstruct(&records, &[], &options);
    assert!(matches!(behind.hops[0].state, HopState::Retrying { .. }));
    options.watermark = Some(Millis(900_000));
    assert_eq!(reconstruct(&records, &[], &options).hops[0].state, HopState::Failed { tries: 1 });
}

#[test]
fn a_transaction_is_judged_by_its_end() {
    let half = || rec(typed(PubType::HalfOrOrder, publication(&["M1"], "orders", 1_000)));
    let end = |time, state, check| rec(transaction_end("M1", "orders", time, state, check));
    let facts = [subscribed("orders", "billing")];
    let late = 3_600_000;

    let back = flow("M1", late, &[half(), end(1_010, TransactionState::Rollback, false)], &facts);
    assert_eq!(back.messages[0].kind, MessageKind::Transaction);
    assert_eq!(back.hops[0].state, HopState::NotExpected { why: Why::RolledBack });
    assert!(matches!(back.verdict, Verdict::RolledBack { .. }));
    assert!(back.findings.is_empty(), "{:?}", back.findings);

    let open = flow("M1", late, &[half(), end(1_010, TransactionState::Unknown, false)], &facts);
    assert_eq!(open.messages[0].transaction.as_ref().unwrap().outcome, TransactionOutcome::Undecided);
    assert_eq!(open.verdict, Verdict::TransactionOpen { topic: Some("orders".into()) });

    // The time that a group has counts from the commit, a minute later.
    let records = [half(), end(1_010, TransactionState::Unknown, false), end(61_010, TransactionState::Commit, true)];
    let soon = flow("M1", 65_000, &records, &facts);
    assert_eq!(soon.messages[0].visible(), Some(Millis(61_010)));
    assert_eq!(soon.hops[0].state, HopState::Waiting { ahead: None });

    // A client that writes ordinal 2 into a Pub means a half message.
    let odd = rec(typed(PubType::TransactionCommit, publication(&["M1"], "orders", 1_000)));
    let odd = flow("M1", late, &[odd], &facts);
    assert_eq!(odd.messages[0].transaction.as_ref().unwrap().outcome, TransactionOutcome::Half);

    // A delivery proves the commit whose trace was lost.
    let mut records = vec![half()];
    records.extend(delivery("R1", "M1", "billing", (1_100, 1_110), 0, true));
    let proved = flow("M1", late, &records, &facts);
    assert_eq!(proved.messages[0].transaction.as_ref().unwrap().outcome, TransactionOutcome::Committed);
}

#[test]
fn ordinal_one_is_an_ordered_message_for_clients_that_number_anew() {
    let id = |counter: &str| format!("0A0000011F9018B4AAC200000064{counter}");
    let records = [
        rec(typed(PubType::HalfOrOrder, keyed(&["k"], publication(&[&id("0001")], "orders", 1_000)))),
        rec(typed(PubType::TransactionCommit, publication(&[&id("0002")], "orders", 1_000))),
    ];
    let ordered = flow("k", 2_000, &records, &[]);
    assert_eq!(ordered.messages[0].kind, MessageKind::Order);
    let half = flow("k", 2_000, &records[..1], &[]);
    assert_eq!(half.messages[0].kind, MessageKind::Transaction);
}

#[test]
fn a_second_success_is_a_duplicate_unless_it_is_a_retry_or_a_broadcast() {
    let publication = || rec(publication(&["M1"], "orders", 1_000));
    let twice = |retry, first_ok| {
        let mut records = vec![publication()];
        records.extend(delivery("R1", "M1", "billing", (1_010, 1_020), 0, first_ok));
        records.extend(delivery("R2", "M1", "billing", (1_030, 1_040), retry, true).map(|r| on("192.0.2.2", r)));
        records
    };
    let duplicates = |flow: &Flow| {
        let times = flow.findings.iter().map(|finding| match finding.kind {
            FindingKind::DuplicateDelivery { times } => times,
            _ => 0,
        });
        times.sum::<usize>()
    };
    let clustering = [subscribed("orders", "billing")];
    assert_eq!(duplicates(&flow("M1", 2_000, &twice(0, true), &clustering)), 1);
    assert_eq!(duplicates(&flow("M1", 2_000, &twice(1, false), &clustering)), 0);
    // Nobody is online to tell the model, and brokers keep offsets for broadcasting groups too.
    let queue = QueueRef { topic: "orders".into(), broker: "broker-a".into(), queue: 0 };
    let committed = Fact::Committed { group: "billing".into(), queue, committed: 9 };
    assert_eq!(duplicates(&flow("M1", 2_000, &twice(0, true), &[committed])), 0);
    let broadcasting = Fact::Subscribed {
        topic: "orders".into(),
        group: "billing".into(),
        expression: None,
        clients: Some(2),
        model: Some(ConsumeModel::Broadcasting),
    };
    let flow = flow("M1", 2_000, &twice(0, true), &[broadcasting]);
    assert!(flow.hops[0].broadcasting);
    assert_eq!(duplicates(&flow), 0);
}

#[test]
fn a_slow_clock_is_corrected_and_said() {
    let records = [
        at(10_100, 10_110, publication(&["M1"], "orders", 10_000)),
        on("192.0.2.7", at(6_100, 10_110, before("R1", "M1", "billing", 6_050, 0))),
    ];
    let flow = flow("M1", 11_000, &records, &[]);
    let hop = &flow.hops[0];
    assert_eq!(hop.attempts[0].begin, Some(Millis(10_060)));
    assert_eq!(hop.attempts[0].raw_begin, Some(Millis(6_050)));
    assert_eq!(hop.waited, Some(55)); // the send took 5 ms
    assert!(finding(&flow, |kind| matches!(kind, FindingKind::Skew { offset_ms: 4_010, .. })));
    assert!(!finding(&flow, |kind| matches!(kind, FindingKind::OutOfOrder { .. } | FindingKind::NegativeTime { .. })));
    assert!(flow.clocks.iter().any(|clock| clock.host == "192.0.2.7" && clock.corrected_by == 4_010));
}

#[test]
fn a_go_client_writes_the_end_of_a_send() {
    let mut event = publication(&["M1"], "orders", 1_000);
    let mut java = event.clone();
    if let (TraceEvent::Pub(go), TraceEvent::Pub(java)) = (&mut event, &mut java) {
        go.client_host = Some("192.0.2.3".into());
        java.client_host = Some("192.0.2.2@3435".into()); // 4.8.0
    }
    let of = |event| flow("M1", 2_000, &[rec(event)], &[]).messages[0].publications[0].clone();
    assert_eq!((of(event.clone()).begin, of(event).end), (Millis(995), Millis(1_000)));
    assert_eq!((of(java.clone()).begin, of(java).end), (Millis(1_000), Millis(1_005)));
}

#[test]
fn halves_without_group_or_time_are_filled() {
    // 7-field SubAfter: no time, no group. The trace's producer group names the owner.
    let mut end = after("R1", "M1", "billing", 0, true);
    if let TraceEvent::SubAfter(e) = &mut end {
        (e.time, e.group) = (None, None);
    }
    let mut alone = at(1_100, 1_102, end.clone());
    alone.origin.owner_group = Some("billing".into());
    let flow_alone = flow("M1", 2_000, &[alone], &[]);
    assert_eq!(flow_alone.hops[0].group.as_deref(), Some("billing"));
    assert_eq!(flow_alone.hops[0].state, HopState::Ok { at: None });
    assert_eq!(flow_alone.messages[0].topic, None);

    let both = flow("M1", 2_000, &[at(1_100, 1_102, end), rec(before("R1", "M1", "billing", 1_010, 0))], &[]);
    assert_eq!(both.hops.len(), 1);
    assert_eq!(both.hops[0].attempts[0].end, Some(Millis(1_013)));
}

#[test]
fn nothing_found_is_said_so() {
    let flow = flow("nowhere", 2_000, &[rec(publication(&["M1"], "orders", 1_000))], &[]);
    assert_eq!(flow.verdict, Verdict::NotFound);
    assert!(flow.messages.is_empty() && flow.span.is_none());
}
