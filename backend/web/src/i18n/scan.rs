//! Finds every text that templates and code use, and holds it against the files of both languages.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::{Locale, Sources};

/// What stands before a key in Rust.
const IN_RUST: [&str; 2] = ["Msg::new(", "cx.t("];

/// Whether the filter `t` or `t1` follows.
fn is_translated(after: &str) -> bool {
    let Some(rest) = after.strip_prefix("|t") else { return false };
    rest.starts_with("1(") || !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')
}

/// What stands in a template's tags, one a line; neither its comments nor its HTML.
fn tags(source: &str) -> String {
    let mut found = String::new();
    let mut rest = source;
    while let Some(at) = rest.find('{') {
        rest = &rest[at..];
        let end = match rest.get(..2) {
            Some("{{") => "}}",
            Some("{%") => "%}",
            Some("{#") => "#}",
            _ => {
                rest = &rest[1..];
                continue;
            }
        };
        let tag = rest.find(end).map_or(rest, |end| &rest[..end]);
        if end != "#}" {
            found.push_str(&tag[2..]);
            found.push('\n');
        }
        rest = &rest[tag.len()..];
    }
    found
}

fn files(folder: &Path, end: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, end, found);
        } else if path.to_string_lossy().ends_with(end) {
            found.push(path);
        }
    }
}

fn is_key(text: &str) -> bool {
    text.contains('-') && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

/// Every text literal of `source` with its start and the place after its closing quote.
fn literals(source: &str) -> Vec<(usize, &str, usize)> {
    let bytes = source.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b'"' {
            let start = at + 1;
            at = start;
            while at < bytes.len() && bytes[at] != b'"' {
                at += if bytes[at] == b'\\' { 2 } else { 1 };
            }
            if let Some(text) = source.get(start..at) {
                found.push((start, text, at + 1));
            }
        }
        at += 1;
    }
    found
}

fn used() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut used = BTreeMap::new();
    let mut sources = Vec::new();
    files(&root.join("src"), ".rs", &mut sources);
    for path in sources {
        let source = fs::read_to_string(&path).unwrap();
        // Tests come last in a file and may use any text.
        let source =
            source.split("#[cfg(test)]\n#[expect").next().unwrap().split("#[cfg(test)]\nmod tests").next().unwrap();
        for (key, _) in occurrences(source, |before, _| IN_RUST.iter().any(|start| before.trim_end().ends_with(start)))
        {
            used.insert(key, path.display().to_string());
        }
    }
    let mut templates = Vec::new();
    files(&root.join("../../templates"), ".html", &mut templates);
    for path in templates {
        let source = fs::read_to_string(&path).unwrap();
        let source = tags(&source).replace(" |", "|").replace("| ", "|");
        for (key, _) in occurrences(&source, |_, after| is_translated(after)) {
            used.insert(key, path.display().to_string());
        }
    }
    used
}

fn occurrences(source: &str, matches: impl Fn(&str, &str) -> bool) -> Vec<(String, usize)> {
    literals(source)
        .into_iter()
        .filter(|(start, text, end)| {
            is_key(text) && matches(source.get(..start - 1).unwrap_or(""), source.get(*end..).unwrap_or(""))
        })
        .map(|(start, text, _)| (text.to_owned(), start))
        .collect()
}

/// Key to the variables of its text.
fn texts(locale: Locale) -> BTreeMap<String, BTreeSet<String>> {
    let mut found = BTreeMap::new();
    for name in Sources::iter().filter(|name| name.starts_with(locale.tag())) {
        let file = Sources::get(&name).unwrap();
        let source = String::from_utf8(file.data.into_owned()).unwrap();
        fluent_bundle::FluentResource::try_new(source.clone())
            .unwrap_or_else(|(_, errors)| panic!("{name}: {errors:?}"));
        let page = Path::new(name.as_ref()).file_stem().unwrap().to_string_lossy().into_owned();
        let mut key = String::new();
        for line in source.lines() {
            if let Some((start, _)) = line.split_once('=')
                && is_key(start.trim_end())
                && !line.starts_with(' ')
            {
                key = start.trim_end().to_owned();
                assert!(key.starts_with(&format!("{page}-")), "{name}: {key} should begin with {page}-");
                assert!(found.insert(key.clone(), BTreeSet::new()).is_none(), "{key} is there twice");
            }
            for part in line.split('$').skip(1) {
                let variable: String =
                    part.chars().take_while(|c| c.is_ascii_alphanumeric() || "_-".contains(*c)).collect();
                found.get_mut(&key).unwrap().insert(variable);
            }
        }
    }
    found
}

#[test]
fn both_languages_have_the_same_texts() {
    let (english, chinese) = (texts(Locale::En), texts(Locale::ZhCn));
    for (key, variables) in &english {
        assert_eq!(chinese.get(key), Some(variables), "{key} differs in its variables or is missing in zh-CN");
    }
    for key in chinese.keys() {
        assert!(english.contains_key(key), "{key} is missing in en");
    }
}

#[test]
fn every_text_that_is_used_is_there() {
    let there = texts(Locale::En);
    let missing: Vec<_> = used().into_iter().filter(|(key, _)| !there.contains_key(key)).collect();
    assert!(missing.is_empty(), "used but nowhere written: {missing:#?}");
}

#[test]
fn every_text_is_used() {
    let used = used();
    let unused: Vec<_> = texts(Locale::En).into_keys().filter(|key| !used.contains_key(key)).collect();
    assert!(unused.is_empty(), "written but nowhere used: {unused:#?}");
}

/// RocketMQ's words in Chinese are those of its documentation.
#[test]
fn chinese_uses_the_documentation_s_words() {
    for name in Sources::iter().filter(|name| name.starts_with("zh-CN")) {
        let text = String::from_utf8(Sources::get(&name).unwrap().data.into_owned()).unwrap();
        for (wrong, right) in
            [("消费者组", "消费组"), ("偏移量", "位点"), ("积压", "堆积"), ("死信队列主题", "死信"), ("群集", "集群")]
        {
            assert!(!text.contains(wrong), "{name}: {right}, not {wrong}");
        }
    }
}
