//! Drawings of flows that people meet.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use super::waterfall::{RowKind, waterfall};
use super::{Drawn, Look, Node, Passage, Picture, picture};
use crate::flow::fixture::{delivery, keyed, publication, rec};
use crate::flow::{Fact, Flow, Options, reconstruct};
use crate::time::Millis;
use crate::trace::TraceRecord;

fn flow(records: &[TraceRecord], facts: &[Fact]) -> Flow {
    reconstruct(records, facts, &Options::of("order-1", Millis(60_000)))
}

/// A source, two operators on its topic (one of them failing for good), and what the other one writes.
fn shop() -> Flow {
    let mut records = vec![
        rec(keyed(&["order-1"], publication(&["M1"], "orders", 1_000))),
        rec(keyed(&["order-1", "~p=M1"], publication(&["M2"], "orders_priced", 1_018))),
    ];
    records.extend(delivery("R1", "M1", "price-enricher", (1_010, 1_025), 0, true));
    records.extend(delivery("R2", "M1", "auditor", (1_012, 1_014), 0, false));
    records.extend(delivery("R3", "M1", "auditor", (11_020, 11_024), 1, false));
    records.extend(delivery("R4", "M2", "search", (1_030, 1_071), 0, true));
    let dead = Fact::DeadLetter {
        group: "auditor".into(),
        message_id: "M1".into(),
        topic: "%DLQ%auditor".into(),
        stored: Some(Millis(11_030)),
        offset_id: None,
        origin_id: None,
        tries: None,
    };
    flow(&records, &[dead])
}

/// One operator that sends each record on to `width` topics, each read by a group.
fn fan(width: usize) -> Flow {
    let mut records = vec![rec(keyed(&["order-1"], publication(&["M"], "orders", 1_000)))];
    records.extend(delivery("R", "M", "router", (1_010, 1_500), 0, true));
    for number in 0..width {
        let (id, topic) = (format!("C{number:02}"), format!("orders_of_region_{number:02}_after_enrichment"));
        records.push(rec(keyed(&["order-1", "~p=M"], publication(&[&id], &topic, 1_020))));
        let group = format!("sink-of-region-{number:02}");
        records.extend(delivery(&format!("S{number:02}"), &id, &group, (1_100, 1_110), 0, true));
    }
    flow(&records, &[])
}

fn overlaps(a: &Node, b: &Node) -> bool {
    a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height
}

fn assert_legible(picture: &Picture) {
    for (place, node) in picture.nodes.iter().enumerate() {
        for other in &picture.nodes[place + 1..] {
            assert!(!overlaps(node, other), "{node:?} over {other:?}");
        }
        assert!(node.x >= 0 && node.y >= 0);
        assert!(node.x + node.width <= picture.width && node.y + node.height <= picture.height);
    }
    for path in &picture.paths {
        assert!(path.points.windows(2).all(|pair| pair[0].0 <= pair[1].0), "{path:?} goes back");
    }
}

#[test]
fn a_shop() {
    let picture = picture(&shop());
    assert_legible(&picture);
    insta::assert_json_snapshot!(picture);
}

#[test]
fn what_failed_is_drawn_failed() {
    let picture = picture(&shop());
    let find =
        |name: &str| picture.nodes.iter().position(|n| n.title.as_ref().is_some_and(|t| t.full == name)).unwrap();
    let (auditor, dead) = (find("auditor"), find("%DLQ%auditor"));
    assert_eq!(picture.nodes[auditor].look, Look::Bad);
    assert!(matches!(picture.nodes[dead].of, Drawn::DeadLetter(_)));
    let path = picture.paths.iter().find(|path| (path.from, path.to) == (auditor, dead)).unwrap();
    assert_eq!(path.passage, Passage::Failed);
    assert!(path.svg().starts_with('M'));
}

#[test]
fn forty_boxes_stay_legible() {
    let picture = picture(&fan(19));
    assert_eq!(picture.nodes.len(), 2 + 1 + 38);
    assert_legible(&picture);
    let crossing = |a: &super::Path, b: &super::Path| {
        let (first, last) = (|p: &super::Path| p.points[0], |p: &super::Path| *p.points.last().unwrap());
        first(a).0 == first(b).0 && (first(a).1 - first(b).1).signum() * (last(a).1 - last(b).1).signum() < 0
    };
    for (place, path) in picture.paths.iter().enumerate() {
        assert!(!picture.paths[place + 1..].iter().any(|other| crossing(path, other)));
    }
    let long = picture.nodes.iter().filter_map(|node| node.title.as_ref()).find(|title| title.short != title.full);
    assert_eq!(long.unwrap().full.len(), "orders_of_region_00_after_enrichment".len());
}

#[test]
fn a_larger_flow_says_what_it_left_out() {
    let large = picture(&fan(150));
    assert!(large.left_out > 0);
    assert_legible(&large);
}

#[test]
fn candidates_are_dotted_and_parents_by_token_are_not() {
    let of = |tokens: &[&str]| {
        let mut records = vec![
            rec(keyed(&["order-1"], publication(&["M1"], "a", 1_000))),
            rec(keyed(&["order-1"], publication(&["M2"], "b", 1_000))),
            rec(keyed(tokens, publication(&["M3"], "c", 1_015))),
        ];
        records.extend(delivery("R1", "M1", "one", (1_010, 1_020), 0, true));
        records.extend(delivery("R2", "M2", "two", (1_010, 1_020), 0, true));
        picture(&flow(&records, &[])).paths.iter().filter(|path| path.dotted).count()
    };
    assert_eq!(of(&["order-1", "~p=M1", "~p=M2"]), 0);
    assert_eq!(of(&["order-1"]), 2);
}

#[test]
fn the_waterfall_cuts_idle_time_and_shows_the_cut() {
    let flow = shop();
    let waterfall = waterfall(&flow, Millis(60_000));
    let cut = waterfall.cuts.iter().map(|cut| cut.skipped_ms).collect::<Vec<_>>();
    assert_eq!(cut, [9_949]); // 1 071 to 11 020
    let failed: Vec<_> = waterfall.rows.iter().filter(|row| row.kind == RowKind::Failed).collect();
    assert_eq!((failed[0].number, failed[1].number), (1, 2));
    assert_eq!(failed[1].after_ms, Some(10_006));
    assert!(failed[1].work.unwrap().x > failed[0].work.unwrap().x);
    for row in &waterfall.rows {
        let bar = row.work.unwrap();
        assert!(bar.x >= 0 && bar.width >= 2 && bar.x + bar.width <= waterfall.width + 2, "{row:?}");
    }
    for pair in waterfall.ticks.windows(2) {
        assert!(pair[1].x - pair[0].x >= 52 && pair[1].at_ms > pair[0].at_ms);
    }
    insta::assert_json_snapshot!(waterfall);
}
