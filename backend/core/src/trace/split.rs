//! The body of a trace message, taken apart into entries. Invariant: every byte but separators is in exactly one entry.

use memchr::{memchr, memchr_iter};

/// Between fields.
pub(super) const FIELD: u8 = 1;
/// After an entry.
pub(super) const ENTRY: u8 = 2;

const KINDS: [&[u8]; 5] = [b"Pub", b"SubBefore", b"SubAfter", b"EndTransaction", b"Recall"];
/// Fields of a SubAfter on the CLOUD channel, each with a separator behind it. Clients 4.9.5 to 4.9.8 and 5.1.4 to
/// 5.3.0 forget the entry separator after the last, so that the next entry is glued on.
const CLOUD_SUB_AFTER: usize = 7;

/// Entries as bytes, glued ones one by one, without the empty ones. Bytes, not text: one that is not UTF-8 costs no
/// other.
pub(super) fn entries(mut body: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut line: &[u8] = &[];
    std::iter::from_fn(move || {
        while line.is_empty() && !body.is_empty() {
            (line, body) = cut_at(body, memchr(ENTRY, body));
        }
        let (entry, glued) = unglue(line);
        line = glued;
        (!entry.is_empty()).then_some(entry)
    })
    .filter(|entry| !entry.trim_ascii().is_empty())
}

/// The fields of an entry, in place of what was in `fields`.
pub(super) fn split<'t>(entry: &'t str, fields: &mut Vec<&'t str>) {
    fields.clear();
    let mut start = 0;
    for at in memchr_iter(FIELD, entry.as_bytes()) {
        fields.extend(entry.get(start..at));
        start = at + 1;
    }
    fields.extend(entry.get(start..));
}

/// What stands before and behind the separator at `at`; everything and nothing where there is none.
fn cut_at(bytes: &[u8], at: Option<usize>) -> (&[u8], &[u8]) {
    match at.and_then(|at| bytes.split_at_checked(at)) {
        Some((before, [_, behind @ ..])) => (before, behind),
        _ => (bytes, &[]),
    }
}

/// The first entry of `line` and what is glued to it.
fn unglue(line: &[u8]) -> (&[u8], &[u8]) {
    if !line.starts_with(b"SubAfter\x01") {
        return (line, &[]);
    }
    let seventh = memchr_iter(FIELD, line).nth(CLOUD_SUB_AFTER - 1);
    if seventh.is_none() {
        return (line, &[]);
    }
    let (entry, glued) = cut_at(line, seventh);
    let (kind, _) = cut_at(glued, memchr(FIELD, glued));
    if glued.is_empty() || KINDS.contains(&kind) { (entry, glued) } else { (line, &[]) }
}

/// At most 200 characters of a rejected entry. Separators and other control characters become their visible
/// counterparts: no database and no terminal chokes on a sample.
pub(super) fn sample(entry: &[u8]) -> String {
    const LONGEST: usize = 200;
    let visible = |c: char| match c {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or(c),
        '\u{7f}' => '␡',
        c => c,
    };
    // A character has at most four bytes, so no more of a huge entry is looked at.
    let start = entry.get(..LONGEST * 4).unwrap_or(entry);
    String::from_utf8_lossy(start).chars().map(visible).take(LONGEST).collect()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::{entries, sample};

    fn all(body: &str) -> Vec<&str> {
        entries(body.as_bytes()).map(|entry| std::str::from_utf8(entry).unwrap()).collect()
    }

    #[test]
    fn empty_entries_are_none() {
        assert!(all("").is_empty());
        assert!(all("\x02\x02 \r\n\x02").is_empty());
        assert_eq!(all("a\x02\x02b"), ["a", "b"]);
        assert_eq!(all("\x01\x02"), ["\x01"]);
    }

    #[test]
    fn an_entry_glued_to_a_cloud_sub_after_is_its_own() {
        assert_eq!(
            all(
                "SubAfter\x01R\x01M\x013\x01true\x01k\x010\x01SubAfter\x01R\x01N\x013\x01true\x01k\x010\x01Pub\x01x\x02"
            ),
            ["SubAfter\x01R\x01M\x013\x01true\x01k\x010", "SubAfter\x01R\x01N\x013\x01true\x01k\x010", "Pub\x01x"]
        );
        assert_eq!(
            all("SubAfter\x01R\x01M\x013\x01true\x01k\x010\x01\x02"),
            ["SubAfter\x01R\x01M\x013\x01true\x01k\x010"]
        );
    }

    #[test]
    fn a_time_and_a_group_are_not_glue() {
        let whole = "SubAfter\x01R\x01M\x013\x01true\x01k\x010\x011700000000000\x01Pub";
        assert_eq!(all(whole), [whole]);
        assert_eq!(all("SubAfter"), ["SubAfter"]);
        assert_eq!(
            all("SubAfterwards\x01\x01\x01\x01\x01\x01\x01Pub"),
            ["SubAfterwards\x01\x01\x01\x01\x01\x01\x01Pub"]
        );
    }

    #[test]
    fn samples_are_short_and_visible() {
        assert_eq!(sample(b"Foo\x011\x00\x7f"), "Foo␁1␀␡");
        assert_eq!(sample("单".repeat(10_000).as_bytes()).chars().count(), 200);
        assert_eq!(sample(b"\xff\xfe\x01"), "\u{fffd}\u{fffd}␁");
    }
}
