//! The body of a trace message, taken apart into entries. Invariant: every byte but separators is in exactly one entry.

/// Between fields.
pub(super) const FIELD: char = '\u{1}';
/// After an entry.
pub(super) const ENTRY: u8 = 2;

const KINDS: [&str; 5] = ["Pub", "SubBefore", "SubAfter", "EndTransaction", "Recall"];
/// Fields of a SubAfter on the CLOUD channel. Some releases forget the separator behind it, so that the next entry is
/// glued on.
const CLOUD_SUB_AFTER: usize = 7;

/// Entries as bytes: what lies between entry separators, without the empty ones.
pub(super) fn entries(body: &[u8]) -> impl Iterator<Item = &[u8]> {
    body.split(|byte| *byte == ENTRY).filter(|entry| !entry.trim_ascii().is_empty())
}

/// The fields of `entry`, glued entries one by one.
pub(super) fn unglue<'f, 't>(fields: &'f [&'t str]) -> impl Iterator<Item = &'f [&'t str]> {
    let mut rest = Some(fields);
    std::iter::from_fn(move || {
        let fields = rest.take()?;
        let (entry, glued) = cut(fields);
        rest = glued;
        Some(entry)
    })
}

fn cut<'f, 't>(fields: &'f [&'t str]) -> (&'f [&'t str], Option<&'f [&'t str]>) {
    if fields.first() != Some(&"SubAfter") {
        return (fields, None);
    }
    let Some((entry, rest)) = fields.split_at_checked(CLOUD_SUB_AFTER) else {
        return (fields, None);
    };
    match rest {
        [""] => (entry, None),
        [kind, ..] if KINDS.contains(kind) => (entry, Some(rest)),
        _ => (fields, None),
    }
}

/// At most 200 characters of a rejected entry, with its separators visible.
pub(super) fn sample(entry: &[u8]) -> String {
    const LONGEST: usize = 200;
    let visible = |c| match c {
        '\u{1}' => '␁',
        '\u{2}' => '␂',
        c => c,
    };
    String::from_utf8_lossy(entry).chars().map(visible).take(LONGEST).collect()
}

/// The same for an entry that is fields already.
pub(super) fn sample_of(fields: &[&str]) -> String {
    sample(fields.join("\u{1}").as_bytes())
}
