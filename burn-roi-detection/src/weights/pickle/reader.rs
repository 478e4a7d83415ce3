//! The bytes of a pickle, read from front to back.

use super::error::PickleReason;

pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0 }
    }

    pub(super) fn position(&self) -> usize {
        self.position
    }

    pub(super) fn remaining(&self) -> usize {
        self.bytes.len() - self.position
    }

    /// The next `length` bytes. A length beyond the file is an error before anything is allocated.
    pub(super) fn take(&mut self, length: u64) -> Result<&'a [u8], PickleReason> {
        let truncated = PickleReason::Truncated { expected: length };
        let count = usize::try_from(length).map_err(|_| truncated.clone())?;
        let (taken, _) = self.bytes[self.position..].split_at_checked(count).ok_or(truncated)?;
        self.position += count;
        Ok(taken)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], PickleReason> {
        let (taken, _) = self.bytes[self.position..]
            .split_first_chunk()
            .ok_or(PickleReason::Truncated { expected: N as u64 })?;
        self.position += N;
        Ok(*taken)
    }

    /// An integer without a sign, of 1 to 8 bytes, little-endian.
    pub(super) fn uint(&mut self, width: u64) -> Result<u64, PickleReason> {
        let bytes = self.take(width)?;
        Ok(bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
    }

    pub(super) fn text(&mut self, length: u64) -> Result<&'a str, PickleReason> {
        str::from_utf8(self.take(length)?).map_err(|_| PickleReason::Text)
    }

    /// The text up to the next line feed, which is read too.
    pub(super) fn line(&mut self) -> Result<&'a str, PickleReason> {
        let rest = &self.bytes[self.position..];
        let length = rest.iter().position(|&byte| byte == b'\n');
        let length = length.ok_or(PickleReason::Truncated {
            expected: rest.len() as u64 + 1,
        })?;
        let line = self.text(length as u64)?;
        self.position += 1;
        Ok(line)
    }
}
