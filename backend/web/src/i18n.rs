//! Texts in English and Simplified Chinese. One invariant: every text that a person reads is a message of both
//! languages; code holds keys, never sentences.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource, FluentValue};
use rust_embed::RustEmbed;
use serde::{Deserialize, Serialize};
use unic_langid::LanguageIdentifier;

use crate::format;

#[derive(RustEmbed)]
#[folder = "../../templates/i18n"]
struct Sources;

/// The languages of the pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Locale {
    #[default]
    En,
    ZhCn,
}

impl Locale {
    pub const ALL: [Self; 2] = [Self::En, Self::ZhCn];

    /// The BCP 47 tag, also the folder's name.
    pub fn tag(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::ZhCn => "zh-CN",
        }
    }

    /// The language's own name for itself.
    pub fn own_name(self) -> &'static str {
        match self {
            Self::En => "English",
            Self::ZhCn => "中文",
        }
    }

    /// `zh`, `zh-CN` and `zh-Hans…` are Simplified Chinese; traditional scripts are not taken for it.
    pub fn of_tag(tag: &str) -> Option<Self> {
        let tag = tag.trim().to_ascii_lowercase();
        match tag.as_str() {
            "zh" | "zh-cn" | "zh-sg" => Some(Self::ZhCn),
            _ if tag == "zh-hans" || tag.starts_with("zh-hans-") => Some(Self::ZhCn),
            _ if tag == "en" || tag.starts_with("en-") => Some(Self::En),
            _ => None,
        }
    }

    /// The best of an `Accept-Language` header: the highest quality, the first among equals.
    pub fn of_accept_language(header: &str) -> Option<Self> {
        let mut best: Option<(f32, Self)> = None;
        for entry in header.split(',') {
            let mut parts = entry.split(';');
            let tag = parts.next().unwrap_or_default();
            let quality = parts
                .find_map(|part| part.trim().strip_prefix("q="))
                .map_or(1.0, |quality| quality.parse::<f32>().unwrap_or(0.0));
            let Some(locale) = Self::of_tag(tag) else { continue };
            if quality > 0.0 && best.is_none_or(|(other, _)| quality > other) {
                best = Some((quality, locale));
            }
        }
        best.map(|(_, locale)| locale)
    }
}

/// A text by its key, with its values. Made where something is found out, put into words where it is shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Msg {
    key: Cow<'static, str>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    args: BTreeMap<Cow<'static, str>, Arg>,
}

/// A value in a text. Counts choose the plural form and are grouped; everything else is shown as it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Arg {
    Count(i64),
    Text(String),
    Msg(Box<Msg>),
}

impl Msg {
    pub const fn new(key: &'static str) -> Self {
        Self { key: Cow::Borrowed(key), args: BTreeMap::new() }
    }

    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<Arg>) -> Self {
        self.args.insert(Cow::Borrowed(name), value.into());
        self
    }

    pub fn key(&self) -> &str {
        &self.key
    }

    /// The text in `locale`.
    pub fn text(&self, locale: Locale) -> String {
        if self.args.is_empty() {
            return translate(locale, &self.key, None);
        }
        let mut args = FluentArgs::with_capacity(self.args.len());
        for (name, value) in &self.args {
            args.set(name.clone(), value.fluent(locale));
        }
        translate(locale, &self.key, Some(&args))
    }
}

impl Arg {
    fn fluent(&self, locale: Locale) -> FluentValue<'static> {
        match self {
            // Beyond 2^53 a plural form matters no more, but every digit does.
            Self::Count(count) if count.unsigned_abs() < 1 << 53 => FluentValue::from(*count),
            Self::Count(count) => FluentValue::from(format::grouped(*count)),
            Self::Text(text) => FluentValue::from(text.clone()),
            Self::Msg(msg) => FluentValue::from(msg.text(locale)),
        }
    }
}

macro_rules! counts {
    ($($type:ty),*) => { $(
        impl From<$type> for Arg {
            fn from(value: $type) -> Self {
                i64::try_from(value).map_or_else(|_| Self::Text(value.to_string()), Self::Count)
            }
        }
        impl From<&$type> for Arg {
            fn from(value: &$type) -> Self {
                Self::from(*value)
            }
        }
    )* };
}
counts!(i64, u64, usize);

impl From<i32> for Arg {
    fn from(value: i32) -> Self {
        Self::Count(value.into())
    }
}

impl From<u32> for Arg {
    fn from(value: u32) -> Self {
        Self::Count(value.into())
    }
}

impl From<&i32> for Arg {
    fn from(value: &i32) -> Self {
        Self::from(*value)
    }
}

impl From<&&String> for Arg {
    fn from(value: &&String) -> Self {
        Self::Text((*value).clone())
    }
}

impl From<String> for Arg {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl From<&String> for Arg {
    fn from(value: &String) -> Self {
        Self::Text(value.clone())
    }
}

impl From<&str> for Arg {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<&&str> for Arg {
    fn from(value: &&str) -> Self {
        Self::Text((*value).to_owned())
    }
}

impl From<Msg> for Arg {
    fn from(value: Msg) -> Self {
        Self::Msg(Box::new(value))
    }
}

struct Bundles {
    en: FluentBundle<FluentResource>,
    zh_cn: FluentBundle<FluentResource>,
}

static BUNDLES: LazyLock<Bundles> = LazyLock::new(|| Bundles { en: bundle(Locale::En), zh_cn: bundle(Locale::ZhCn) });

/// All files of one language. A broken entry is left out and logged; a test refuses it.
fn bundle(locale: Locale) -> FluentBundle<FluentResource> {
    let language = locale.tag().parse::<LanguageIdentifier>().unwrap_or_default();
    let mut bundle = FluentBundle::new_concurrent(vec![language]);
    // Isolation marks would end up in copied keys and in attributes.
    bundle.set_use_isolating(false);
    bundle.set_formatter(Some(|value, _| match value {
        FluentValue::Number(number) if number.value.fract() == 0.0 =>
        {
            #[expect(clippy::cast_possible_truncation, reason = "counts are below 2^53")]
            Some(format::grouped(number.value as i64))
        }
        _ => None,
    }));
    for name in Sources::iter().filter(|name| name.starts_with(locale.tag())) {
        let Some(file) = Sources::get(&name) else { continue };
        let source = String::from_utf8_lossy(&file.data).into_owned();
        let resource = FluentResource::try_new(source).unwrap_or_else(|(resource, errors)| {
            tracing::error!(file = %name, ?errors, "a text file has errors");
            resource
        });
        if let Err(errors) = bundle.add_resource(resource) {
            tracing::error!(file = %name, ?errors, "a text is there twice");
        }
    }
    bundle
}

/// A key without a text shows itself: ugly, and found by a test, but never a blank page.
fn translate(locale: Locale, key: &str, args: Option<&FluentArgs<'_>>) -> String {
    let bundle = match locale {
        Locale::En => &BUNDLES.en,
        Locale::ZhCn => &BUNDLES.zh_cn,
    };
    let Some(pattern) = bundle.get_message(key).and_then(|message| message.value()) else {
        tracing::error!(key, locale = locale.tag(), "a text is missing");
        return key.to_owned();
    };
    let mut errors = Vec::new();
    let text = bundle.format_pattern(pattern, args, &mut errors).into_owned();
    if !errors.is_empty() {
        tracing::error!(key, locale = locale.tag(), ?errors, "a text lacks a value");
    }
    text
}

pub(crate) fn has(key: &str) -> bool {
    BUNDLES.en.has_message(key)
}

#[cfg(test)]
mod scan;

#[cfg(test)]
mod tests {
    use super::{Locale, Msg};

    #[test]
    fn browsers_get_their_language() {
        for (header, locale) in [
            ("zh-CN,zh;q=0.9,en;q=0.8", Some(Locale::ZhCn)),
            ("zh-Hans-CN", Some(Locale::ZhCn)),
            ("zh", Some(Locale::ZhCn)),
            ("zh-TW,en;q=0.5", Some(Locale::En)),
            ("en-GB,zh;q=0.9", Some(Locale::En)),
            ("en;q=0.4, zh-CN;q=0.9", Some(Locale::ZhCn)),
            ("fr-FR,fr", None),
            ("zh;q=0,en;q=0.1", Some(Locale::En)),
            ("", None),
        ] {
            assert_eq!(Locale::of_accept_language(header), locale, "{header}");
        }
    }

    #[test]
    fn counts_are_grouped_and_choose_the_plural() {
        let text =
            |n: i64| Msg::new("ui-brokers-covered").with("answered", n).with("asked", 12_000_i64).text(Locale::En);
        assert!(text(1_204).contains("1,204"), "{}", text(1_204));
        assert!(text(9_007_199_254_740_993).contains("9,007,199,254,740,993"));
    }
}
