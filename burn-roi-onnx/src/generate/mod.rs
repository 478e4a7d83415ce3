//! Writes rewritten models, checks that burn-onnx takes them, and has it generate their code.

mod code;
mod import;
mod output;
mod panic;

pub use code::generate;
pub(crate) use output::{to_build_folder, to_bytes};
