//! Frames: a length, a header length whose first byte names the header's serialization, a JSON header, a body.
//!
//! Invariant: nothing that a peer sends makes a frame larger than [`MAX_FRAME`] or the codec panic.

use std::collections::{BTreeMap, HashMap};

use bytes::{Buf, BufMut, Bytes, BytesMut};
use serde::{Deserialize, Serialize};

/// No answer is taken that is longer. The largest are the tables of offsets and topics, some MiB on large clusters.
pub(crate) const MAX_FRAME: usize = 64 * 1024 * 1024;

const RESPONSE: i32 = 1;
const ONE_WAY: i32 = 2;
/// Ordinal of `MQVersion` that we announce.
const VERSION: i32 = 475;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FrameError {
    #[error("a frame of {0} bytes, more than the {MAX_FRAME} that are taken")]
    TooLong(usize),
    #[error("a frame that is shorter than its header says")]
    Short,
    #[error("a header in serialization {0}, not JSON")]
    Serialization(u8),
    #[error("a header that is not understood: {0}")]
    Header(String),
}

#[derive(Debug, Serialize)]
struct HeaderOut<'a> {
    code: i32,
    flag: i32,
    language: &'static str,
    opaque: i32,
    #[serde(rename = "serializeTypeCurrentRPC")]
    serialization: &'static str,
    version: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    remark: Option<&'a str>,
    #[serde(rename = "extFields", skip_serializing_if = "BTreeMap::is_empty")]
    fields: &'a BTreeMap<&'static str, String>,
}

#[derive(Debug, Deserialize)]
struct HeaderIn {
    code: i32,
    #[serde(default)]
    flag: i32,
    opaque: i32,
    #[serde(default)]
    remark: Option<String>,
    #[serde(default, rename = "extFields")]
    fields: Option<HashMap<String, serde_json::Value>>,
}

/// A frame that came in.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Incoming {
    pub(crate) opaque: i32,
    pub(crate) code: i32,
    pub(crate) kind: Kind,
    pub(crate) remark: Option<String>,
    pub(crate) fields: HashMap<String, String>,
    /// A slice of the frame.
    pub(crate) body: Bytes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Response,
    /// The broker asks us and waits for an answer.
    Request,
    /// The broker tells us something.
    Notice,
}

pub(crate) fn encode_request(code: i32, opaque: i32, fields: &BTreeMap<&'static str, String>, body: &[u8]) -> Bytes {
    encode(code, 0, opaque, None, fields, body)
}

pub(crate) fn encode_response(code: i32, opaque: i32, remark: &str) -> Bytes {
    encode(code, RESPONSE, opaque, Some(remark), &BTreeMap::new(), &[])
}

fn encode(
    code: i32,
    flag: i32,
    opaque: i32,
    remark: Option<&str>,
    fields: &BTreeMap<&'static str, String>,
    body: &[u8],
) -> Bytes {
    let header =
        HeaderOut { code, flag, language: "RUST", opaque, serialization: "JSON", version: VERSION, remark, fields };
    // Strings and numbers alone: serialization has nothing to fail on.
    let header = serde_json::to_vec(&header).unwrap_or_default();
    let length = 4 + header.len() + body.len();
    let mut frame = BytesMut::with_capacity(4 + length);
    frame.put_u32(u32::try_from(length).unwrap_or(u32::MAX));
    frame.put_u32(u32::try_from(header.len()).unwrap_or(u32::MAX) & 0x00ff_ffff);
    frame.put_slice(&header);
    frame.put_slice(body);
    frame.freeze()
}

/// Takes the next whole frame from what has been read, if there is one. An error means that the stream is lost.
pub(crate) fn decode(buffer: &mut BytesMut) -> Result<Option<Incoming>, FrameError> {
    let Some(length) = buffer.first_chunk::<4>().map(|prefix| u32::from_be_bytes(*prefix)) else { return Ok(None) };
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    if length > MAX_FRAME {
        return Err(FrameError::TooLong(length));
    }
    if buffer.len() < 4 + length {
        buffer.reserve((4 + length - buffer.len()).min(1024 * 1024));
        return Ok(None);
    }
    buffer.advance(4);
    decode_frame(buffer.split_to(length).freeze()).map(Some)
}

fn decode_frame(mut frame: Bytes) -> Result<Incoming, FrameError> {
    if frame.remaining() < 4 {
        return Err(FrameError::Short);
    }
    let marked = frame.get_u32();
    let [serialization, ..] = marked.to_be_bytes();
    if serialization != 0 {
        return Err(FrameError::Serialization(serialization));
    }
    let header_length = usize::try_from(marked & 0x00ff_ffff).unwrap_or(usize::MAX);
    if frame.remaining() < header_length {
        return Err(FrameError::Short);
    }
    let header = frame.split_to(header_length);
    let header: HeaderIn = serde_json::from_slice(&header).map_err(|error| FrameError::Header(error.to_string()))?;
    let kind = match header.flag {
        flag if flag & RESPONSE != 0 => Kind::Response,
        flag if flag & ONE_WAY != 0 => Kind::Notice,
        _ => Kind::Request,
    };
    let fields = header.fields.unwrap_or_default().into_iter().filter_map(|(name, value)| Some((name, text(value)?)));
    Ok(Incoming {
        opaque: header.opaque,
        code: header.code,
        kind,
        remark: header.remark,
        fields: fields.collect(),
        body: frame,
    })
}

/// Brokers write header fields as strings; one that writes a number or a boolean is understood too.
fn text(value: serde_json::Value) -> Option<String> {
    match value {
        serde_json::Value::Null => None,
        serde_json::Value::String(text) => Some(text),
        other => Some(other.to_string()),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::collections::BTreeMap;

    use bytes::{BufMut, BytesMut};

    use super::{FrameError, Kind, MAX_FRAME, decode, encode_request, encode_response};

    fn frame(header_mark: u32, rest: &[u8]) -> BytesMut {
        let mut bytes = BytesMut::new();
        bytes.put_u32(u32::try_from(4 + rest.len()).unwrap());
        bytes.put_u32(header_mark);
        bytes.put_slice(rest);
        bytes
    }

    #[test]
    fn a_request_comes_back_as_it_was() {
        let fields = BTreeMap::from([("topic", "订单".to_owned()), ("queueId", "3".to_owned())]);
        let mut bytes = BytesMut::from(&encode_request(11, 7, &fields, b"body")[..]);
        let back = decode(&mut bytes).unwrap().unwrap();
        assert_eq!((back.code, back.opaque, back.kind), (11, 7, Kind::Request));
        assert_eq!(back.fields.get("topic").map(String::as_str), Some("订单"));
        assert_eq!(&back.body[..], b"body");
        assert!(bytes.is_empty());
    }

    #[test]
    fn frames_arrive_in_pieces_and_several_at_once() {
        let whole = [encode_response(0, 1, "ok"), encode_response(17, 2, "no such topic")].concat();
        let mut buffer = BytesMut::new();
        let mut seen = Vec::new();
        for byte in whole {
            buffer.put_u8(byte);
            while let Some(frame) = decode(&mut buffer).unwrap() {
                seen.push((frame.opaque, frame.code, frame.remark.unwrap()));
            }
        }
        assert_eq!(seen, [(1, 0, "ok".to_owned()), (2, 17, "no such topic".to_owned())]);
    }

    #[test]
    fn numbers_as_header_fields_are_texts_and_nulls_are_absent() {
        let mut bytes = BytesMut::new();
        let header = br#"{"code":0,"flag":1,"opaque":9,"extFields":{"offset":12,"on":true,"none":null}}"#;
        bytes.extend(frame(u32::try_from(header.len()).unwrap(), header));
        let back = decode(&mut bytes).unwrap().unwrap();
        assert_eq!(back.fields.get("offset").map(String::as_str), Some("12"));
        assert_eq!(back.fields.get("on").map(String::as_str), Some("true"));
        assert!(!back.fields.contains_key("none"));
    }

    #[test]
    fn hostile_frames_are_errors() {
        let mut huge = BytesMut::from(&u32::MAX.to_be_bytes()[..]);
        assert!(matches!(decode(&mut huge), Err(FrameError::TooLong(length)) if length > MAX_FRAME));
        let mut empty = BytesMut::from(&[0, 0, 0, 0][..]);
        assert_eq!(decode(&mut empty), Err(FrameError::Short));
        let mut tiny = BytesMut::from(&[0, 0, 0, 2, 1, 2][..]);
        assert_eq!(decode(&mut tiny), Err(FrameError::Short));
        assert_eq!(decode(&mut frame(100, b"{}")), Err(FrameError::Short));
        assert_eq!(decode(&mut frame(0x0100_0002, b"{}")), Err(FrameError::Serialization(1)));
        assert!(matches!(decode(&mut frame(2, b"{}")), Err(FrameError::Header(_))));
        assert!(matches!(decode(&mut frame(3, b"\xff\xfe\x00")), Err(FrameError::Header(_))));
        assert_eq!(decode(&mut BytesMut::from(&[0, 0][..])), Ok(None));
    }

    #[test]
    fn any_bytes_are_survived() {
        // A cheap generator: the point is many different short inputs, the same in every run.
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        for _ in 0..20_000 {
            let mut bytes = BytesMut::new();
            for _ in 0..(state % 40) {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let [_, _, _, byte, ..] = state.to_be_bytes();
                bytes.put_u8(if state.is_multiple_of(4) { 0 } else { byte });
            }
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let _ = decode(&mut bytes);
        }
    }
}
