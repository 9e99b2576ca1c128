//! What holds for every body.

use millrace_core::id::{GrpcId, IdKind, OffsetId, UniqId};
use millrace_core::trace::{RejectReason, TraceEvent, decode};
use proptest::collection::vec;
use proptest::prelude::*;

use super::message;

/// Text of one field: no separators, no blanks at its ends.
fn field() -> impl Strategy<Value = String> {
    "[A-Za-z0-9_,:.单 -]{0,12}"
}

fn id() -> impl Strategy<Value = String> {
    "[0-9A-F]{32}"
}

/// An entry as some client version writes it.
fn good() -> impl Strategy<Value = String> {
    let kind = prop_oneof![Just(13_usize), Just(14), Just(15)];
    let publication =
        (kind, any::<i64>(), id(), field(), 0_i64..6, any::<bool>()).prop_map(|(n, time, id, keys, kind, ok)| {
            let mut text =
                format!("Pub\u{1}{time}\u{1}r\u{1}g\u{1}t\u{1}{id}\u{1}null\u{1}{keys}\u{1}h\u{1}1\u{1}2\u{1}{kind}");
            text.push_str(if n > 13 { "\u{1}O1\u{1}" } else { "\u{1}" });
            text.push_str(if ok { "true" } else { "false" });
            text.push_str(if n > 14 { "\u{1}192.0.2.3" } else { "" });
            text
        });
    let before = (any::<i64>(), id(), id(), field(), any::<bool>()).prop_map(|(time, request, id, keys, go)| {
        format!(
            "SubBefore\u{1}{time}\u{1}r\u{1}g\u{1}{request}\u{1}{id}\u{1}0\u{1}{keys}{}",
            if go { "\u{1}h" } else { "" }
        )
    });
    let after = (id(), id(), field(), any::<bool>(), 0..3).prop_map(|(request, id, keys, ok, n)| {
        let rest = ["", "\u{1}0", "\u{1}0\u{1}1700000000000\u{1}g"];
        let rest = rest.get(usize::try_from(n).unwrap_or_default()).copied().unwrap_or_default();
        format!("SubAfter\u{1}{request}\u{1}{id}\u{1}3\u{1}{ok}\u{1}{keys}{rest}")
    });
    let recall =
        (any::<i64>(), id()).prop_map(|(time, id)| format!("Recall\u{1}{time}\u{1}r\u{1}g\u{1}t\u{1}{id}\u{1}true"));
    prop_oneof![publication, before, after, recall]
}

/// An entry that no client writes, as bytes without entry separators.
fn bad() -> impl Strategy<Value = Vec<u8>> {
    let noise = vec(any::<u8>().prop_filter("no separator", |byte| *byte != 2), 1..40);
    let short = good().prop_map(|entry| entry.replace('\u{1}', "").into_bytes());
    let unknown = good().prop_map(|entry| format!("X{entry}").into_bytes());
    let not_utf8 = good().prop_map(|entry| [entry.as_bytes(), b"\xff"].concat());
    prop_oneof![noise, short, unknown, not_utf8].prop_filter("not blank, not glue", |entry| {
        !entry.trim_ascii().is_empty() && !entry.starts_with(b"SubAfter\x01")
    })
}

fn body() -> impl Strategy<Value = Vec<u8>> {
    let entry = prop_oneof![3 => good().prop_map(String::into_bytes), 1 => bad(), 1 => Just(Vec::new())];
    vec(entry, 0..12).prop_map(|entries| {
        entries
            .into_iter()
            .flat_map(|mut entry| {
                entry.push(2);
                entry
            })
            .collect()
    })
}

/// The least that may be said of any decoding: places are 0, 1, 2… without a hole or a repeat.
fn places(decoded: &millrace_core::trace::Decoded) -> Vec<u32> {
    let records = decoded.records.iter().map(|record| record.origin.index);
    let mut places: Vec<u32> = records.chain(decoded.rejects.iter().map(|reject| reject.index)).collect();
    places.sort_unstable();
    places
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_bytes_decode(bytes in vec(prop_oneof![3 => any::<u8>(), 1 => Just(1), 1 => Just(2)], 0..400)) {
        let decoded = decode(&message(&bytes));
        let entries = bytes.split(|byte| *byte == 2).filter(|entry| !entry.trim_ascii().is_empty()).count();
        let places = places(&decoded);
        prop_assert!(places.iter().copied().eq(0..u32::try_from(places.len()).unwrap()));
        prop_assert!(places.len() >= entries);
    }

    #[test]
    fn any_damage_to_a_body_is_survived(mut bytes in body(), damage in vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        for (at, byte) in damage {
            if !bytes.is_empty() {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
        }
        let places = places(&decode(&message(&bytes)));
        prop_assert!(places.iter().copied().eq(0..u32::try_from(places.len()).unwrap()));
    }

    #[test]
    fn every_entry_is_a_record_or_a_reject(entries in vec(prop_oneof![good().prop_map(|e| (true, e.into_bytes())), bad().prop_map(|e| (false, e))], 0..12)) {
        let body: Vec<u8> = entries.iter().flat_map(|(_, entry)| [entry.as_slice(), b"\x02"].concat()).collect();
        let decoded = decode(&message(&body));
        let good = entries.iter().filter(|(good, _)| *good).count();
        prop_assert_eq!((decoded.records.len(), decoded.rejects.len()), (good, entries.len() - good));
    }

    #[test]
    fn bodies_end_to_end_decode_as_they_do_apart(first in body(), second in body()) {
        let whole = decode(&message([first.as_slice(), &second].concat()));
        let mut apart = decode(&message(&first));
        let next = u32::try_from(apart.records.len() + apart.rejects.len()).unwrap();
        let mut rest = decode(&message(&second));
        rest.records.iter_mut().for_each(|record| record.origin.index += next);
        rest.rejects.iter_mut().for_each(|reject| reject.index += next);
        apart.records.append(&mut rest.records);
        apart.rejects.append(&mut rest.rejects);
        prop_assert_eq!(whole, apart);
    }

    #[test]
    fn glue_changes_nothing(afters in vec((id(), id(), any::<bool>()), 1..6), last in good()) {
        let entry = |(request, id, ok): &(String, String, bool)| format!("SubAfter\u{1}{request}\u{1}{id}\u{1}3\u{1}{ok}\u{1}k\u{1}0");
        let entries: Vec<String> = afters.iter().map(entry).chain([last]).collect();
        prop_assert_eq!(decode(&message(entries.join("\u{1}"))), decode(&message(entries.join("\u{2}"))));
    }

    #[test]
    fn not_utf8_is_said_so(entry in good()) {
        let decoded = decode(&message([entry.as_bytes(), b"\xff\x02", entry.as_bytes(), b"\x02"].concat()));
        prop_assert_eq!(decoded.rejects.iter().map(|r| r.reason).collect::<Vec<_>>(), [RejectReason::NotUtf8]);
        prop_assert_eq!(decoded.records.len(), 1);
    }

    #[test]
    fn keys_are_distinct_and_whole(keys in vec("[a-c]{1,2}", 0..20)) {
        let body = format!("SubBefore\u{1}17\u{1}r\u{1}g\u{1}R\u{1}M\u{1}0\u{1}{}\u{2}", keys.join(" "));
        let decoded = decode(&message(body));
        let TraceEvent::SubBefore(event) = &decoded.records[0].event else { panic!("no SubBefore") };
        let mut want: Vec<String> = Vec::new();
        for key in keys {
            if !want.contains(&key) {
                want.push(key);
            }
        }
        prop_assert_eq!(&event.keys, &want);
    }

    #[test]
    fn any_text_is_some_kind_of_id(text in "\\PC{0,64}") {
        let _ = IdKind::of(&text);
    }

    #[test]
    fn a_unique_id_says_what_it_was_made_of(ip in any::<[u8; 4]>(), pid in any::<u16>(), loader in any::<u32>(), ms in 0_u32..2_678_400_000, counter in any::<u16>()) {
        let text = format!("{:08X}{pid:04X}{loader:08X}{ms:08X}{counter:04X}", u32::from_be_bytes(ip));
        let id = UniqId::parse(&text).unwrap();
        prop_assert_eq!(id.address, std::net::IpAddr::from(ip));
        prop_assert_eq!((id.pid, id.loader, id.ms_in_month, id.counter), (pid, loader, i64::from(ms), counter));
        prop_assert_eq!(UniqId::parse(&text.to_lowercase()), Some(id));
    }

    #[test]
    fn an_offset_id_says_what_it_was_made_of(ip in any::<[u8; 4]>(), port in 1024_u32..65_536, offset in 0_i64..) {
        let text = format!("{:08X}{port:08X}{offset:016X}", u32::from_be_bytes(ip));
        let want = OffsetId { address: ip.into(), port, offset };
        prop_assert_eq!(IdKind::of(&text), IdKind::Offset(want));
    }

    #[test]
    fn a_grpc_id_says_what_it_was_made_of(mac in any::<[u8; 6]>(), pid in any::<u16>(), seconds in any::<u32>(), sequence in any::<u32>()) {
        let mac_hex = mac.map(|byte| format!("{byte:02X}")).concat();
        let id = GrpcId::parse(&format!("01{mac_hex}{pid:04X}{seconds:08X}{sequence:08X}")).unwrap();
        prop_assert_eq!((id.pid, id.sequence, id.unix_seconds), (pid, sequence, 1_609_459_200 + i64::from(seconds)));
        prop_assert_eq!(id.mac.replace(':', "").to_uppercase(), mac_hex);
    }
}
