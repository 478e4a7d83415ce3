//! Reads the pickles of detectron2 and torch as data.
//!
//! A pickle is a program for a stack machine, which can call any function of Python. This machine knows the nine
//! names that a pickle of dictionaries, numbers, text and NumPy's arrays needs (`Global`), and refuses all others.
//! For torch's files it knows the names of tensors. An object of any other name is data without a meaning there.
//!
//! A hostile file costs no more than a right one of its size:
//!
//! - Text, bytes and arrays are slices of the file. An object is an index into a list (`Heap`), so nothing is nested
//!   in memory and nothing is walked recursively.
//! - An opcode pushes one value at most and makes one object at most, and a file has at most `MAX_OPCODES`.
//! - Arrays may share bytes, so `Heap::spend` bounds the bytes of all arrays together.

mod array;
mod call;
mod element_type;
mod error;
mod global;
mod heap;
mod literal;
mod machine;
mod reader;
mod torch;
mod value;

pub use error::{PickleError, PickleReason};
pub(super) use global::Names;
pub(super) use heap::{Heap, Storage};
pub(super) use machine::read;
pub(super) use value::Value;
