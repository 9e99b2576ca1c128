//! What produced what, and how sure that is.
#![expect(clippy::indexing_slicing, reason = "tests")]

use super::cases::{flow, subscribed};
use crate::flow::fixture::{after, before, delivery, keyed, on, publication, rec};
use crate::flow::{
    Confidence, Evidence, Fact, Flow, HopRef, HopState, MessageRef, Options, Rule, Search, Verdict, reconstruct,
};
use crate::time::Millis;
use crate::trace::{Term, TraceEvent, TraceRecord};

/// An id of the process 10.0.0.1, pid 8080, at `ms` of its month, with `counter`.
fn id(ms: u32, counter: u16) -> String {
    format!("0A0000011F9018B4AAC2{ms:08X}{counter:04X}")
}

/// Two deliveries open at once in one process, and a message that it sends meanwhile.
fn two_open(keys: [&[&str]; 3]) -> Vec<TraceRecord> {
    let [first, second, child] = keys;
    let mut records = vec![
        rec(keyed(first, publication(&["M1"], "orders", 10_090))),
        rec(keyed(second, publication(&["M2"], "orders", 10_091))),
        rec(keyed(child, publication(&[&id(103, 7)], "priced", 10_103))),
    ];
    records.extend(delivery(&id(100, 5), "M1", "enricher", (10_100, 10_110), 0, true));
    records.extend(delivery(&id(102, 6), "M2", "enricher", (10_102, 10_112), 0, true));
    records
}

fn edges(flow: &Flow) -> Vec<(&str, &str, Confidence)> {
    let name = |edge: &crate::flow::Edge| {
        let parent = flow.hop(edge.from).and_then(|hop| flow.message(hop.message))?;
        Some((parent.id.as_str(), flow.message(edge.to)?.topic.as_deref()?, edge.confidence))
    };
    flow.edges.iter().filter_map(name).collect()
}

#[test]
fn in_one_process_the_key_decides() {
    let records = two_open([&["order-1"], &["order-2"], &["order-1"]]);
    let flow = flow("order-1", 20_000, &records, &[]);
    assert_eq!(edges(&flow), [("M1", "priced", Confidence::High)]);
    assert_eq!(flow.edges[0].rule, Rule::InProcessKey);
    assert_eq!(flow.edges[0].attempt, Some(0));
}

#[test]
fn without_keys_all_candidates_stay() {
    let records = two_open([&[], &[], &[]]);
    let flow = flow("M1", 20_000, &records, &[]);
    assert_eq!(edges(&flow), [("M1", "priced", Confidence::Medium), ("M2", "priced", Confidence::Medium)]);
    assert_eq!(flow.edges[0].score, flow.edges[1].score);
    assert!(flow.edges[0].score < 50);
}

/// What hangs on a record by a guess is shown; its failures and its parents are not the record's.
#[test]
fn nothing_is_concluded_from_a_guess() {
    let mut records = two_open([&["order-1"], &["order-2"], &[]]);
    records.extend(delivery(&id(300, 90), &id(103, 7), "shipper", (10_300, 10_310), 0, false));
    let facts = [Fact::Produces { group: "enricher".into(), topic: "nowhere".into() }];
    let flow = flow("order-1", 40_000, &records, &facts);
    let told: Vec<_> = flow.messages.iter().map(|message| (message.id.as_str(), message.perhaps)).collect();
    assert_eq!(told, [("M1", false), ("M2", true), (id(103, 7).as_str(), true)]);
    assert_eq!(flow.roots, [MessageRef(0)]);
    assert_eq!(flow.verdict, Verdict::DroppedAt { group: "enricher".into() });
    let dropped: Vec<bool> = (0..flow.hops.len()).map(|hop| flow.dropped_at(HopRef(hop))).collect();
    assert_eq!(dropped, [true, false, false]);
    assert!(flow.findings.iter().all(|finding| finding.message == Some(MessageRef(0))), "{:?}", flow.findings);
}

#[test]
fn the_only_open_delivery_is_certain_where_all_traces_are_at_hand() {
    let records: Vec<TraceRecord> = two_open([&["order-1"], &["order-2"], &["order-1"]])
        .into_iter()
        .filter(|record| record.event.message_ids() != ["M2"])
        .collect();
    let mut options = Options::of("order-1", Millis(20_000));
    assert_eq!(edges(&reconstruct(&records, &[], &options)), [("M1", "priced", Confidence::High)]);
    options.whole = true;
    assert_eq!(edges(&reconstruct(&records, &[], &options)), [("M1", "priced", Confidence::CertainInProcess)]);
}

#[test]
fn what_was_sent_before_after_or_elsewhere_is_no_child() {
    for (ms, counter, process) in
        [(99, 4, "0A000001"), (120, 9, "0A000001"), (103, 7, "0A000002"), (100, 4, "0A000001")]
    {
        let child = id(ms, counter).replace("0A000001", process);
        let mut records = vec![
            rec(publication(&["M1"], "orders", 10_090)),
            rec(publication(&[&child], "priced", 10_000 + i64::from(ms))),
        ];
        records.extend(delivery(&id(100, 5), "M1", "enricher", (10_100, 10_110), 0, true));
        assert!(flow("M1", 20_000, &records, &[]).edges.is_empty(), "{ms} {counter} {process}");
    }
}

/// A source in the operator's process sends all the time; what it sends is not the operator's.
#[test]
fn a_source_in_the_same_process_is_no_operator() {
    let mut records = vec![
        rec(keyed(&["order-1"], publication(&["M1"], "orders", 10_090))),
        rec(keyed(&["order-8"], publication(&[&id(104, 8)], "orders", 10_104))),
        rec(keyed(&[], publication(&[&id(104, 18)], "orders", 10_104))),
        rec(keyed(&["order-9"], publication(&[&id(500, 30)], "orders", 10_500))),
        rec(keyed(&["price-77"], publication(&[&id(105, 9)], "priced", 10_105))),
    ];
    records.extend(delivery(&id(100, 5), "M1", "enricher", (10_100, 10_110), 0, true));
    let flow = flow("order-1", 20_000, &records, &[]);
    assert_eq!(edges(&flow), [("M1", "priced", Confidence::Medium)]);
}

#[test]
fn a_token_names_its_parents() {
    let mut records = vec![
        rec(keyed(&["line-1"], publication(&["M1"], "lines", 1_000))),
        rec(keyed(&["line-2"], publication(&["M2"], "lines", 1_001))),
        rec(keyed(&["order-1", "~p=M1", "~p=M2"], publication(&["M3"], "orders", 1_200))),
    ];
    records.extend(delivery("R1", "M1", "collector", (1_100, 1_110), 0, true));
    records.extend(delivery("R2", "M2", "collector", (1_120, 1_130), 0, true));
    let joined = flow("order-1", 9_000, &records, &[]);
    assert_eq!(edges(&joined), [("M1", "orders", Confidence::Exact), ("M2", "orders", Confidence::Exact)]);
    assert_eq!(joined.messages[2].keys, ["order-1"]);
    assert_eq!(joined.messages[2].parent_tokens, ["M1", "M2"]);
    assert_eq!(joined.roots.len(), 2);
    assert_eq!(joined.strands().len(), 1);
}

#[test]
fn a_child_proves_a_consumer_that_traced_nothing() {
    let records = [
        rec(keyed(&["order-1"], publication(&["M1"], "orders", 1_000))),
        rec(keyed(&["~p=M1"], publication(&["M2"], "priced", 1_200))),
    ];
    let unnamed = flow("order-1", 9_000, &records, &[]);
    assert_eq!(unnamed.hops.len(), 1);
    assert_eq!((unnamed.hops[0].group.as_deref(), unnamed.hops[0].evidence), (None, Evidence::SeenDownstream));
    let named = flow("order-1", 9_000, &records, &[subscribed("orders", "enricher")]);
    assert_eq!(named.hops[0].group.as_deref(), Some("enricher"));
    assert_eq!((&named.hops[0].state, named.hops[0].evidence), (&HopState::Ok { at: None }, Evidence::SeenDownstream));
}

#[test]
fn an_object_that_is_sent_on_keeps_its_id_and_is_two_messages() {
    let mut records = vec![
        rec(publication(&["M1"], "orders", 1_000)),
        on("192.0.2.9", rec(publication(&["M1"], "orders_eu", 1_105))),
    ];
    records.extend(delivery("R1", "M1", "router", (1_100, 1_110), 0, true).map(|r| on("192.0.2.9", r)));
    records.extend(delivery("R2", "M1", "billing", (1_200, 1_210), 0, true));
    let flow = flow("M1", 9_000, &records, &[subscribed("orders_eu", "billing")]);
    let topics: Vec<_> = flow.messages.iter().map(|message| message.topic.as_deref().unwrap_or("")).collect();
    assert_eq!(topics, ["orders", "orders_eu"]);
    assert_eq!(edges(&flow), [("M1", "orders_eu", Confidence::Exact)]);
    assert_eq!(flow.edges[0].rule, Rule::SameObject);
    let hops: Vec<_> = flow.hops.iter().map(|hop| (hop.message.0, hop.group.as_deref().unwrap_or(""))).collect();
    assert_eq!(hops, [(0, "router"), (1, "billing")]);
}

/// Consumers that report the offset id and producers that report the unique id speak of one message.
#[test]
fn offset_ids_and_unique_ids_are_joined() {
    let mut sent = publication(&["M1"], "orders", 1_000);
    if let TraceEvent::Pub(e) = &mut sent {
        e.offset_ids = vec!["0A9A002600002A9F0000000000002329".into()];
    }
    let mut records = vec![rec(sent)];
    records.extend(delivery("R1", "0A9A002600002A9F0000000000002329", "billing", (1_010, 1_020), 0, true));
    for subject in ["M1", "0A9A002600002A9F0000000000002329", "0a9a002600002a9f0000000000002329"] {
        let flow = flow(subject, 9_000, &records, &[]);
        assert_eq!((flow.messages.len(), flow.hops.len()), (1, 1), "{subject}");
    }
}

#[test]
fn the_same_key_later_is_a_guess_and_names_make_it_better() {
    let scene = |producer: &str, time: i64| {
        let mut child = keyed(&["order-1"], publication(&["M2"], "priced", time));
        if let TraceEvent::Pub(e) = &mut child {
            e.producer_group = producer.into();
        }
        let mut records = vec![rec(keyed(&["order-1"], publication(&["M1"], "orders", 1_000))), rec(child)];
        records.extend(delivery("R1", "M1", "enricher", (1_010, 1_020), 0, true));
        flow("order-1", 99_000, &records, &[])
    };
    assert_eq!(edges(&scene("somebody", 1_015)), [("M1", "priced", Confidence::Low)]);
    assert_eq!(edges(&scene("enricher_out", 1_015)), [("M1", "priced", Confidence::Medium)]);
    assert!(edges(&scene("somebody", 60_000)).is_empty());
    assert_eq!(scene("somebody", 60_000).roots.len(), 2);
    assert_eq!(scene("somebody", 60_000).strands().len(), 2);
}

/// What a look-up of `subject` fetches out of `all`.
fn looked_up(subject: &str, all: &[TraceRecord]) -> Vec<TraceRecord> {
    let mut search = Search::of(subject, &[]);
    let mut records = Vec::new();
    let mut terms = Vec::new();
    loop {
        let fresh = search.next(&records);
        if fresh.is_empty() {
            return records;
        }
        terms.extend(fresh);
        let has = |record: &&TraceRecord| {
            let mut found = false;
            Term::of(record, &mut |term| found |= terms.contains(&term));
            found
        };
        records = all.iter().filter(has).cloned().collect();
    }
}

/// By its key and by each of its ids a record has one flow, whatever else its processes sent meanwhile.
#[test]
fn every_name_of_a_record_leads_to_one_flow() {
    let mut all = vec![
        rec(keyed(&["order-1"], publication(&["M1"], "orders", 10_090))),
        rec(keyed(&["order-1"], publication(&[&id(103, 7)], "priced", 10_103))),
        // A batch of somebody else's, without keys, while the record's second operator works in the same process.
        rec(publication(&[&id(305, 31), &id(305, 32)], "carts", 10_305)),
    ];
    for (request, message, group, begin) in
        [(id(100, 5), "M1".to_owned(), "enricher", 10_100), (id(300, 30), id(103, 7), "shipper", 10_300)]
    {
        all.push(rec(keyed(&["order-1"], before(&request, &message, group, begin, 0))));
        all.push(rec(keyed(&["order-1"], after(&request, &message, group, begin + 10, true))));
    }
    all.push(rec(keyed(&["order-1"], publication(&[&id(308, 33)], "shipped", 10_308))));
    let flows = ["order-1".to_owned(), "M1".to_owned(), id(103, 7), id(308, 33)].map(|subject| {
        let flow = flow(&subject, 20_000, &looked_up(&subject, &all), &[]);
        let ids: Vec<String> = flow.messages.iter().map(|message| message.id.clone()).collect();
        (ids, flow.edges)
    });
    for other in &flows {
        assert_eq!(other, &flows[0]);
    }
    assert_eq!(flows[0].0, ["M1".to_owned(), id(103, 7), id(308, 33)]);
}

/// A look-up that fetches what it is told to ends with the whole flow.
#[test]
fn expanding_finds_children_under_other_keys_and_parents() {
    let mut all = vec![
        rec(keyed(&["order-1"], publication(&["M1"], "orders", 10_090))),
        rec(keyed(&["price-7"], publication(&[&id(103, 7)], "priced", 10_103))),
        rec(keyed(&["sum-3", &format!("~p={}", id(103, 7))], publication(&["M9"], "sums", 11_000))),
        rec(keyed(&["order-5"], publication(&["M5"], "orders", 10_090))),
        rec(before("R8", "M5", "enricher", 10_500, 0)),
    ];
    all.extend(delivery(&id(100, 5), "M1", "enricher", (10_100, 10_110), 0, true));
    for subject in ["order-1", "sum-3"] {
        let records = looked_up(subject, &all);
        let flow = flow(subject, 20_000, &records, &[]);
        let topics: Vec<_> = flow.messages.iter().filter_map(|message| message.topic.as_deref()).collect();
        let expected: &[&str] = if subject == "order-1" { &["orders", "priced", "sums"] } else { &["priced", "sums"] };
        assert_eq!(topics, expected, "{subject}");
    }
}
