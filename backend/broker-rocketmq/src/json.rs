//! JSON as brokers write it: fastjson puts numbers and whole objects where JSON allows only string keys, as in
//! `{0:"192.0.2.1:10911"}` and `{{"queueId":3,"topic":"orders"}:{"maxOffset":9}}`.
//!
//! Invariant: numbers keep every digit, and no input makes the reader panic or recurse without bound.

use std::borrow::Cow;

/// Nesting that is followed; brokers' tables need five.
const MAX_DEPTH: usize = 64;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    /// As written.
    Number(String),
    Text(String),
    List(Vec<Json>),
    /// In the order of the text; keys are values of any kind.
    Map(Vec<(Json, Json)>),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not JSON at byte {at}: {why}")]
pub(crate) struct JsonError {
    at: usize,
    why: &'static str,
}

impl Json {
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, JsonError> {
        let text: Cow<'_, str> = String::from_utf8_lossy(bytes);
        let mut reader = Reader { bytes: text.as_bytes(), at: 0 };
        let value = reader.value(0)?;
        reader.blanks();
        if reader.at == reader.bytes.len() { Ok(value) } else { Err(reader.error("more after the value")) }
    }

    /// The value under a string key.
    pub(crate) fn get(&self, name: &str) -> Option<&Json> {
        self.entries().iter().find(|(key, _)| key.text() == Some(name)).map(|(_, value)| value)
    }

    /// Entries of a map; none of anything else.
    pub(crate) fn entries(&self) -> &[(Json, Json)] {
        match self {
            Self::Map(entries) => entries,
            _ => &[],
        }
    }

    /// Items of a list; none of anything else.
    pub(crate) fn items(&self) -> &[Json] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A number, also one written as a string.
    pub(crate) fn integer(&self) -> Option<i64> {
        match self {
            Self::Number(digits) | Self::Text(digits) => digits.parse().ok(),
            _ => None,
        }
    }

    pub(crate) fn flag(&self) -> Option<bool> {
        match self {
            Self::Bool(flag) => Some(*flag),
            Self::Text(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// `get(name)` as text, owned.
    pub(crate) fn text_of(&self, name: &str) -> Option<String> {
        self.get(name).and_then(Self::text).map(str::to_owned)
    }

    /// `get(name)` as a number of the wanted width.
    pub(crate) fn number_of<N: TryFrom<i64>>(&self, name: &str) -> Option<N> {
        self.get(name).and_then(Self::integer).and_then(|number| N::try_from(number).ok())
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn error(&self, why: &'static str) -> JsonError {
        JsonError { at: self.at, why }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn blanks(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn value(&mut self, depth: usize) -> Result<Json, JsonError> {
        if depth > MAX_DEPTH {
            return Err(self.error("nested too deeply"));
        }
        self.blanks();
        match self.peek() {
            Some(b'{') => self.map(depth),
            Some(b'[') => self.list(depth),
            Some(quote @ (b'"' | b'\'')) => self.string(quote).map(Json::Text),
            Some(b'-' | b'+' | b'0'..=b'9') => Ok(self.number()),
            Some(_) => self.word(),
            None => Err(self.error("it ends early")),
        }
    }

    fn map(&mut self, depth: usize) -> Result<Json, JsonError> {
        self.at += 1;
        let mut entries = Vec::new();
        loop {
            self.blanks();
            if self.take(b'}') {
                return Ok(Json::Map(entries));
            }
            if !entries.is_empty() && !self.take(b',') {
                return Err(self.error("a comma is missing"));
            }
            let key = self.value(depth + 1)?;
            self.blanks();
            if !self.take(b':') {
                return Err(self.error("a colon is missing"));
            }
            let value = self.value(depth + 1)?;
            entries.push((key, value));
        }
    }

    fn list(&mut self, depth: usize) -> Result<Json, JsonError> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.blanks();
            if self.take(b']') {
                return Ok(Json::List(items));
            }
            if !items.is_empty() && !self.take(b',') {
                return Err(self.error("a comma is missing"));
            }
            items.push(self.value(depth + 1)?);
        }
    }

    fn number(&mut self) -> Json {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte)) {
            self.at += 1;
        }
        Json::Number(self.slice(start, self.at))
    }

    fn word(&mut self) -> Result<Json, JsonError> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || b"_$".contains(&byte)) {
            self.at += 1;
        }
        match self.bytes.get(start..self.at) {
            Some(b"true") => Ok(Json::Bool(true)),
            Some(b"false") => Ok(Json::Bool(false)),
            Some(b"null") => Ok(Json::Null),
            _ => Err(JsonError { at: start, why: "an unknown word" }),
        }
    }

    fn string(&mut self, quote: u8) -> Result<String, JsonError> {
        self.at += 1;
        let mut text = String::new();
        loop {
            let start = self.at;
            while self.peek().is_some_and(|byte| byte != quote && byte != b'\\') {
                self.at += 1;
            }
            text.push_str(&self.slice(start, self.at));
            match self.peek() {
                Some(b'\\') => {
                    self.at += 1;
                    text.push(self.escape()?);
                }
                Some(_) => {
                    self.at += 1;
                    return Ok(text);
                }
                None => return Err(self.error("a string does not end")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, JsonError> {
        let Some(byte) = self.peek() else { return Err(self.error("a string does not end")) };
        self.at += 1;
        Ok(match byte {
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'u' => self.unicode()?,
            b'"' | b'\'' | b'\\' | b'/' => char::from(byte),
            _ => return Err(self.error("an unknown escape")),
        })
    }

    /// A `\u` escape, with its second half where it is the first of a pair; half a pair is the replacement character.
    fn unicode(&mut self) -> Result<char, JsonError> {
        let first = self.hex4()?;
        if !(0xd800..0xdc00).contains(&first) {
            return Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        if !self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(b"\\u")) {
            return Ok(char::REPLACEMENT_CHARACTER);
        }
        self.at += 2;
        let second = self.hex4()?;
        let low = second.checked_sub(0xdc00).filter(|low| *low < 0x400);
        let joined = low.and_then(|low| char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + low));
        Ok(joined.unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn hex4(&mut self) -> Result<u32, JsonError> {
        let digits = self.bytes.get(self.at..self.at + 4).and_then(|digits| std::str::from_utf8(digits).ok());
        let number = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let number = number.ok_or_else(|| self.error("four hex digits are missing"))?;
        self.at += 4;
        Ok(number)
    }

    /// Cut only at ASCII, so always whole characters.
    fn slice(&self, start: usize, end: usize) -> String {
        String::from_utf8_lossy(self.bytes.get(start..end).unwrap_or_default()).into_owned()
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::Json;

    #[test]
    fn numbers_and_objects_are_keys() {
        let json = Json::parse(br#"{"brokerAddrs":{0:"192.0.2.1:10911",1:"192.0.2.1:10931"},"n":1}"#).unwrap();
        let addresses = json.get("brokerAddrs").unwrap().entries();
        assert_eq!(addresses.iter().map(|(id, _)| id.integer().unwrap()).collect::<Vec<_>>(), [0, 1]);
        let table = br#"{"offsetTable":{{"brokerName":"broker-a","queueId":3,"topic":"orders"}:{"maxOffset":9}, {"queueId":4}:{}}}"#;
        let json = Json::parse(table).unwrap();
        let (key, value) = json.get("offsetTable").unwrap().entries().first().unwrap();
        assert_eq!((key.number_of::<i32>("queueId"), key.text_of("topic").as_deref()), (Some(3), Some("orders")));
        assert_eq!(value.number_of::<i64>("maxOffset"), Some(9));
    }

    #[test]
    fn plain_json_is_read_as_it_is() {
        let json = Json::parse(
            " {\"a\" : [1, -2.5e3, \"9007199254740993\", true, null, \"\\u8ba2\\ud83d\\ude00\\n\"]} ".as_bytes(),
        );
        let json = json.unwrap();
        let items = json.get("a").unwrap().items();
        assert_eq!(items.first(), Some(&Json::Number("1".to_owned())));
        assert_eq!(items.get(1), Some(&Json::Number("-2.5e3".to_owned())));
        assert_eq!(items.get(2).unwrap().integer(), Some(9_007_199_254_740_993));
        assert_eq!(items.get(3).unwrap().flag(), Some(true));
        assert_eq!(items.get(5).unwrap().text(), Some("订😀\n"));
        assert_eq!(Json::parse(b"{}").unwrap(), Json::Map(vec![]));
    }

    #[test]
    fn what_is_not_json_is_an_error() {
        for text in ["", "{", "{\"a\"}", "{\"a\":}", "[1 2]", "\"abc", "{} {}", "nil", "\"\\u12\"", "\"\\x\"", "{1:2,}"]
        {
            assert!(Json::parse(text.as_bytes()).is_err(), "{text}");
        }
        assert!(Json::parse(&b"[".repeat(100_000)).is_err());
        assert!(Json::parse(b"\xff\xfe").is_err());
    }
}
