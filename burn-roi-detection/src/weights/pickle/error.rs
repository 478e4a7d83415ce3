//! What can be wrong with a pickle.

use thiserror::Error;

/// Why a pickle was refused, and at which byte of the file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("byte {offset} of the pickle: {reason}")]
pub struct PickleError {
    /// The byte of the file, counted from 0, at which the refused opcode begins.
    pub offset: usize,
    /// What is wrong there.
    pub reason: PickleReason,
}

/// What is wrong with an opcode of a pickle.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PickleReason {
    /// The file is shorter than it says.
    #[error("the file ends within a value of {expected} bytes; it is truncated or damaged")]
    Truncated {
        /// The bytes of the value.
        expected: u64,
    },
    /// The file begins with something other than a pickle's header, or has a protocol that isn't read.
    #[error("the file must begin as a pickle of protocol 2, 3, 4 or 5 does, but begins with {start:02x?}")]
    Header {
        /// The first two bytes, or fewer if the file has fewer.
        start: Vec<u8>,
    },
    /// An opcode that no pickle of dictionaries and arrays contains.
    #[error("opcode {opcode:#04x} is none that a checkpoint of arrays has")]
    Opcode {
        /// The opcode.
        opcode: u8,
    },
    /// A Python class or function other than NumPy's arrays and dictionaries. It was not looked up or called.
    #[error("`{name}` was refused: a checkpoint may name NumPy's arrays and dictionaries only")]
    Global {
        /// The module and the name, joined by a dot.
        name: String,
    },
    /// An operand is of another kind or has another value than the opcode needs.
    #[error("`{operand}` is {found}, but must be {expected}")]
    Operand {
        /// The operand.
        operand: &'static str,
        /// What it is.
        found: String,
        /// What it must be.
        expected: &'static str,
    },
    /// The stack holds less than the opcode takes.
    #[error("the stack holds less than the opcode takes")]
    StackUnderflow,
    /// An index of the memo at which nothing was stored.
    #[error("nothing was stored at index {index} of the memo")]
    Memo {
        /// The index.
        index: u32,
    },
    /// Bytes that must be text are not UTF-8.
    #[error("text is not UTF-8")]
    Text,
    /// The bytes of an array are not as many as its shape needs.
    #[error("an array of shape {shape:?} and NumPy's dtype {dtype} has {bytes} bytes")]
    ArrayLength {
        /// The shape of the array.
        shape: Vec<usize>,
        /// NumPy's name of the element type, such as `<f4`.
        dtype: &'static str,
        /// The bytes that the file has for it.
        bytes: usize,
    },
    /// Arrays share bytes so often that they would take far more memory than the file.
    #[error("the arrays together have more than {limit} bytes, twice as many as the file")]
    Shared {
        /// The most that the arrays may have together.
        limit: usize,
    },
    /// The pickle is longer than any checkpoint's pickle.
    #[error("it has more than {limit} opcodes")]
    TooLong {
        /// The most that a pickle may have.
        limit: usize,
    },
}

impl PickleReason {
    /// The error of a value that an opcode can't take.
    pub(super) fn operand(operand: &'static str, found: impl Into<String>, expected: &'static str) -> Self {
        let found = found.into();
        Self::Operand {
            operand,
            found,
            expected,
        }
    }
}
