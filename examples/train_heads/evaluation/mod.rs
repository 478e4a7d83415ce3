//! Measures the detector on pictures that it was not trained on, and shows what it finds.

mod average_precision;
mod measures;
mod showcase;

pub use measures::{Measures, measure};
pub use showcase::showcase;
