//! Bodies made to hurt: each decodes, and each of its entries is accounted for.

use std::time::Duration;

use millrace_core::trace::decode;

use super::message;

const AFTER: &str = "SubAfter\u{1}R\u{1}M\u{1}3\u{1}true\u{1}k\u{1}0\u{1}";

/// Body, good records, rejects.
fn corpus() -> Vec<(Vec<u8>, usize, usize)> {
    let text = |body: &str, records, rejects| (body.as_bytes().to_vec(), records, rejects);
    vec![
        text("", 0, 0),
        text("\u{2}", 0, 0),
        text("\u{1}", 0, 1),
        text("\u{2}\u{2}\u{2}", 0, 0),
        text("\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}", 0, 1),
        text("Pub", 0, 1),
        text("SubAfter", 0, 1),
        text("SubAfter\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}", 0, 1),
        text("SubAfter\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}SubAfter\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}Pub", 0, 3),
        text(&AFTER.repeat(50_000), 50_000, 0),
        text(&format!("{AFTER}SubAfter"), 1, 1),
        text(&format!("{AFTER}\u{1}"), 1, 0),
        text(&format!("{AFTER}Pub"), 1, 1),
        text("SubAfter\u{1}R\u{1}M\u{1}-9223372036854775808\u{1}true\u{1}k\u{1}9223372036854775807", 1, 0),
        text("SubAfter\u{1}R\u{1}M\u{1}9223372036854775808\u{1}true\u{1}k\u{1}0", 0, 1),
        text("SubAfter\u{1}R\u{1}M\u{1}٣\u{1}true\u{1}k\u{1}0", 0, 1),
        text(&"x".repeat(4 << 20), 0, 1),
        text(&"\u{1}".repeat(1 << 20), 0, 1),
        text(&"a\u{2}".repeat(1 << 16), 0, 1 << 16),
        (vec![0xff; 1 << 16], 0, 1),
        (b"Pub\x01\xc3\x28\x02Pub\x01\xe2\x82\x02\xf0\x9f\x98".to_vec(), 0, 3),
        (vec![0; 512], 0, 1),
    ]
}

#[test]
fn nothing_breaks_the_decoder() {
    for (body, records, rejects) in corpus() {
        let decoded = decode(&message(&body));
        let start = String::from_utf8_lossy(&body[..body.len().min(60)]).into_owned();
        assert_eq!((decoded.records.len(), decoded.rejects.len()), (records, rejects), "{start:?}");
        assert!(decoded.rejects.iter().all(|reject| reject.sample.chars().count() <= 200), "{start:?}");
    }
}

/// A message may hold megabytes of distinct keys; taking them apart must not be quadratic. The quadratic way takes
/// far longer than the deadline.
#[test]
fn many_keys_take_little_time() {
    let keys: Vec<String> = (0..300_000).map(|n| n.to_string()).collect();
    let body = format!("SubAfter\u{1}R\u{1}M\u{1}3\u{1}true\u{1}{}\u{1}0\u{2}", keys.join(" "));
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(decode(&message(body))));
    let decoded = receiver.recv_timeout(Duration::from_mins(1)).expect("decoded within a minute");
    assert_eq!(decoded.records[0].event.keys(), keys);
}
