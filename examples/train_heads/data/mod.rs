//! From drawn pictures to what a training step takes.

mod batch;
mod frozen;
mod loader;

pub use batch::{Batch, Truth};
pub use frozen::{Features, Frozen};
pub use loader::{PictureLoader, Pictures};
