//! Any bytes decode, and every entry takes exactly one place.
#![no_main]

use libfuzzer_sys::fuzz_target;
use millrace_core::trace::{decode, recorded};

fuzz_target!(|bytes: &[u8]| {
    let _ = recorded::line(bytes, 1);
    let decoded = decode(&recorded::body(bytes.to_vec(), 1));
    let records = decoded.records.iter().map(|record| record.origin.index);
    let mut places: Vec<u32> = records.chain(decoded.rejects.iter().map(|reject| reject.index)).collect();
    places.sort_unstable();
    assert!((0..).zip(&places).all(|(want, place)| want == *place));
});
