//! Bytes of a stored blob: written at the end, read from the front. Reading is total: a blob that is cut short or
//! altered is told, never guessed at.

use xxhash_rust::xxh3::xxh3_64;

/// Why a blob cannot be read.
pub(super) type Broken = &'static str;

pub(super) fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push((number & 0x7f) as u8);
}

pub(super) fn put_signed(out: &mut Vec<u8>, number: i64) {
    put_number(out, (number.cast_unsigned() << 1) ^ (number >> 63).cast_unsigned());
}

pub(super) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_number(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Appends the checksum that [`Reader::checked`] asks for.
pub(super) fn put_checksum(out: &mut Vec<u8>) {
    let sum = xxh3_64(out);
    out.extend_from_slice(&sum.to_le_bytes());
}

#[derive(Debug)]
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn new(rest: &'a [u8]) -> Self {
        Self { rest }
    }

    /// Reads bytes that end in a checksum and begin with a version that this code knows.
    pub(super) fn checked(bytes: &'a [u8], version: u8) -> Result<Self, Broken> {
        let (payload, sum) = bytes.split_last_chunk::<8>().ok_or("it is cut short")?;
        if xxh3_64(payload) != u64::from_le_bytes(*sum) {
            return Err("its checksum is wrong");
        }
        match payload.split_first() {
            Some((&found, rest)) if found == version => Ok(Self { rest }),
            Some(_) => Err("its format is unknown"),
            None => Err("it is empty"),
        }
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(super) fn number(&mut self) -> Result<u64, Broken> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.rest.split_first().ok_or("a number is cut short")?;
            self.rest = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err("a number is too long")
    }

    pub(super) fn length(&mut self) -> Result<usize, Broken> {
        usize::try_from(self.number()?).map_err(|_| "a length is too large")
    }

    pub(super) fn signed(&mut self) -> Result<i64, Broken> {
        let number = self.number()?;
        Ok((number >> 1).cast_signed() ^ -((number & 1).cast_signed()))
    }

    pub(super) fn bytes(&mut self) -> Result<&'a [u8], Broken> {
        let length = self.length()?;
        let (bytes, rest) = self.rest.split_at_checked(length).ok_or("it is cut short")?;
        self.rest = rest;
        Ok(bytes)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use proptest::prelude::*;

    use super::{Reader, put_bytes, put_checksum, put_number, put_signed};

    proptest! {
        #[test]
        fn what_is_written_is_read(number: u64, signed: i64, bytes: Vec<u8>) {
            let mut out = vec![7];
            put_number(&mut out, number);
            put_signed(&mut out, signed);
            put_bytes(&mut out, &bytes);
            put_checksum(&mut out);
            let mut reader = Reader::checked(&out, 7).unwrap();
            prop_assert_eq!(reader.number().unwrap(), number);
            prop_assert_eq!(reader.signed().unwrap(), signed);
            prop_assert_eq!(reader.bytes().unwrap(), bytes.as_slice());
            prop_assert!(reader.rest().is_empty());
        }

        #[test]
        fn an_altered_byte_is_noticed(bytes: Vec<u8>, at: proptest::sample::Index) {
            let mut out = vec![7];
            put_bytes(&mut out, &bytes);
            put_checksum(&mut out);
            let at = at.index(out.len());
            *out.get_mut(at).unwrap() ^= 0x10;
            prop_assert!(Reader::checked(&out, 7).is_err());
        }

        #[test]
        fn reading_never_panics(bytes: Vec<u8>) {
            let mut reader = Reader::new(&bytes);
            while !reader.rest().is_empty() && reader.number().is_ok() && reader.bytes().is_ok() {}
        }
    }
}
