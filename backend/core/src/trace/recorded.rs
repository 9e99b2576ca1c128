//! Trace messages from files, for decoding without a broker. Invariant: every line is a message, an error or blank.
//!
//! Three shapes are known: lines of JSON, one trace message each; lines that are bodies, with separators written as
//! `\u0001` and `\u0002`; and one body as it lies in the queue.

use std::collections::HashMap;

use serde::Deserialize;

use super::record::TraceMessage;
use super::split::{ENTRY, FIELD};
use crate::name::{QueueRef, TRACE_TOPIC};
use crate::time::Millis;

/// The broker's name where the file tells none.
pub const FILE_BROKER: &str = "file";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Each line is for [`line`].
    Lines,
    /// The whole file is for [`body`].
    Body,
}

impl Shape {
    /// Told by the first line that is not blank. JSON has no raw control characters, a body has.
    pub fn of(first_line: &[u8]) -> Self {
        let json = first_line.trim_ascii().first() == Some(&b'{');
        let separators = first_line.iter().any(|byte| [FIELD, ENTRY].contains(byte));
        if separators && !json { Self::Body } else { Self::Lines }
    }
}

/// A line that begins like JSON and is no trace message.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: not a trace message in JSON: {source}")]
pub struct LineError {
    /// From 1.
    pub line: u64,
    source: serde_json::Error,
}

/// A line of a file of [`Shape::Lines`], `number` from 1. `None` for blank lines and for comments (`#`).
pub fn line(text: &[u8], number: u64) -> Result<Option<TraceMessage>, LineError> {
    let text = text.trim_ascii();
    match text.first() {
        None | Some(b'#') => Ok(None),
        Some(b'{') => {
            let json: Json = serde_json::from_slice(text).map_err(|source| LineError { line: number, source })?;
            Ok(Some(json.into_message(number)))
        }
        Some(_) => Ok(Some(body(unescape(text), number))),
    }
}

/// A body that came without its message. `number` stands in for the offset, so that several can be told apart; times
/// and host are not known.
pub fn body(bytes: Vec<u8>, number: u64) -> TraceMessage {
    TraceMessage {
        queue: QueueRef { topic: TRACE_TOPIC.to_owned(), broker: FILE_BROKER.to_owned(), queue: 0 },
        offset: offset_of(number),
        stored: Millis(0),
        born: Millis(0),
        born_host: String::new(),
        producer_group: None,
        body: bytes,
    }
}

fn offset_of(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn unescape(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, tail)) = rest.split_first() {
        let escaped = [(&br"\u0001"[..], FIELD), (&br"\u0002"[..], ENTRY)]
            .into_iter()
            .find_map(|(escape, byte)| Some((byte, rest.strip_prefix(escape)?)));
        let (byte, tail) = escaped.unwrap_or((*first, tail));
        bytes.push(byte);
        rest = tail;
    }
    bytes
}

/// A message as RocketMQ's own `MessageExt` names its parts. Only the body must be there.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Json {
    topic: Option<String>,
    #[serde(alias = "brokerName")]
    broker: Option<String>,
    #[serde(default)]
    queue_id: i32,
    queue_offset: Option<i64>,
    store_timestamp: Option<i64>,
    born_timestamp: Option<i64>,
    #[serde(default)]
    born_host: String,
    #[serde(default)]
    properties: HashMap<String, String>,
    body: String,
}

impl Json {
    fn into_message(mut self, number: u64) -> TraceMessage {
        let stored = self.store_timestamp.or(self.born_timestamp).unwrap_or_default();
        TraceMessage {
            queue: QueueRef {
                topic: self.topic.unwrap_or_else(|| TRACE_TOPIC.to_owned()),
                broker: self.broker.unwrap_or_else(|| FILE_BROKER.to_owned()),
                queue: self.queue_id,
            },
            offset: self.queue_offset.unwrap_or_else(|| offset_of(number)),
            stored: Millis(stored),
            born: Millis(self.born_timestamp.unwrap_or(stored)),
            born_host: address(&self.born_host).to_owned(),
            producer_group: self.properties.remove("PGROUP"),
            body: self.body.into_bytes(),
        }
    }
}

/// `host` without Java's leading slash and without its port.
fn address(host: &str) -> &str {
    let host = host.rsplit('/').next().unwrap_or(host);
    if let Some((inside, _)) = host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return inside;
    }
    match host.split_once(':') {
        Some((name, port)) if !port.contains(':') => name,
        _ => host,
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::{Shape, address, line};
    use crate::time::Millis;

    #[test]
    fn a_json_line_is_a_message() {
        let text = r#"{"queueId":3,"queueOffset":9,"storeTimestamp":20,"bornTimestamp":10,"bornHost":"/192.0.2.7:5001",
            "properties":{"PGROUP":"_INNER_TRACE_PRODUCER-billing-CONSUME-1","KEYS":"k"},"body":"Recall\u00011","sysFlag":0}"#;
        let message = line(text.replace('\n', "").as_bytes(), 1).unwrap().unwrap();
        assert_eq!(message.queue.to_string(), "RMQ_SYS_TRACE_TOPIC@file queue 3");
        assert_eq!((message.offset, message.stored, message.born), (9, Millis(20), Millis(10)));
        assert_eq!(message.born_host, "192.0.2.7");
        assert_eq!(message.producer_group.as_deref(), Some("_INNER_TRACE_PRODUCER-billing-CONSUME-1"));
        assert_eq!(message.body, b"Recall\x011");
    }

    #[test]
    fn only_the_body_must_be_there() {
        let message =
            line(br#"{"body":"x","topic":"rmq_sys_TRACE_DATA_r","brokerName":"broker-b"}"#, 4).unwrap().unwrap();
        assert_eq!(message.queue.to_string(), "rmq_sys_TRACE_DATA_r@broker-b queue 0");
        assert_eq!(message.offset, 4);
        let error = line(br#"{"queueId":1}"#, 5).unwrap_err().to_string();
        assert!(error.starts_with("line 5: ") && error.contains("body"), "{error}");
        assert!(line(br#"{"body":"x""#, 6).is_err());
    }

    #[test]
    fn a_line_may_be_a_body_with_its_separators_escaped() {
        let message = line(br"Foo\u00011\u0002\u0003\ ", 7).unwrap().unwrap();
        assert_eq!(message.body, b"Foo\x011\x02\\u0003\\");
        assert_eq!(message.offset, 7);
        assert!(line(b"# 4.4.0", 1).unwrap().is_none());
        assert!(line(b"  \r", 1).unwrap().is_none());
    }

    #[test]
    fn the_first_line_tells_the_shape() {
        assert_eq!(Shape::of(br#"  {"body":""}"#), Shape::Lines);
        assert_eq!(Shape::of(br"Pub\u0001"), Shape::Lines);
        assert_eq!(Shape::of(b"Pub\x011\x02"), Shape::Body);
        assert_eq!(Shape::of(b""), Shape::Lines);
    }

    #[test]
    fn a_host_loses_its_port() {
        for (host, want) in [
            ("192.0.2.1", "192.0.2.1"),
            ("192.0.2.1:80", "192.0.2.1"),
            ("/192.0.2.1:80", "192.0.2.1"),
            ("shop.example/192.0.2.1:80", "192.0.2.1"),
            ("[2001:db8::1]:80", "2001:db8::1"),
            ("2001:db8::1", "2001:db8::1"),
            ("", ""),
        ] {
            assert_eq!(address(host), want, "{host}");
        }
    }
}
