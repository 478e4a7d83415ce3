//! The operators that a rewritten model has beside those of burn-onnx: their attributes, the types of their outputs,
//! and their code.

pub(crate) mod attributes;
mod inputs;
pub(crate) mod own;
pub(crate) mod region;
mod value;
