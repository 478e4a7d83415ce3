//! What is on the machine's stack.

use super::error::PickleReason;
use super::global::Global;
use crate::weights::shortened::shortened;

/// A value of a pickle. Text and bytes are slices of the file.
#[derive(Debug, Clone, Copy)]
pub(in crate::weights) enum Value<'a> {
    None,
    Bool(bool),
    Int(i64),
    /// No weight and no setting that is read is one.
    Float,
    Text(&'a str),
    Bytes(&'a [u8]),
    /// Bytes as protocol 2 has them: text, each of whose characters is the byte of its number.
    Latin1(&'a str),
    Global(Global),
    Object(ObjectId),
}

/// The index of an object in a `Heap`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::weights) struct ObjectId(pub(super) usize);

impl<'a> Value<'a> {
    /// The kind of the value, as errors say it.
    pub(in crate::weights) fn kind(self) -> &'static str {
        match self {
            Self::None => "None",
            Self::Bool(_) => "a bool",
            Self::Int(_) => "an int",
            Self::Float => "a float",
            Self::Text(_) => "text",
            Self::Bytes(_) | Self::Latin1(_) => "bytes",
            Self::Global(_) => "a class or a function",
            Self::Object(_) => "an object",
        }
    }

    pub(super) fn text(self, operand: &'static str) -> Result<&'a str, PickleReason> {
        match self {
            Self::Text(text) => Ok(text),
            _ => Err(self.not(operand, "text")),
        }
    }

    /// NumPy's flags are bools, and 0 or 1 in its older files.
    pub(super) fn flag(self, operand: &'static str) -> Result<bool, PickleReason> {
        match self {
            Self::Bool(flag) => Ok(flag),
            Self::Int(flag @ (0 | 1)) => Ok(flag == 1),
            _ => Err(self.not(operand, "a bool")),
        }
    }

    pub(super) fn size(self, operand: &'static str) -> Result<usize, PickleReason> {
        match self {
            Self::Int(size) => {
                let negative = |_| PickleReason::operand(operand, size.to_string(), "at least 0");
                usize::try_from(size).map_err(negative)
            }
            _ => Err(self.not(operand, "an int")),
        }
    }

    /// The error that this value is not what an operand must be.
    pub(super) fn not(self, operand: &'static str, expected: &'static str) -> PickleReason {
        let found = match self {
            Self::Text(text) => format!("{:?}", shortened(text)),
            Self::Int(int) => int.to_string(),
            Self::Global(global) => format!("{global:?}"),
            _ => self.kind().to_string(),
        };
        PickleReason::operand(operand, found, expected)
    }
}
