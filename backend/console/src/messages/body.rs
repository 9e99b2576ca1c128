//! A body for reading: text where it strictly is text, else its bytes in hex; how much of it is shown; and why it is
//! not as it was sent.

use std::fmt::Write;

use millrace_broker::Body;
use millrace_core::inert::inert;
use serde::{Deserialize, Serialize};

use super::json::lay_out;

/// How to read the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Charset {
    /// UTF-8 if strictly valid, else hex.
    #[default]
    Auto,
    Gbk,
    Hex,
}

impl Charset {
    pub fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Gbk => "gbk",
            Self::Hex => "hex",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        [Self::Auto, Self::Gbk, Self::Hex].into_iter().find(|charset| charset.word() == word)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", content = "text", rename_all = "snake_case")]
pub enum BodyText {
    Empty,
    /// Laid out; every token as it was sent.
    Json(String),
    Text(String),
    /// Bytes in hex, sixteen a line, with what of them is ASCII beside.
    Hex(String),
}

impl BodyText {
    pub fn as_str(&self) -> &str {
        match self {
            Self::Empty => "",
            Self::Json(text) | Self::Text(text) | Self::Hex(text) => text,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BodyView {
    pub text: BodyText,
    /// Bytes of the whole body.
    pub size: usize,
    /// Bytes of it that `text` shows.
    pub shown: usize,
    /// The bytes are not UTF-8, which is why they are in hex.
    pub not_utf8: bool,
    /// Some bytes do not exist in the chosen character set.
    pub damaged: bool,
    /// Why a compressed body is shown as stored.
    pub inflate_error: Option<String>,
}

impl BodyView {
    pub fn truncated(&self) -> bool {
        self.shown < self.size
    }

    /// At most `limit` bytes of the body are shown; a quarter of that in hex, which takes four times the room.
    pub fn of(body: &Body, charset: Charset, limit: usize) -> Self {
        let bytes = body.bytes.as_ref();
        let mut view = Self {
            text: BodyText::Empty,
            size: bytes.len(),
            shown: bytes.len().min(limit),
            not_utf8: false,
            damaged: false,
            inflate_error: body.inflate_error.clone(),
        };
        if bytes.is_empty() {
            return view;
        }
        match (charset, std::str::from_utf8(bytes)) {
            (Charset::Auto, Ok(text)) => view.show_text(text, limit),
            (Charset::Auto, Err(_)) => {
                view.not_utf8 = true;
                view.show_hex(bytes, limit);
            }
            (Charset::Gbk, _) => {
                let (text, damaged) = encoding_rs::GBK.decode_without_bom_handling(bytes.get(..limit).unwrap_or(bytes));
                view.damaged = damaged;
                view.text = BodyText::Text(inert(&text).into_owned());
            }
            (Charset::Hex, _) => view.show_hex(bytes, limit),
        }
        view
    }

    fn show_text(&mut self, text: &str, limit: usize) {
        if text.len() <= limit {
            let laid = text.trim_start().starts_with(['{', '[']).then(|| lay_out(text)).flatten();
            self.text = match laid {
                Some(laid) => BodyText::Json(inert(&laid).into_owned()),
                None => BodyText::Text(inert(text).into_owned()),
            };
            return;
        }
        let cut = text.floor_char_boundary(limit);
        self.shown = cut;
        self.text = BodyText::Text(inert(text.get(..cut).unwrap_or_default()).into_owned());
    }

    fn show_hex(&mut self, bytes: &[u8], limit: usize) {
        let shown = bytes.get(..limit / 4).unwrap_or(bytes);
        self.shown = shown.len();
        self.text = BodyText::Hex(hex(shown));
    }
}

impl BodyText {
    /// The start of a body in one line, for a list: at most `limit` bytes of it.
    pub fn first_line(body: &Body, limit: usize) -> Self {
        let bytes = body.bytes.as_ref();
        if bytes.is_empty() {
            return Self::Empty;
        }
        if let Ok(text) = std::str::from_utf8(bytes) {
            let cut = text.get(..text.floor_char_boundary(limit)).unwrap_or(text);
            return Self::Text(inert(cut).split_whitespace().collect::<Vec<_>>().join(" "));
        }
        let start = bytes.get(..limit / 3).unwrap_or(bytes);
        Self::Hex(start.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" "))
    }
}

fn hex(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() * 5);
    for (index, row) in bytes.chunks(16).enumerate() {
        // Writing to a String cannot fail.
        let _ = write!(out, "{:08x} ", index * 16);
        for column in 0..16 {
            match row.get(column) {
                Some(byte) => {
                    let _ = write!(out, " {byte:02x}");
                }
                None => out.push_str("   "),
            }
        }
        out.push_str("  ");
        out.extend(row.iter().map(|byte| if byte.is_ascii_graphic() { char::from(*byte) } else { '.' }));
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{BodyText, BodyView, Charset};
    use bytes::Bytes;
    use millrace_broker::Body;

    fn view(bytes: &'static [u8], charset: Charset) -> BodyView {
        BodyView::of(&Body { bytes: Bytes::from_static(bytes), inflate_error: None }, charset, 65_536)
    }

    #[test]
    fn json_keeps_every_digit() {
        let shown = view(br#"{"a":9007199254740993,"b":18446744073709551615}"#, Charset::Auto);
        assert!(matches!(&shown.text, BodyText::Json(text)
            if text.contains("9007199254740993") && text.contains("18446744073709551615")));
        assert!(!shown.truncated());
    }

    #[test]
    fn what_is_not_utf8_is_hex_and_says_so() {
        let shown = view(&[0xff, 0xfe, 0x00], Charset::Auto);
        assert!(shown.not_utf8);
        assert!(matches!(&shown.text, BodyText::Hex(text) if text.contains("ff fe 00")), "{shown:?}");
    }

    #[test]
    fn gbk_is_a_choice() {
        let order: &[u8] = &[0xb6, 0xa9, 0xb5, 0xa5];
        assert!(view(order, Charset::Auto).not_utf8);
        assert_eq!(view(order, Charset::Gbk).text, BodyText::Text("订单".to_owned()));
    }

    #[test]
    fn a_large_body_is_cut_at_a_character_and_says_its_size() {
        let body = Body { bytes: Bytes::from("订".repeat(1_400_000)), inflate_error: None };
        let shown = BodyView::of(&body, Charset::Auto, 65_536);
        assert_eq!((shown.size, shown.shown, shown.truncated()), (4_200_000, 65_535, true));
    }

    #[test]
    fn empty_is_empty_and_markup_is_text() {
        assert_eq!(view(b"", Charset::Auto).text, BodyText::Empty);
        assert_eq!(
            view(b"<img onerror=x></script>\x1b[0m", Charset::Auto).text,
            BodyText::Text("<img onerror=x></script>\\u{1b}[0m".to_owned())
        );
    }
}
