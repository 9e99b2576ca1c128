//! Flows of a task that ran on Apache RocketMQ 5.5.0 with its own Java clients, and of clients 4.8.0 and 4.9.8 beside it:
//! `demo_source_a` -> `demo_op1` -> `demo_mid_b` -> `demo_op2` -> `demo_sink_c`. Records that end in 7 always fail at
//! `demo_op1`; 3, 5 and 9 fail once. Everything ran in one process.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use std::fmt::Write;

use serde_json::Value;

use crate::flow::{ConsumeModel, Fact, Flow, HopRef, Options, Search, reconstruct};
use crate::name::QueueRef;
use crate::time::Millis;
use crate::trace::{Term, TraceMessage, TraceRecord, decode};

const MESSAGES: &str = include_str!("../../../../../tests/traces/messages.jsonl");
const DEAD: &str = include_str!("../../../../../tests/traces/dlq.jsonl");

/// Half an hour after the last trace, all of them read.
const NOW: Millis = Millis(1_796_096_400_000);

fn records() -> Vec<TraceRecord> {
    let message = |line: &str| {
        let json: Value = serde_json::from_str(line).unwrap();
        TraceMessage {
            queue: QueueRef { topic: "RMQ_SYS_TRACE_TOPIC".into(), broker: "broker-a".into(), queue: 0 },
            offset: json["queueOffset"].as_i64().unwrap(),
            stored: Millis(json["storeTimestamp"].as_i64().unwrap()),
            born: Millis(json["bornTimestamp"].as_i64().unwrap()),
            born_host: json["bornHost"].as_str().unwrap().into(),
            producer_group: json["properties"]["PGROUP"].as_str().map(str::to_owned),
            body: json["body"].as_str().unwrap().into(),
        }
    };
    MESSAGES.lines().flat_map(|line| decode(&message(line)).records).collect()
}

fn dead_letters() -> Vec<Fact> {
    let copy = |line: &str| {
        let json: Value = serde_json::from_str(line).unwrap();
        let properties = &json["properties"];
        Fact::DeadLetter {
            group: "demo_op1".into(),
            message_id: properties["UNIQ_KEY"].as_str().unwrap().into(),
            topic: "%DLQ%demo_op1".into(),
            stored: json["storeTimestamp"].as_i64().map(Millis),
            offset_id: json["offsetMsgId"].as_str().map(str::to_owned),
            origin_id: properties["ORIGIN_MESSAGE_ID"].as_str().map(str::to_owned),
            tries: None,
        }
    };
    DEAD.lines().map(copy).collect()
}

fn broadcasting() -> Fact {
    Fact::Subscribed {
        topic: "demo_sink_c".into(),
        group: "demo_bcast_g".into(),
        expression: Some("*".into()),
        clients: Some(1),
        model: Some(ConsumeModel::Broadcasting),
    }
}

fn whole(subject: &str, records: &[TraceRecord], facts: &[Fact]) -> Flow {
    let options = Options { watermark: Some(NOW), whole: true, ..Options::of(subject, NOW) };
    reconstruct(records, facts, &options)
}

/// A flow as a person would tell it, times in milliseconds since its begin.
fn told(flow: &Flow) -> String {
    let mut text = String::new();
    let begin = flow.span.map_or(Millis(0), |span| span.begin);
    let at = |time: Option<Millis>| time.map_or_else(|| "?".to_owned(), |time| time.since(begin).to_string());
    let name = |name: &Option<String>| name.clone().unwrap_or_else(|| "?".to_owned());
    for (place, message) in flow.messages.iter().enumerate() {
        let sent = message.publications.first();
        writeln!(
            text,
            "{} at {} by {} as {:?}, keys {:?}, tags {}, batch of {}, {:?}",
            name(&message.topic),
            at(message.begin()),
            sent.map_or("?", |sent| sent.group.as_str()),
            message.kind,
            message.keys,
            name(&message.tags),
            message.batch.len(),
            message.evidence,
        )
        .unwrap();
        if let Some(transaction) = &message.transaction {
            let ends: Vec<String> = transaction
                .ends
                .iter()
                .map(|e| format!("{:?} at {} check {}", e.state, at(Some(e.at)), e.from_check))
                .collect();
            writeln!(text, "  transaction {:?}: {}", transaction.outcome, ends.join(", ")).unwrap();
        }
        for edge in flow.parents_of(crate::flow::MessageRef(place)) {
            let hop = flow.hop(edge.from).unwrap();
            let (group, try_) = (name(&hop.group), edge.attempt.map_or(0, |attempt| attempt + 1));
            writeln!(text, "  from {group} try {try_}: {:?} by {:?}, {}", edge.confidence, edge.rule, edge.score)
                .unwrap();
        }
        for (_, hop) in flow.hops_of(crate::flow::MessageRef(place)) {
            writeln!(
                text,
                "  {} {:?}, waited {:?}, worked {:?}, {:?}",
                name(&hop.group),
                hop.state,
                hop.waited,
                hop.worked,
                hop.evidence
            )
            .unwrap();
            for attempt in &hop.attempts {
                let (begin, end) = (at(attempt.begin), at(attempt.end));
                writeln!(
                    text,
                    "    {begin} to {end} ok {:?} {:?} retry {:?}",
                    attempt.ok, attempt.outcome, attempt.retry
                )
                .unwrap();
            }
        }
    }
    writeln!(
        text,
        "roots {}, findings {:?}",
        flow.roots.len(),
        flow.findings.iter().map(|f| &f.kind).collect::<Vec<_>>()
    )
    .unwrap();
    writeln!(text, "{:?}", flow.verdict).unwrap();
    text.replace(&begin.0.to_string(), "begin")
}

#[test]
fn keys_of_the_task() {
    let records = records();
    let mut facts = dead_letters();
    facts.push(broadcasting());
    for key in [
        "rec-0000",
        "rec-0003",
        "rec-0005",
        "rec-0007",
        "rec-0009",
        "batch-1",
        "k2",
        "tx-commit",
        "tx-rollback",
        "tx-unknown",
        "delay-level-2",
        "delay-timer-8s",
        "delay-recalled",
        "ord-0",
        "ord-1",
        "async-1",
        "oneway-1",
        "old-0",
        "old-1",
        "old-2",
    ] {
        insta::assert_snapshot!(key, told(&whole(key, &records, &facts)));
    }
}

/// A recall carries no key: it is found by the message's id.
#[test]
fn a_message_that_was_called_back() {
    let flow = whole("C00002021FF14E0E2F2A00AE52780000", &records(), &[]);
    insta::assert_snapshot!("recalled", told(&flow));
}

/// A dead letter is only claimed where its copy was found: the client's own limit of two retries is in no trace.
#[test]
fn a_dead_letter_needs_its_copy() {
    let flow = whole("rec-0007", &records(), &[]);
    assert!(
        matches!(flow.verdict, crate::flow::Verdict::StoppedAt { tries: 3, dead_since: None, .. }),
        "{:?}",
        flow.verdict
    );
}

/// Fetching by terms, as a look-up does, ends with the same hops as reading everything.
#[test]
fn a_look_up_finds_what_reading_everything_finds() {
    let records = records();
    let index: Vec<(Vec<Term>, &TraceRecord)> = records
        .iter()
        .map(|record| {
            let mut terms = Vec::new();
            Term::of(record, &mut |term| terms.push(term));
            (terms, record)
        })
        .collect();
    for number in (0..40).step_by(3) {
        let key = format!("rec-{number:04}");
        let mut search = Search::of(&key, &[]);
        let (mut found, mut terms) = (Vec::new(), Vec::new());
        loop {
            let fresh = search.next(&found);
            if fresh.is_empty() {
                break;
            }
            terms.extend(fresh);
            let hit = index.iter().filter(|(of, _)| of.iter().any(|term| terms.contains(term)));
            found = hit.map(|(_, record)| (*record).clone()).collect();
        }
        let mut looked_up = whole(&key, &found, &[]);
        let mut all = whole(&key, &records, &[]);
        // With less at hand "the only delivery that was open" cannot be claimed; clocks have fewer samples.
        for flow in [&mut looked_up, &mut all] {
            flow.clocks.clear();
            for edge in &mut flow.edges {
                edge.confidence = edge.confidence.max(crate::flow::Confidence::High);
                edge.score = 0;
            }
        }
        assert_eq!(looked_up, all, "{key}");
        assert!(looked_up.hop(HopRef(0)).is_some());
    }
}
