//! What each client version writes: one send, its delivery, its transaction and its recall, row by row.

use millrace_core::trace::{Decoded, TraceEvent, decode, recorded};

const VERSIONS: &str = include_str!("../../../../tests/traces/synthetic-versions.txt");

/// Version and what its body decodes to.
fn versions() -> Vec<(&'static str, Decoded)> {
    let mut name = "";
    let mut versions = Vec::new();
    for (number, line) in (1..).zip(VERSIONS.lines()) {
        match line.strip_prefix("# ") {
            Some(comment) => name = comment,
            None => versions.extend(recorded::line(line.as_bytes(), number).unwrap().map(|m| (name, decode(&m)))),
        }
    }
    versions
}

/// One record's kind and what differs between versions.
fn shape(event: &TraceEvent) -> String {
    let known = |there: bool, what: &str| if there { format!(" {what}") } else { String::new() };
    match event {
        TraceEvent::Pub(e) => {
            format!("Pub{}{}", known(!e.offset_ids.is_empty(), "offset"), known(e.client_host.is_some(), "host"))
        }
        TraceEvent::SubBefore(e) => format!("Before{}", known(e.client_host.is_some(), "host")),
        TraceEvent::SubAfter(e) => {
            format!("After{}{}", known(e.time.is_some(), "time"), known(e.group.is_some(), "group"))
        }
        TraceEvent::EndTransaction(_) => "End".to_owned(),
        TraceEvent::Recall(_) => "Recall".to_owned(),
    }
}

#[test]
fn every_version_decodes_without_a_reject() {
    let got: Vec<(&str, String)> = versions()
        .iter()
        .map(|(name, decoded)| {
            assert_eq!(decoded.rejects, [], "{name}");
            assert!(decoded.records.iter().all(|record| record.extra.is_empty()), "{name}: nothing is left over");
            let name = name.split(" channel").next().unwrap_or(name);
            (name, decoded.records.iter().map(|record| shape(&record.event)).collect::<Vec<_>>().join(", "))
        })
        .collect();
    let want = [
        ("4.4.0-4.7.1", "Pub offset, Before, After"),
        ("4.8.0", "Pub offset host, Before host, After time group"),
        ("4.9.0", "Pub offset, Before, After time group, End"),
        ("4.9.1", "Pub offset, Before, After, End"),
        ("4.9.2-4.9.4, 5.0.0-5.1.3", "Pub offset, Before, After time group, End"),
        ("4.9.5-4.9.8, 5.1.4-5.3.0 LOCAL", "Pub offset, Before, After time group, End"),
        ("4.9.5-4.9.8, 5.1.4-5.3.0 CLOUD", "Before, After, After"),
        ("5.3.1 CLOUD", "Pub offset, Before, After"),
        ("5.3.2+ (5.5.0)", "Pub offset, Before, After time group, End, Recall"),
        (
            "Pub of 13 fields (no offsetMsgId): only the official decoder has this branch; no tagged 4.4.0+ encoder writes it",
            "Pub",
        ),
    ];
    assert_eq!(got, want.map(|(name, shapes)| (name, shapes.to_owned())));
}

#[test]
fn every_version_says_the_same_of_one_message() {
    for (name, decoded) in versions() {
        for record in &decoded.records {
            assert_eq!(record.event.message_ids(), ["C00002020CA05FFD2B2700A66DB30000"], "{name}");
            match &record.event {
                TraceEvent::Pub(e) => {
                    assert!(e.success, "{name}");
                    assert_eq!(
                        (e.topic.as_str(), e.cost, e.body_length, &*e.keys),
                        ("t_a", 3, 2, &["key-1".to_owned()][..]),
                        "{name}"
                    );
                }
                TraceEvent::SubBefore(e) => assert_eq!((e.group.as_str(), e.retry), ("g_c", 0), "{name}"),
                TraceEvent::SubAfter(e) => {
                    assert_eq!(
                        (e.success, e.cost, e.request_id.as_str()),
                        (true, 5, "C00002020CA05FFD2B2700A66DB30009"),
                        "{name}"
                    );
                    assert!(e.group.as_deref().is_none_or(|group| group == "g_c"), "{name}");
                }
                TraceEvent::EndTransaction(e) => assert!(!e.from_check, "{name}"),
                TraceEvent::Recall(e) => assert!(e.success, "{name}"),
            }
        }
    }
}
