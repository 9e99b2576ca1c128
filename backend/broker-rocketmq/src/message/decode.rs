//! The layout of a stored message (`MessageDecoder` of Apache RocketMQ), versions 1 and 2, IPv4 and IPv6 hosts.
//!
//! Invariant: bodies are slices of the frame; nothing is copied but the text.

use std::net::{IpAddr, SocketAddr};

use bytes::Bytes;
use millrace_broker::{Body, Message, Properties};
use millrace_core::name::QueueRef;
use millrace_core::time::Millis;

use super::inflate::inflate;

/// `MESSAGE_MAGIC_CODE`: topic length in one byte.
const MAGIC_V1: u32 = 0xdaa3_20a7;
/// `MESSAGE_MAGIC_CODE_V2`: topic length in two.
const MAGIC_V2: u32 = 0xdaa3_20ab;
/// Size and magic.
const PREFIX: usize = 8;

const BORN_HOST_V6: i32 = 1 << 4;
const STORE_HOST_V6: i32 = 1 << 5;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DecodeError {
    #[error("a message of {size} bytes where {left} are left")]
    Size { size: i64, left: usize },
    #[error("a message with the magic number {0:#010x}")]
    Magic(u32),
    #[error("a message that is shorter than its fields say")]
    Short,
}

/// All messages of `bytes`, as `broker` stored them. `of` is the queue that was asked, where one was.
pub(crate) fn decode_messages(bytes: &Bytes, broker: &str, of: Option<&QueueRef>) -> Result<Vec<Message>, DecodeError> {
    let mut messages = Vec::with_capacity(32);
    let mut at = 0;
    while at < bytes.len() {
        let left = bytes.len() - at;
        let mut prefix = Reader { bytes, at };
        let size = prefix.i32()?;
        let whole = usize::try_from(size).ok().filter(|size| (PREFIX..=left).contains(size));
        let Some(whole) = whole else { return Err(DecodeError::Size { size: i64::from(size), left }) };
        messages.push(decode_message(&bytes.slice(at..at + whole), broker, of)?);
        at += whole;
    }
    Ok(messages)
}

fn decode_message(bytes: &Bytes, broker: &str, of: Option<&QueueRef>) -> Result<Message, DecodeError> {
    let mut reader = Reader { bytes, at: 0 };
    let store_size = reader.i32()?;
    let magic = u32::from_be_bytes(reader.array()?);
    let wide_topic = match magic {
        MAGIC_V1 => false,
        MAGIC_V2 => true,
        other => return Err(DecodeError::Magic(other)),
    };
    reader.i32()?; // CRC of the body
    let queue = reader.i32()?;
    let flag = reader.i32()?;
    let offset = reader.i64()?;
    let commit_log_offset = reader.i64()?;
    let sys_flag = reader.i32()?;
    let born = Millis(reader.i64()?);
    let born_host = reader.host(sys_flag & BORN_HOST_V6 != 0)?;
    let stored = Millis(reader.i64()?);
    let store_host = reader.host(sys_flag & STORE_HOST_V6 != 0)?;
    let reconsume_times = reader.i32()?;
    reader.i64()?; // offset of the prepared transaction
    let body_length = usize::try_from(reader.i32()?).map_err(|_| DecodeError::Short)?;
    let body = reader.slice(body_length)?;
    let topic_length = if wide_topic { reader.u16()? } else { u16::from(reader.u8()?) };
    let topic = reader.text(usize::from(topic_length))?;
    let properties_length = reader.u16()?;
    let properties = decode_properties(reader.take(usize::from(properties_length))?);
    let uniq_id = properties.iter().find(|(name, _)| name == "UNIQ_KEY").map(|(_, id)| id.clone());
    let body = match inflate(&body, sys_flag) {
        Ok(inflated) => Body { bytes: inflated.unwrap_or(body), inflate_error: None },
        Err(error) => Body { bytes: body, inflate_error: Some(error.to_string()) },
    };
    let queue = match of {
        Some(of) if of.topic == topic => of.clone(),
        _ => QueueRef { topic, broker: broker.to_owned(), queue },
    };
    Ok(Message {
        queue,
        offset,
        commit_log_offset,
        offset_id: offset_id(store_host, commit_log_offset),
        uniq_id,
        born,
        born_host: born_host.to_string(),
        stored,
        store_host: store_host.to_string(),
        sys_flag,
        flag,
        reconsume_times,
        properties,
        body,
        store_size,
    })
}

/// Pairs of name 0x01 value, each ended by 0x02; a pair without 0x01 says nothing.
fn decode_properties(bytes: &[u8]) -> Properties {
    let text = String::from_utf8_lossy(bytes);
    let pairs = text.split('\u{2}').filter_map(|pair| pair.split_once('\u{1}'));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Address, port and commit-log offset as upper-case hex digits (`MessageDecoder.createMessageId`).
fn offset_id(host: SocketAddr, commit_log_offset: i64) -> String {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let mut id = String::with_capacity(56);
    let mut push = |bytes: &[u8]| {
        for byte in bytes {
            for nibble in [byte >> 4, byte & 0xf] {
                id.push(DIGITS.get(usize::from(nibble)).map_or('0', |digit| char::from(*digit)));
            }
        }
    };
    match host.ip() {
        IpAddr::V4(address) => push(&address.octets()),
        IpAddr::V6(address) => push(&address.octets()),
    }
    push(&u32::from(host.port()).to_be_bytes());
    push(&commit_log_offset.to_be_bytes());
    id
}

struct Reader<'a> {
    bytes: &'a Bytes,
    at: usize,
}

impl Reader<'_> {
    fn take(&mut self, length: usize) -> Result<&[u8], DecodeError> {
        let end = self.at.checked_add(length).ok_or(DecodeError::Short)?;
        let taken = self.bytes.get(self.at..end).ok_or(DecodeError::Short)?;
        self.at = end;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        self.take(N)?.try_into().map_err(|_| DecodeError::Short)
    }

    fn u8(&mut self) -> Result<u8, DecodeError> {
        self.array().map(u8::from_be_bytes)
    }

    fn u16(&mut self) -> Result<u16, DecodeError> {
        self.array().map(u16::from_be_bytes)
    }

    fn i32(&mut self) -> Result<i32, DecodeError> {
        self.array().map(i32::from_be_bytes)
    }

    fn i64(&mut self) -> Result<i64, DecodeError> {
        self.array().map(i64::from_be_bytes)
    }

    fn host(&mut self, v6: bool) -> Result<SocketAddr, DecodeError> {
        let address: IpAddr = if v6 { self.array::<16>()?.into() } else { self.array::<4>()?.into() };
        // Four bytes; a port needs two of them.
        let port = u32::from_be_bytes(self.array()?);
        Ok(SocketAddr::new(address, u16::try_from(port).unwrap_or_default()))
    }

    fn slice(&mut self, length: usize) -> Result<Bytes, DecodeError> {
        let start = self.at;
        self.take(length)?;
        Ok(self.bytes.slice(start..start + length))
    }

    fn text(&mut self, length: usize) -> Result<String, DecodeError> {
        self.take(length).map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
mod tests {
    use bytes::{BufMut, Bytes, BytesMut};
    use millrace_core::name::QueueRef;
    use millrace_core::time::Millis;

    use super::{BORN_HOST_V6, DecodeError, MAGIC_V1, MAGIC_V2, decode_messages, decode_properties};

    struct Stored {
        magic: u32,
        sys_flag: i32,
        body: &'static [u8],
        topic: String,
        properties: &'static str,
    }

    impl Default for Stored {
        fn default() -> Self {
            Self {
                magic: MAGIC_V1,
                sys_flag: 0,
                body: b"{}",
                topic: "orders".to_owned(),
                properties: "KEYS\u{1}order-17\u{2}UNIQ_KEY\u{1}7F00000100010000000000000001\u{2}",
            }
        }
    }

    impl Stored {
        fn bytes(&self) -> Bytes {
            let mut bytes = BytesMut::new();
            bytes.put_u32(self.magic);
            bytes.put_i32(0);
            bytes.put_i32(3);
            bytes.put_i32(5);
            bytes.put_i64(42);
            bytes.put_i64(9001);
            bytes.put_i32(self.sys_flag);
            bytes.put_i64(1_700_000_000_000);
            if self.sys_flag & BORN_HOST_V6 == 0 {
                bytes.put_slice(&[192, 0, 2, 9]);
            } else {
                bytes.put_slice(&[0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
            }
            bytes.put_u32(40_000);
            bytes.put_i64(1_700_000_000_005);
            bytes.put_slice(&[10, 154, 0, 38]);
            bytes.put_u32(10_911);
            bytes.put_i32(2);
            bytes.put_i64(0);
            bytes.put_i32(i32::try_from(self.body.len()).unwrap());
            bytes.put_slice(self.body);
            if self.magic == MAGIC_V2 {
                bytes.put_u16(u16::try_from(self.topic.len()).unwrap());
            } else {
                bytes.put_u8(u8::try_from(self.topic.len()).unwrap());
            }
            bytes.put_slice(self.topic.as_bytes());
            bytes.put_u16(u16::try_from(self.properties.len()).unwrap());
            bytes.put_slice(self.properties.as_bytes());
            let mut whole = BytesMut::new();
            whole.put_i32(i32::try_from(bytes.len() + 4).unwrap());
            whole.put_slice(&bytes);
            whole.freeze()
        }
    }

    #[test]
    fn every_field_is_where_the_layout_says() {
        let both = [
            Stored::default().bytes(),
            Stored { magic: MAGIC_V2, topic: "t".repeat(300), ..Stored::default() }.bytes(),
        ];
        let messages = decode_messages(&both.concat().into(), "broker-a", None).unwrap();
        let message = messages.first().unwrap();
        assert_eq!(message.queue, QueueRef { topic: "orders".to_owned(), broker: "broker-a".to_owned(), queue: 3 });
        assert_eq!((message.offset, message.commit_log_offset, message.flag), (42, 9001, 5));
        assert_eq!((message.born, message.stored), (Millis(1_700_000_000_000), Millis(1_700_000_000_005)));
        assert_eq!((message.born_host.as_str(), message.store_host.as_str()), ("192.0.2.9:40000", "10.154.0.38:10911"));
        assert_eq!(message.offset_id, "0A9A002600002A9F0000000000002329");
        assert_eq!(message.uniq_id.as_deref(), Some("7F00000100010000000000000001"));
        assert_eq!((message.keys().next(), message.reconsume_times), (Some("order-17"), 2));
        assert_eq!(&message.body.bytes[..], b"{}");
        assert_eq!(messages.get(1).unwrap().queue.topic.len(), 300);
    }

    #[test]
    fn a_host_may_be_ipv6() {
        let stored = Stored { sys_flag: BORN_HOST_V6, ..Stored::default() }.bytes();
        let messages = decode_messages(&stored, "broker-a", None).unwrap();
        assert_eq!(messages.first().unwrap().born_host, "[2001:db8::1]:40000");
    }

    #[test]
    fn a_body_is_a_slice_of_the_frame() {
        let stored = Stored { body: b"a body that is shared", ..Stored::default() }.bytes();
        let messages = decode_messages(&stored, "broker-a", None).unwrap();
        let body = messages.first().unwrap().body.bytes.as_ptr_range();
        assert!(stored.as_ptr_range().contains(&body.start));
    }

    #[test]
    fn a_compressed_body_that_is_broken_stays_as_stored() {
        let stored = Stored { sys_flag: 1, body: b"not zlib", ..Stored::default() }.bytes();
        let messages = decode_messages(&stored, "broker-a", None).unwrap();
        let body = &messages.first().unwrap().body;
        assert_eq!(&body.bytes[..], b"not zlib");
        assert!(body.inflate_error.is_some());
    }

    #[test]
    fn broken_bytes_are_errors() {
        let good = Stored::default().bytes();
        for cut in 1..good.len() {
            assert!(decode_messages(&good.slice(..cut), "broker-a", None).is_err(), "cut at {cut}");
        }
        let mut short = BytesMut::from(&good[..60]);
        short[..4].copy_from_slice(&60_i32.to_be_bytes());
        assert_eq!(decode_messages(&short.freeze(), "broker-a", None), Err(DecodeError::Short));
        let mut negative = BytesMut::from(&good[..]);
        negative[..4].copy_from_slice(&(-1_i32).to_be_bytes());
        assert!(matches!(
            decode_messages(&negative.freeze(), "broker-a", None),
            Err(DecodeError::Size { size: -1, .. })
        ));
        let other = Stored { magic: 7, ..Stored::default() }.bytes();
        assert_eq!(decode_messages(&other, "broker-a", None), Err(DecodeError::Magic(7)));
    }

    #[test]
    fn properties_are_pairs_in_order() {
        let pairs = decode_properties("b\u{1}2\u{2}a\u{1}\u{2}nothing\u{2}c\u{1}x\u{1}y".as_bytes());
        let expected = [("b", "2"), ("a", ""), ("c", "x\u{1}y")].map(|(n, v)| (n.to_owned(), v.to_owned()));
        assert_eq!(pairs, expected);
    }
}
