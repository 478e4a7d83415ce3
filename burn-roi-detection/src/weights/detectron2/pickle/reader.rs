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

    pub(super) fn u8(&mut self) -> Result<u8, PickleReason> {
        Ok(u8::from_le_bytes(self.array()?))
    }

    pub(super) fn u16(&mut self) -> Result<u16, PickleReason> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    pub(super) fn u32(&mut self) -> Result<u32, PickleReason> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(super) fn u64(&mut self) -> Result<u64, PickleReason> {
        Ok(u64::from_le_bytes(self.array()?))
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
