//! The numbers of features, and the numbers that they are summed in.

mod half;
mod lanes;
mod number;
mod transpose;

pub use number::{Number, Sum};
pub use transpose::{deinterleave, interleave};
