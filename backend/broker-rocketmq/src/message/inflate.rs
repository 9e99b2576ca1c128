//! Compressed bodies: zlib, LZ4 and Zstandard, as the sys flag says (`MessageSysFlag` of Apache RocketMQ).
//!
//! Invariant: what comes out is bounded, in bytes and in proportion to what went in.

use std::io::Read;

use bytes::Bytes;

const COMPRESSED: i32 = 1;
const TYPE_SHIFT: u32 = 8;
const TYPE_MASK: i32 = 7;

/// No body is inflated beyond this.
const MAX_INFLATED: usize = 64 * 1024 * 1024;
/// Up to here any ratio is honest: a body of one repeated byte shrinks a thousandfold, and brokers take 4 MiB.
const ALWAYS_INFLATED: usize = 8 * 1024 * 1024;
/// Beyond it, bytes out for each byte in.
const MAX_RATIO: usize = 200;

const LZ4_FRAME_MAGIC: [u8; 4] = 0x184d_2204_u32.to_le_bytes();

#[derive(Debug, thiserror::Error)]
pub(super) enum InflateError {
    #[error("the compressed body would inflate to more than {0} bytes")]
    TooLarge(usize),
    #[error("the compressed body is broken: {0}")]
    Broken(String),
    #[error("the body is compressed in an unknown way ({0})")]
    Unknown(i32),
}

/// `None`: the body is not compressed.
pub(super) fn inflate(body: &Bytes, sys_flag: i32) -> Result<Option<Bytes>, InflateError> {
    if sys_flag & COMPRESSED == 0 {
        return Ok(None);
    }
    let limit = ALWAYS_INFLATED.max(body.len().saturating_mul(MAX_RATIO)).min(MAX_INFLATED);
    let inflated = match (sys_flag >> TYPE_SHIFT) & TYPE_MASK {
        // Clients before 5.0 write no type and know zlib alone.
        0 | 3 => read(flate2::read::ZlibDecoder::new(&body[..]), body.len(), limit),
        1 => lz4(body, limit),
        2 => {
            let decoder = zstd::stream::read::Decoder::new(&body[..]);
            read(decoder.map_err(|error| InflateError::Broken(error.to_string()))?, body.len(), limit)
        }
        other => Err(InflateError::Unknown(other)),
    };
    inflated.map(Bytes::from).map(Some)
}

fn read(decoder: impl Read, compressed: usize, limit: usize) -> Result<Vec<u8>, InflateError> {
    let mut inflated = Vec::with_capacity(compressed.saturating_mul(4).min(limit));
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    decoder.take(most).read_to_end(&mut inflated).map_err(|error| InflateError::Broken(error.to_string()))?;
    if inflated.len() > limit { Err(InflateError::TooLarge(limit)) } else { Ok(inflated) }
}

/// Java clients write an LZ4 frame, Rust clients a block after its length.
fn lz4(body: &[u8], limit: usize) -> Result<Vec<u8>, InflateError> {
    if let Some(frame) = body.strip_prefix(&LZ4_FRAME_MAGIC) {
        return lz4_frame(frame, limit);
    }
    let (length, block) = body.split_first_chunk::<4>().ok_or_else(|| broken("it is too short"))?;
    let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
    if length > limit {
        return Err(InflateError::TooLarge(limit));
    }
    lz4_flex::block::decompress(block, length).map_err(|error| broken(&error.to_string()))
}

/// An LZ4 frame after its magic: a descriptor, blocks, an end mark. Checksums are skipped: the broker's CRC covers the
/// body. Blocks that lean on each other are decoded with what came before.
fn lz4_frame(frame: &[u8], limit: usize) -> Result<Vec<u8>, InflateError> {
    let (&[flags, sizes], mut rest) = frame.split_first_chunk::<2>().ok_or_else(|| broken("it ends early"))?;
    let block_max = match (sizes >> 4) & 7 {
        4 => 64 * 1024,
        5 => 256 * 1024,
        6 => 1024 * 1024,
        7 => 4 * 1024 * 1024,
        _ => return Err(broken("its block size is unknown")),
    };
    let optional = usize::from(flags & 8 != 0) * 8 + usize::from(flags & 1 != 0) * 4;
    rest = rest.get(optional + 1..).ok_or_else(|| broken("it ends early"))?;
    let block_checksum = usize::from(flags & 16 != 0) * 4;
    let mut inflated = Vec::new();
    loop {
        let (marked, after) = rest.split_first_chunk::<4>().ok_or_else(|| broken("it ends early"))?;
        let marked = u32::from_le_bytes(*marked);
        if marked == 0 {
            return Ok(inflated);
        }
        let length = usize::try_from(marked & 0x7fff_ffff).unwrap_or(usize::MAX);
        let block = after.get(..length).ok_or_else(|| broken("it ends early"))?;
        if marked >> 31 == 1 {
            inflated.extend_from_slice(block);
        } else {
            let before = inflated.get(inflated.len().saturating_sub(64 * 1024)..).unwrap_or_default();
            let decoded = lz4_flex::block::decompress_with_dict(block, block_max, before);
            inflated.extend(decoded.map_err(|error| broken(&error.to_string()))?);
        }
        if inflated.len() > limit {
            return Err(InflateError::TooLarge(limit));
        }
        rest = after.get(length + block_checksum..).ok_or_else(|| broken("it ends early"))?;
    }
}

fn broken(why: &str) -> InflateError {
    InflateError::Broken(why.to_owned())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::io::Write;

    use bytes::Bytes;

    use super::{ALWAYS_INFLATED, InflateError, inflate};

    const ZLIB: i32 = 1 | 3 << 8;
    const LZ4: i32 = 1 | 1 << 8;
    const ZSTD: i32 = 1 | 2 << 8;

    fn zlib(bytes: &[u8]) -> Bytes {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap().into()
    }

    /// A frame of one block, as lz4-java writes it: independent blocks, no checksums.
    fn lz4_frame(bytes: &[u8]) -> Bytes {
        let block = lz4_flex::block::compress(bytes);
        let mut frame = vec![0x04, 0x22, 0x4d, 0x18, 0x60, 0x70, 0x00];
        frame.extend(u32::try_from(block.len()).unwrap().to_le_bytes());
        frame.extend(block);
        frame.extend([0; 4]);
        frame.into()
    }

    #[test]
    fn each_kind_gives_the_producers_bytes() {
        let body = "order-17 ".repeat(1000).into_bytes();
        let plain = Bytes::from(body.clone());
        assert_eq!(inflate(&plain, 0).unwrap(), None);
        for (compressed, sys_flag) in [
            (zlib(&body), 1),
            (zlib(&body), ZLIB),
            (zstd::encode_all(&body[..], 3).unwrap().into(), ZSTD),
            (lz4_frame(&body), LZ4),
            (lz4_flex::block::compress_prepend_size(&body).into(), LZ4),
        ] {
            assert_eq!(inflate(&compressed, sys_flag).unwrap().as_ref(), Some(&plain), "{sys_flag:#x}");
        }
    }

    #[test]
    fn a_bomb_is_refused() {
        let zeros = vec![0; ALWAYS_INFLATED + 1];
        for (bomb, sys_flag) in [(zlib(&zeros), ZLIB), (zstd::encode_all(&zeros[..], 3).unwrap().into(), ZSTD)] {
            assert!(bomb.len() < 20_000);
            assert!(matches!(inflate(&bomb, sys_flag), Err(InflateError::TooLarge(_))), "{sys_flag:#x}");
        }
        let mut claimed = u32::MAX.to_le_bytes().to_vec();
        claimed.extend([0; 16]);
        assert!(matches!(inflate(&claimed.into(), LZ4), Err(InflateError::TooLarge(_))));
    }

    #[test]
    fn a_large_body_of_one_byte_is_not_a_bomb() {
        let zeros = vec![0; 4 * 1024 * 1024];
        assert_eq!(inflate(&zlib(&zeros), 1).unwrap().unwrap().len(), zeros.len());
    }

    #[test]
    fn broken_and_unknown_bodies_are_errors() {
        for sys_flag in [ZLIB, LZ4, ZSTD] {
            for broken in
                [&b""[..], b"\x04\x22\x4d\x18", b"\x04\x22\x4d\x18\x60\x70\x00\xff\xff\xff\x7f", b"neither nor"]
            {
                let broken = Bytes::copy_from_slice(broken);
                assert!(inflate(&broken, sys_flag).is_err(), "{sys_flag:#x} {broken:?}");
            }
        }
        assert!(matches!(inflate(&Bytes::from_static(b"x"), 1 | 5 << 8), Err(InflateError::Unknown(5))));
    }
}
