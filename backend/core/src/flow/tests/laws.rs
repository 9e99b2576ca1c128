//! Laws that hold for any records.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use crate::flow::expand::expand;
use crate::flow::fixture::{at, keyed, publication, transaction_end, typed};
use crate::flow::{ConsumeModel, Fact, Hop, Options, picture, reconstruct, waterfall};
use crate::name::QueueRef;
use crate::time::Millis;
use crate::trace::{Outcome, PubType, Recall, SubAfter, SubBefore, TraceEvent, TraceRecord, TransactionState};

const IDS: [&str; 6] = [
    "0A0000011F9018B4AAC2000000640005",
    "0A0000011F9018B4AAC2000000660007",
    "0A0000011F9018B4AAC2000000690009",
    "0A9A002600002A9F0000000000002329",
    "M1",
    "",
];
const TOPICS: [&str; 3] = ["orders", "priced", "%RETRY%billing"];
const GROUPS: [&str; 3] = ["billing", "enricher", ""];
const KEYS: [&str; 5] = ["k1", "k2", "~p=M1", "~p=0A0000011F9018B4AAC2000000640005", "~p="];

fn id() -> impl Strategy<Value = String> {
    select(&IDS[..]).prop_map(str::to_owned)
}

fn time() -> impl Strategy<Value = i64> {
    prop_oneof![8 => 9_990..10_200i64, 1 => any::<i64>(), 1 => Just(0)]
}

fn event() -> impl Strategy<Value = TraceEvent> {
    let kind = select(
        &[PubType::Normal, PubType::HalfOrOrder, PubType::TransactionCommit, PubType::Delay, PubType::Other(9)][..],
    );
    let sent = (prop::collection::vec(id(), 1..3), select(&TOPICS[..]), time(), any::<bool>(), kind).prop_map(
        |(ids, topic, time, with_offset, kind)| {
            let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
            let mut event = typed(kind, publication(&ids, topic, time));
            if let (TraceEvent::Pub(e), true) = (&mut event, with_offset) {
                e.offset_ids = vec!["0A9A002600002A9F0000000000002329".into()];
            }
            event
        },
    );
    let begun =
        (id(), id(), select(&GROUPS[..]), time(), -1..4i64).prop_map(|(request_id, message_id, group, time, retry)| {
            TraceEvent::SubBefore(SubBefore {
                time: Millis(time),
                region: String::new(),
                group: group.into(),
                request_id,
                message_id,
                retry,
                keys: Vec::new(),
                client_host: None,
            })
        });
    let ended =
        (id(), id(), prop::option::of(select(&GROUPS[..])), prop::option::of(time()), any::<i64>(), any::<bool>())
            .prop_map(|(request_id, message_id, group, time, cost, success)| {
                TraceEvent::SubAfter(SubAfter {
                    request_id,
                    message_id,
                    cost,
                    success,
                    keys: Vec::new(),
                    outcome: (!success).then_some(Outcome::Exception),
                    time: time.map(Millis),
                    group: group.map(str::to_owned),
                })
            });
    let state =
        prop_oneof![Just(TransactionState::Commit), Just(TransactionState::Rollback), Just(TransactionState::Unknown)];
    let transaction = (id(), select(&TOPICS[..]), time(), state)
        .prop_map(|(id, topic, time, state)| transaction_end(&id, topic, time, state, false));
    let recall = (id(), time(), any::<bool>()).prop_map(|(message_id, time, success)| {
        TraceEvent::Recall(Recall {
            time: Millis(time),
            region: String::new(),
            producer_group: "p".into(),
            topic: "orders".into(),
            message_id,
            success,
        })
    });
    let any = prop_oneof![3 => sent, 3 => begun, 3 => ended, 1 => transaction, 1 => recall];
    (any, subsequence(&KEYS[..], 0..3)).prop_map(|(event, keys)| keyed(&keys, event))
}

fn record() -> impl Strategy<Value = TraceRecord> {
    (event(), time(), -20..20i64, prop::option::of(select(&GROUPS[..])), select(&["192.0.2.1", "192.0.2.2"][..]))
        .prop_map(|(event, born, way, owner, host)| {
            let mut record = at(born, born.saturating_add(way), event);
            record.origin.owner_group = owner.map(str::to_owned);
            record.origin.born_host = host.into();
            record
        })
}

fn fact() -> impl Strategy<Value = Fact> {
    let queue = || QueueRef { topic: "orders".into(), broker: "broker-a".into(), queue: 0 };
    prop_oneof![
        (select(&TOPICS[..]), select(&GROUPS[..]), any::<bool>()).prop_map(|(topic, group, broadcasting)| {
            let model = if broadcasting { ConsumeModel::Broadcasting } else { ConsumeModel::Clustering };
            Fact::Subscribed {
                topic: topic.into(),
                group: group.into(),
                expression: None,
                clients: None,
                model: Some(model),
            }
        }),
        (id(), 0..3i64).prop_map(move |(message_id, offset)| Fact::Stored {
            topic: "orders".into(),
            message_id,
            offset_id: None,
            queue: queue(),
            offset,
            stored: Millis(10_000),
            keys: vec!["k1".into()],
            tags: None,
            reconsume_times: 0,
        }),
        (select(&GROUPS[..]), 0..3i64).prop_map(move |(group, committed)| Fact::Committed {
            group: group.into(),
            queue: queue(),
            committed
        }),
        (id(), select(&GROUPS[..])).prop_map(|(message_id, group)| Fact::DeadLetter {
            group: group.into(),
            message_id,
            topic: format!("%DLQ%{group}"),
            stored: None,
            offset_id: None,
            origin_id: Some("0A9A002600002A9F0000000000002329".into()),
            tries: None,
        }),
        (select(&GROUPS[..]), -1..3i64).prop_map(|(group, retries)| Fact::Group {
            group: group.into(),
            max_retries: Some(retries),
            orderly: None
        }),
    ]
}

fn options(now: i64, whole: bool) -> Options {
    Options { watermark: Some(Millis(now)), whole, limit_ms: Some(10), ..Options::of("k1", Millis(now)) }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// Order and repetition of records and facts do not matter, and nothing panics on the way to a picture.
    #[test]
    fn a_flow_is_a_function_of_sets(
        records in prop::collection::vec(record(), 0..24),
        facts in prop::collection::vec(fact(), 0..5),
        now in prop_oneof![Just(10_100), Just(2_000_000_000), any::<i64>()],
        whole in any::<bool>(),
        seed in any::<prop::sample::Index>(),
    ) {
        let options = options(now, whole);
        let flow = reconstruct(&records, &facts, &options);
        let mut shuffled = records.clone();
        if !shuffled.is_empty() {
            let by = seed.index(shuffled.len());
            shuffled.rotate_left(by);
            shuffled.extend_from_within(..by);
            shuffled.reverse();
        }
        let mut turned = facts.clone();
        turned.reverse();
        turned.extend_from_slice(&facts);
        prop_assert_eq!(&reconstruct(&shuffled, &turned, &options), &flow);
        prop_assert_eq!(expand("k1", &shuffled, &turned), expand("k1", &records, &facts));
        for edge in &flow.edges {
            prop_assert!(flow.message(edge.to).is_some() && flow.hop(edge.from).is_some());
            prop_assert!(edge.score <= 100);
        }
        let drawn = picture::picture(&flow);
        prop_assert!(drawn.nodes.iter().all(|node| node.x >= 0 && node.y >= 0));
        let over_time = waterfall(&flow, Millis(now));
        prop_assert!(over_time.rows.iter().filter_map(|row| row.work).all(|bar| bar.x >= 0 && bar.width > 0));
        prop_assert!(serde_json::to_string(&flow).is_ok());
    }

    /// What the broker says adds to what was traced of a record and takes nothing away. (It may say that two ids are
    /// one, and that something without the key came from elsewhere.)
    #[test]
    fn a_fact_never_removes_an_attempt(records in prop::collection::vec(record(), 0..24), fact in fact()) {
        let attempts = |facts: &[Fact]| -> BTreeSet<String> {
            let flow = reconstruct(&records, facts, &options(20_000, false));
            let named = |hop: &&Hop| flow.message(hop.message).is_some_and(|message| message.keys.contains(&"k1".into()));
            let hops = flow.hops.iter().filter(named);
            hops.flat_map(|hop| &hop.attempts).map(|attempt| attempt.request_id.clone()).collect()
        };
        let (without, with) = (attempts(&[]), attempts(&[fact]));
        prop_assert!(with.is_superset(&without), "{:?} became {:?}", without, with);
    }
}
