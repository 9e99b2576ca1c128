//! The three kinds of message id, and what each tells. Shapes and byte layouts: `MessageClientIDSetter`,
//! `MessageDecoder.createMessageId` and the gRPC clients' `MessageIdCodec` of Apache RocketMQ.

use serde::Serialize;

/// What a searched text was taken for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum IdKind {
    /// A classic client's unique id: 32 hex digits (IPv4) or 56 (IPv6).
    Uniq(UniqId),
    /// A broker's offset id: as long as a unique id; address, port and commit-log offset.
    Offset(OffsetId),
    /// A gRPC client's id: 34 hex digits beginning with `01`.
    Grpc(GrpcId),
    /// Anything else is a record key.
    Key,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UniqId {
    /// Address, process id and class-loader hash as hex digits in upper case: the same for all ids of one process.
    pub process: String,
    pub address: std::net::IpAddr,
    pub pid: u16,
    pub loader: u32,
    /// Milliseconds since the first of the month in the client's own zone.
    pub ms_in_month: i64,
    pub counter: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OffsetId {
    pub address: std::net::IpAddr,
    pub port: u32,
    /// Physical offset in the broker's commit log.
    pub offset: i64,
}

impl std::fmt::Display for OffsetId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.address {
            std::net::IpAddr::V4(address) => write!(f, "{:08X}", u32::from(address))?,
            std::net::IpAddr::V6(address) => write!(f, "{:032X}", u128::from(address))?,
        }
        write!(f, "{:08X}{:016X}", self.port, self.offset)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GrpcId {
    pub mac: String,
    pub pid: u16,
    /// Seconds since 1970-01-01T00:00:00Z.
    pub unix_seconds: i64,
    pub sequence: u32,
}

/// Seconds from 1970-01-01 to 2021-01-01, both UTC: the epoch of gRPC ids.
const GRPC_EPOCH: i64 = 1_609_459_200;

impl IdKind {
    /// Says what `text` is. A unique id and an offset id have the same shape; the second has a port where the first
    /// has process bytes, and ports lie between 1024 and 65535.
    pub fn of(text: &str) -> Self {
        if let Some(id) = GrpcId::parse(text) {
            Self::Grpc(id)
        } else if let Some(id) = OffsetId::parse(text) {
            Self::Offset(id)
        } else if let Some(id) = UniqId::parse(text) {
            Self::Uniq(id)
        } else {
            Self::Key
        }
    }
}

impl UniqId {
    /// 32 or 56 hex digits: address (4 or 16 bytes), pid 2, loader 4, milliseconds in the month 4, counter 2.
    pub fn parse(text: &str) -> Option<Self> {
        let mut bytes = Bytes::of(text)?;
        let ip_length = match text.len() {
            32 => 4,
            56 => 16,
            _ => return None,
        };
        Some(Self {
            address: bytes.address(ip_length)?,
            pid: u16::try_from(bytes.number(2)?).ok()?,
            loader: u32::try_from(bytes.number(4)?).ok()?,
            ms_in_month: i64::try_from(bytes.number(4)?).ok()?,
            counter: u16::try_from(bytes.number(2)?).ok()?,
            process: text.get(..(ip_length + 6) * 2)?.to_ascii_uppercase(),
        })
    }
}

impl OffsetId {
    /// 32 or 56 hex digits: address (4 or 16 bytes), port 4, commit-log offset 8.
    pub fn parse(text: &str) -> Option<Self> {
        let mut bytes = Bytes::of(text)?;
        let ip_length = match text.len() {
            32 => 4,
            56 => 16,
            _ => return None,
        };
        let address = bytes.address(ip_length)?;
        let port = u32::try_from(bytes.number(4)?).ok()?;
        let offset = i64::try_from(bytes.number(8)?).ok()?;
        (1024..65_536).contains(&port).then_some(Self { address, port, offset })
    }
}

impl GrpcId {
    /// 34 hex digits: version 01, MAC 6 bytes, pid 2, seconds since 2021 4, sequence 4.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() != 34 {
            return None;
        }
        let mut bytes = Bytes::of(text)?;
        if bytes.number(1)? != 1 {
            return None;
        }
        let mac: Vec<String> = bytes.take(6)?.iter().map(|byte| format!("{byte:02x}")).collect();
        Some(Self {
            mac: mac.join(":"),
            pid: u16::try_from(bytes.number(2)?).ok()?,
            unix_seconds: GRPC_EPOCH + i64::try_from(bytes.number(4)?).ok()?,
            sequence: u32::try_from(bytes.number(4)?).ok()?,
        })
    }
}

/// Bytes of a hex text, read from the front.
struct Bytes {
    bytes: Vec<u8>,
    at: usize,
}

impl Bytes {
    fn of(text: &str) -> Option<Self> {
        if !text.len().is_multiple_of(2) || text.len() > 64 || !text.is_ascii() {
            return None;
        }
        let nibble = |digit: u8| char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok());
        let bytes = text
            .as_bytes()
            .chunks_exact(2)
            .map(|pair| match pair {
                [high, low] => Some(nibble(*high)? << 4 | nibble(*low)?),
                _ => None,
            })
            .collect::<Option<Vec<u8>>>()?;
        Some(Self { bytes, at: 0 })
    }

    fn take(&mut self, length: usize) -> Option<&[u8]> {
        let taken = self.bytes.get(self.at..self.at + length)?;
        self.at += length;
        Some(taken)
    }

    fn number(&mut self, length: usize) -> Option<u64> {
        Some(self.take(length)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn address(&mut self, length: usize) -> Option<std::net::IpAddr> {
        let bytes = self.take(length)?;
        if let Ok(v4) = <[u8; 4]>::try_from(bytes) {
            return Some(v4.into());
        }
        <[u8; 16]>::try_from(bytes).ok().map(Into::into)
    }
}

#[cfg(test)]
mod tests {
    use super::{GrpcId, IdKind, OffsetId, UniqId};

    #[test]
    fn a_unique_id_tells_its_process_and_time() {
        let id = UniqId::parse("AC1415116D1418B4AAC217FE1B4E0000").expect("a unique id");
        assert_eq!(id.address.to_string(), "172.20.21.17");
        assert_eq!((id.pid, id.loader), (27_924, 0x18b4_aac2));
        assert_eq!((id.ms_in_month, id.counter), (402_529_102, 0));
        assert_eq!(id.process, "AC1415116D1418B4AAC2");
        assert!(matches!(IdKind::of("AC1415116D1418B4AAC217FE1B4E0000"), IdKind::Uniq(_)));
    }

    #[test]
    fn an_offset_id_tells_its_broker() {
        let id = OffsetId::parse("0A9A002600002A9F0000000000002329").expect("an offset id");
        assert_eq!((id.address.to_string().as_str(), id.port, id.offset), ("10.154.0.38", 10_911, 9_001));
        assert!(matches!(IdKind::of("0A9A002600002A9F0000000000002329"), IdKind::Offset(_)));
    }

    #[test]
    fn a_grpc_id_tells_its_machine_and_second() {
        let id = GrpcId::parse("0108719066FF9A489C04DB99CA00000003").expect("a gRPC id");
        assert_eq!((id.mac.as_str(), id.pid, id.sequence), ("08:71:90:66:ff:9a", 18_588, 3));
        assert_eq!(id.unix_seconds, 1_690_959_818); // 2023-08-02T07:03:38Z
    }

    #[test]
    fn other_texts_are_keys() {
        for text in ["order-17", "", "zz1415116D1418B4AAC217FE1B4E0000", "订单-17", "0A"] {
            assert_eq!(IdKind::of(text), IdKind::Key, "{text}");
        }
    }
}
