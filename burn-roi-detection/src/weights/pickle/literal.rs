//! The opcodes that push a value of the file as it is.

use super::error::PickleReason;
use super::reader::Reader;
use super::value::Value;

/// The value of an opcode, or none if the opcode is none of these.
pub(super) fn literal<'a>(opcode: u8, reader: &mut Reader<'a>) -> Result<Option<Value<'a>>, PickleReason> {
    let value = match opcode {
        // NONE, NEWFALSE, NEWTRUE
        b'N' => Value::None,
        0x89 => Value::Bool(false),
        0x88 => Value::Bool(true),
        // BININT1, BININT2, BININT, LONG1, BINFLOAT
        b'K' => Value::Int(reader.uint(1)? as i64),
        b'M' => Value::Int(reader.uint(2)? as i64),
        b'J' => Value::Int(i32::from_le_bytes(reader.array()?).into()),
        0x8a => Value::Int(long(reader)?),
        b'G' => {
            reader.take(8)?;
            Value::Float
        }
        // SHORT_BINUNICODE, BINUNICODE, BINUNICODE8
        0x8c => Value::Text(text(reader, 1)?),
        b'X' => Value::Text(text(reader, 4)?),
        0x8d => Value::Text(text(reader, 8)?),
        // SHORT_BINSTRING, BINSTRING: the text and the bytes of Python 2.
        b'U' => string(bytes(reader, 1)?),
        b'T' => string(bytes(reader, 4)?),
        // SHORT_BINBYTES, BINBYTES, BINBYTES8, BYTEARRAY8
        b'C' => Value::Bytes(bytes(reader, 1)?),
        b'B' => Value::Bytes(bytes(reader, 4)?),
        0x8e | 0x96 => Value::Bytes(bytes(reader, 8)?),
        _ => return Ok(None),
    };
    Ok(Some(value))
}

/// Text after its length, an integer of `width` bytes.
fn text<'a>(reader: &mut Reader<'a>, width: u64) -> Result<&'a str, PickleReason> {
    let length = reader.uint(width)?;
    reader.text(length)
}

/// A string of Python 2, which may be a name or the elements of an array.
fn string(bytes: &[u8]) -> Value<'_> {
    match str::from_utf8(bytes) {
        Ok(text) => Value::Text(text),
        Err(_) => Value::Bytes(bytes),
    }
}

/// Bytes after their number, an integer of `width` bytes.
fn bytes<'a>(reader: &mut Reader<'a>, width: u64) -> Result<&'a [u8], PickleReason> {
    let length = reader.uint(width)?;
    reader.take(length)
}

/// An integer in as few bytes as it needs, the sign in the last.
fn long(reader: &mut Reader<'_>) -> Result<i64, PickleReason> {
    let bytes = bytes(reader, 1)?;
    if bytes.len() > size_of::<i64>() {
        let found = format!("{} bytes", bytes.len());
        return Err(PickleReason::operand("int", found, "at most 8 bytes"));
    }
    let is_negative = bytes.last().is_some_and(|&last| last >= 0x80);
    let mut padded = [if is_negative { 0xff } else { 0 }; size_of::<i64>()];
    padded[..bytes.len()].copy_from_slice(bytes);
    Ok(i64::from_le_bytes(padded))
}
