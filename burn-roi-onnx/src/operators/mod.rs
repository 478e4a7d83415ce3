//! The operators that a rewritten model has beside burn-onnx's: checks of their attributes and inputs, the types of their
//! outputs, and their code.

pub(crate) mod attributes;
mod inputs;
pub(crate) mod own;
pub(crate) mod region;
