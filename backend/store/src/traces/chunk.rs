//! A chunk: some trace messages, whole, compressed together. Layout: version byte, length when inflated, zstd frame,
//! checksum. Inflated: each message's fields one after the other.

use millrace_core::name::QueueRef;
use millrace_core::time::Millis;
use millrace_core::trace::TraceMessage;

use super::bytes::{Broken, Reader, put_bytes, put_checksum, put_number, put_signed};

const VERSION: u8 = 1;
/// Fastest level that still finds the repeats that trace text is made of.
const LEVEL: i32 = 1;
/// What no chunk reaches: a trace message is at most a few megabytes, a chunk a few of those.
const MAX_INFLATED: usize = 256 << 20;

/// Compresses messages chunk by chunk with one compressor.
pub(super) struct Packer {
    compressor: zstd::bulk::Compressor<'static>,
    raw: Vec<u8>,
}

impl Packer {
    pub(super) fn new() -> std::io::Result<Self> {
        Ok(Self { compressor: zstd::bulk::Compressor::new(LEVEL)?, raw: Vec::new() })
    }

    pub(super) fn push(&mut self, message: &TraceMessage) {
        let out = &mut self.raw;
        put_bytes(out, message.queue.topic.as_bytes());
        put_bytes(out, message.queue.broker.as_bytes());
        put_signed(out, i64::from(message.queue.queue));
        put_signed(out, message.offset);
        put_signed(out, message.stored.0);
        put_signed(out, message.born.0);
        put_bytes(out, message.born_host.as_bytes());
        put_number(out, u64::from(message.producer_group.is_some()));
        put_bytes(out, message.producer_group.as_deref().unwrap_or_default().as_bytes());
        put_bytes(out, &message.body);
    }

    /// Bytes pushed since the last [`Packer::finish`].
    pub(super) fn raw_length(&self) -> usize {
        self.raw.len()
    }

    pub(super) fn finish(&mut self) -> std::io::Result<Vec<u8>> {
        let mut out = vec![VERSION];
        put_number(&mut out, self.raw.len() as u64);
        out.extend_from_slice(&self.compressor.compress(&self.raw)?);
        put_checksum(&mut out);
        self.raw.clear();
        Ok(out)
    }
}

/// The messages of a chunk at `wanted` places (sorted), or all of them.
pub(super) fn unpack(chunk: &[u8], wanted: Option<&[u16]>) -> Result<Vec<TraceMessage>, Broken> {
    let mut reader = Reader::checked(chunk, VERSION)?;
    let length = reader.length()?;
    if length > MAX_INFLATED {
        return Err("it is too large");
    }
    let raw = zstd::bulk::decompress(reader.rest(), length).map_err(|_| "it does not inflate")?;
    let mut reader = Reader::new(&raw);
    let mut messages = Vec::new();
    let mut wanted = wanted.map(|places| places.iter().copied().peekable());
    for place in 0..=u16::MAX {
        if reader.rest().is_empty() {
            break;
        }
        let fields = Fields::read(&mut reader)?;
        match &mut wanted {
            None => messages.push(fields.message()?),
            Some(places) => {
                if places.next_if_eq(&place).is_some() {
                    messages.push(fields.message()?);
                }
                if places.peek().is_none() {
                    return Ok(messages);
                }
            }
        }
    }
    Ok(messages)
}

/// A message's fields where they lie, so that passing over one allocates nothing.
struct Fields<'a> {
    topic: &'a [u8],
    broker: &'a [u8],
    queue: i64,
    offset: i64,
    stored: i64,
    born: i64,
    born_host: &'a [u8],
    has_group: bool,
    group: &'a [u8],
    body: &'a [u8],
}

impl<'a> Fields<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, Broken> {
        Ok(Self {
            topic: reader.bytes()?,
            broker: reader.bytes()?,
            queue: reader.signed()?,
            offset: reader.signed()?,
            stored: reader.signed()?,
            born: reader.signed()?,
            born_host: reader.bytes()?,
            has_group: reader.number()? != 0,
            group: reader.bytes()?,
            body: reader.bytes()?,
        })
    }

    fn message(&self) -> Result<TraceMessage, Broken> {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).map_err(|_| "a text is not UTF-8");
        Ok(TraceMessage {
            queue: QueueRef {
                topic: text(self.topic)?,
                broker: text(self.broker)?,
                queue: i32::try_from(self.queue).map_err(|_| "a queue number is too large")?,
            },
            offset: self.offset,
            stored: Millis(self.stored),
            born: Millis(self.born),
            born_host: text(self.born_host)?,
            producer_group: self.has_group.then(|| text(self.group)).transpose()?,
            body: self.body.to_vec(),
        })
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn message() -> impl Strategy<Value = TraceMessage> {
        (any::<(String, String, i32, i64, i64, i64)>(), any::<(String, Option<String>, Vec<u8>)>()).prop_map(
            |((topic, broker, queue, offset, stored, born), (born_host, producer_group, body))| TraceMessage {
                queue: QueueRef { topic, broker, queue },
                offset,
                stored: Millis(stored),
                born: Millis(born),
                born_host,
                producer_group,
                body,
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn every_byte_of_a_message_is_kept(messages in proptest::collection::vec(message(), 0..12)) {
            let mut packer = Packer::new().unwrap();
            for message in &messages {
                packer.push(message);
            }
            let chunk = packer.finish().unwrap();
            prop_assert_eq!(&unpack(&chunk, None).unwrap(), &messages);
            let odd: Vec<u16> = (0..u16::try_from(messages.len()).unwrap()).filter(|place| place % 2 == 1).collect();
            let expected: Vec<_> = messages.iter().skip(1).step_by(2).cloned().collect();
            prop_assert_eq!(unpack(&chunk, Some(&odd)).unwrap(), expected);
        }
    }
}
