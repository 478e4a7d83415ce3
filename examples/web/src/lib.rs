//! What a page in a browser calls: every region operator, and the detectors of the examples `find_faces` and
//! `find_objects`.
//!
//! - [`Engine`] has a device: Flex, which runs in WebAssembly, or WebGPU.
//! - [`Call`] is a call of an operator, by a framework's name and attributes, with tensors from plain arrays.
//! - `page/` has the page, and `worker.js` there runs this module beside it.
//!
//! Nothing here blocks on the device. A panic ends the module: [`on_panic`] tells the page, which starts it anew.

mod case;
mod detector;
mod engine;
mod faces;
// The table of frameworks' attributes that the tests use.
#[path = "../../../tests/support/operators.rs"]
mod operators;
mod panics;
mod picture;

pub use case::Call;
pub use detector::Weights;
pub use engine::{Array, Engine};
pub use panics::on_panic;
