//! What single bodies mean.

use millrace_core::time::Millis;
use millrace_core::trace::{Outcome, PubType, RejectReason, Term, TransactionState, decode};

use super::{after, before, end, events, message, publication, read, recall};

const PUB: &str = "Pub␁1700000000000␁DefaultRegion␁PG␁orders␁M1␁tag␁k1␁192.0.2.9:10911␁12␁3␁0";

#[test]
fn a_pub_has_thirteen_to_fifteen_fields() {
    let events = events(&format!("{PUB}␁true␂{PUB}␁OFF␁true␂{PUB}␁OFF␁true␁10.0.0.9␂"));
    let got: Vec<_> = events
        .iter()
        .map(publication)
        .map(|e| (e.success, e.offset_ids.first().map(String::as_str), e.client_host.as_deref()))
        .collect();
    assert_eq!(got, [(true, None, None), (true, Some("OFF"), None), (true, Some("OFF"), Some("10.0.0.9"))]);
    let first = publication(&events[1]);
    assert_eq!((first.time, first.body_length, first.cost), (Millis(1_700_000_000_000), 12, 3));
    assert_eq!(
        (first.region.as_str(), first.producer_group.as_str(), first.topic.as_str()),
        ("DefaultRegion", "PG", "orders")
    );
    assert_eq!((first.tags.as_deref(), first.store_host.as_str()), (Some("tag"), "192.0.2.9:10911"));
    assert_eq!((&*first.message_ids, &*first.keys), (&["M1".to_owned()][..], &["k1".to_owned()][..]));
}

#[test]
fn a_cloud_sub_after_without_separator_is_two_records() {
    let events = events("SubAfter␁R1␁M1␁3␁true␁k1␁0␁SubBefore␁1700000000100␁DefaultRegion␁CG␁R2␁M2␁0␁k2␂");
    assert_eq!(events.len(), 2);
    let first = after(&events[0]);
    assert_eq!((first.request_id.as_str(), first.message_id.as_str()), ("R1", "M1"));
    assert_eq!((first.success, first.cost, first.outcome), (true, 3, Some(Outcome::Success)));
    assert_eq!((first.group.as_deref(), first.time), (None, None));
    let second = before(&events[1]);
    assert_eq!((second.request_id.as_str(), second.message_id.as_str()), ("R2", "M2"));
    assert_eq!((second.time, second.group.as_str(), second.retry), (Millis(1_700_000_000_100), "CG", 0));
}

#[test]
fn a_glued_pair_may_end_the_body() {
    let events = events("SubAfter␁R1␁M1␁3␁true␁k1␁0␁SubAfter␁R1␁M2␁3␁false␁k2␁4␁");
    let got: Vec<_> = events.iter().map(after).map(|e| (e.message_id.as_str(), e.success, e.outcome, e.time)).collect();
    assert_eq!(got, [("M1", true, Some(Outcome::Success), None), ("M2", false, Some(Outcome::Failed), None)]);
}

#[test]
fn glue_holds_for_every_kind_and_counts_places() {
    let decoded = read(&format!(
        "SubAfter␁R1␁M1␁3␁true␁k1␁0␁{PUB}␁true␂SubAfter␁R1␁M1␁x␁true␁k1␁0␁Recall␁17␁r␁PG␁orders␁M1␁false␂"
    ));
    assert_eq!(decoded.records.iter().map(|record| record.origin.index).collect::<Vec<_>>(), [0, 1, 3]);
    assert!(!recall(&decoded.records[2].event).success);
    assert_eq!(decoded.rejects.iter().map(|r| (r.index, r.reason)).collect::<Vec<_>>(), [(2, RejectReason::BadNumber)]);
}

#[test]
fn one_bad_entry_costs_no_other() {
    let bad = PUB.replace("1700000000000", "abc");
    let decoded = read(&format!("{bad}␁OFF␁true␂SubBefore␁1700000000100␁DefaultRegion␁CG␁R2␁M2␁0␁k2␂Foo␁1␂"));
    assert_eq!(decoded.records.len(), 1);
    assert_eq!(decoded.records[0].origin.index, 1);
    let rejects: Vec<_> = decoded.rejects.iter().map(|reject| (reject.index, reject.reason)).collect();
    assert_eq!(rejects, [(0, RejectReason::BadNumber), (2, RejectReason::UnknownType)]);
    assert_eq!(decoded.rejects[1].sample, "Foo␁1");
}

#[test]
fn no_key_is_written_in_several_ways() {
    let after_with =
        |keys: &str, rest: &str| after(&events(&format!("SubAfter␁R␁M␁3␁true␁{keys}{rest}␂"))[0]).keys.clone();
    let before_with =
        |keys: &str| before(&events(&format!("SubBefore␁17␁DefaultRegion␁CG␁R␁M␁0␁{keys}␂"))[0]).keys.clone();
    let none: Vec<String> = Vec::new();
    assert_eq!(before_with("null"), none);
    assert_eq!(before_with(""), none);
    assert_eq!(after_with("dKey", ""), none);
    assert_eq!(after_with("dKey", "␁0"), ["dKey"]);
    assert_eq!(after_with("dKeys", ""), ["dKeys"]);
    assert_eq!(before_with("dKey"), ["dKey"]);
    assert_eq!(before_with("A  B A"), ["A", "B"]);
    let java = PUB.replace("␁k1␁", "␁dKey␁");
    assert_eq!(publication(&events(&format!("{java}␁OFF␁true␂"))[0]).keys, ["dKey"]);
}

#[test]
fn a_cpp_consumer_is_known_by_its_topic_or_region() {
    let body = "SubBefore\u{1}17\u{1}DefaultRegion\u{1}CG\u{1}R\u{1}M\u{1}0\u{1}dKey\u{2}";
    let mut cloud = message(body);
    cloud.queue.topic = "rmq_sys_TRACE_DATA_DefaultRegion".into();
    assert_eq!(before(&decode(&cloud).records[0].event).keys, Vec::<String>::new());
    let region = body.replace("DefaultRegion", "DEFAULT_REGION");
    assert_eq!(before(&decode(&message(region)).records[0].event).keys, Vec::<String>::new());
}

#[test]
fn a_batch_send_is_one_record_of_many_ids() {
    let batch = PUB.replace("␁M1␁tag␁k1␁", "␁M1,M2,M3␁null␁null␁");
    let decoded = read(&format!("{batch}␁O1,O2,O3␁true␂"));
    let event = publication(&decoded.records[0].event);
    assert_eq!(event.message_ids, ["M1", "M2", "M3"]);
    assert_eq!(event.offset_ids, ["O1", "O2", "O3"]);
    assert_eq!((event.tags.as_deref(), event.keys.len(), event.message_type), (None, 0, PubType::Normal));
    let mut terms = Vec::new();
    Term::of(&decoded.records[0], &mut |term| terms.push(term));
    for id in ["M1", "M2", "M3", "O1", "O2", "O3"] {
        assert!(terms.contains(&Term::text(id)), "{id} finds the send");
    }
}

#[test]
fn ids_of_one_place_belong_together() {
    let batch = PUB.replace("␁M1␁", "␁M1,M2,M3␁");
    assert_eq!(publication(&events(&format!("{batch}␁O1,,O3␁true␂"))[0]).offset_ids, ["O1"]);
    assert_eq!(publication(&events(&format!("{batch}␁null␁true␂"))[0]).offset_ids, Vec::<String>::new());
}

#[test]
fn message_types_are_said_as_far_as_one_record_tells() {
    for (ordinal, want) in [
        ("0", PubType::Normal),
        ("1", PubType::HalfOrOrder),
        ("2", PubType::TransactionHalf),
        ("3", PubType::Delay),
        ("4", PubType::Delay),
        ("7", PubType::Other(7)),
        ("-1", PubType::Other(-1)),
    ] {
        let body = format!("{}␁{ordinal}␁OFF␁true␂", PUB.strip_suffix("␁0").unwrap());
        assert_eq!(publication(&events(&body)[0]).message_type, want, "{ordinal}");
    }
}

#[test]
fn go_clients_write_their_host() {
    let events = events(
        "Pub␁17␁DefaultRegion␁PG␁orders␁M1␁␁␁192.0.2.9:10911␁12␁3␁0␁OFF␁true␁192.0.2.3␂\
         SubBefore␁18␁DefaultRegion␁CG␁R␁M1␁0␁null␁192.0.2.4␂SubAfter␁R␁M1␁9␁true␁null␁0␁27␁CG␂",
    );
    let sent = publication(&events[0]);
    assert_eq!((sent.client_host.as_deref(), sent.keys.len(), sent.tags.as_deref()), (Some("192.0.2.3"), 0, None));
    assert_eq!((before(&events[1]).client_host.as_deref(), before(&events[1]).keys.len()), (Some("192.0.2.4"), 0));
    assert_eq!((after(&events[2]).time, after(&events[2]).group.as_deref()), (Some(Millis(27)), Some("CG")));
}

#[test]
fn fields_that_nobody_writes_are_kept() {
    let decoded = read(&format!(
        "{PUB}␁OFF␁true␁host␁new␁null␂SubAfter␁R␁M␁3␁true␁k␁0␁27␁CG␁x␁␁y␂\
         EndTransaction␁1␁r␁PG␁orders␁M1␁t␁k␁h␁2␁T␁PREPARED␁true␁z␂Recall␁1␁r␁PG␁orders␁M1␁true␁␂"
    ));
    assert_eq!(decoded.rejects, []);
    let extra: Vec<_> = decoded.records.iter().map(|record| record.extra.join("|")).collect();
    assert_eq!(extra, ["new|null", "x||y", "z", ""]);
    assert_eq!(end(&decoded.records[2].event).state, TransactionState::Other("PREPARED".into()));
}

#[test]
fn each_kind_of_fault_has_its_reason() {
    use RejectReason::{BadBoolean, BadNumber, MissingId, NotUtf8, TooFewFields, UnknownType};
    for (body, reason) in [
        (PUB.to_owned(), TooFewFields),
        (format!("{PUB}␁TRUE"), BadBoolean),
        (format!("{PUB}␁OFF␁"), BadBoolean),
        (format!("{}␁true", PUB.replace("␁12␁", "␁12x␁")), BadNumber),
        (format!("{}␁true", PUB.replace("␁12␁", "␁99999999999999999999␁")), BadNumber),
        (format!("{}␁true", PUB.replace("␁M1␁", "␁null␁")), MissingId),
        (format!("{}␁true", PUB.replace("␁M1␁", "␁,␁")), MissingId),
        ("SubBefore␁17␁r␁CG␁␁M␁0␁k".into(), MissingId),
        ("SubBefore␁17␁r␁CG␁R␁M␁0".into(), TooFewFields),
        ("SubAfter␁R␁M␁3␁true".into(), TooFewFields),
        ("SubAfter␁R␁M␁3␁true␁k␁x".into(), BadNumber),
        ("SubAfter␁R␁M␁3␁true␁k␁0␁Foo␁1".into(), BadNumber),
        ("EndTransaction␁1␁r␁PG␁orders␁M1␁t␁k␁h␁2␁T␁UNKNOW".into(), TooFewFields),
        ("Recall␁1␁r␁PG␁orders␁M1␁maybe".into(), BadBoolean),
        ("pub␁1".into(), UnknownType),
        ("␁".into(), UnknownType),
        ("{\"i\":17}".into(), UnknownType),
    ] {
        let decoded = read(&body);
        assert_eq!(decoded.rejects.iter().map(|reject| reject.reason).collect::<Vec<_>>(), [reason], "{body}");
        assert_eq!(decoded.records, [], "{body}");
    }
    let decoded = decode(&message(
        b"SubAfter\x01R\x01\xff\x013\x01true\x01k\x010\x01SubAfter\x01R\x01M\x013\x01true\x01k\x010\x01",
    ));
    assert_eq!(decoded.rejects.iter().map(|r| (r.index, r.reason)).collect::<Vec<_>>(), [(0, NotUtf8)]);
    assert_eq!(decoded.records.len(), 1, "what is glued to bad UTF-8 is kept");
}

#[test]
fn a_record_knows_where_it_lies_and_whose_client_wrote_it() {
    let mut from = message("SubAfter\u{1}R\u{1}M\u{1}3\u{1}true\u{1}k\u{1}0\u{2}");
    from.producer_group = Some("_INNER_TRACE_PRODUCER-billing-east-CONSUME-3".into());
    let record = decode(&from).records.remove(0);
    assert_eq!(after(&record.event).group, None);
    assert_eq!(record.origin.owner_group.as_deref(), Some("billing-east"));
    assert_eq!((&record.origin.queue, record.origin.offset, record.origin.index), (&from.queue, 42, 0));
    assert_eq!(
        (record.origin.stored, record.origin.born, &*record.origin.born_host),
        (from.stored, from.born, "192.0.2.1")
    );
}

#[test]
fn a_record_survives_json() {
    for record in read(&format!("{PUB}␁OFF␁true␁host␁new␂SubAfter␁R␁M␁3␁true␁k␁9␂")).records {
        let text = serde_json::to_string(&record).unwrap();
        assert_eq!(serde_json::from_str::<millrace_core::trace::TraceRecord>(&text).unwrap(), record);
    }
}
