//! Memory of copies and of outputs.
//!
//! - [`aligned`]: pixels that begin at a cache line; [`kept_tiles`] is the memory that each thread keeps for them.
//! - [`zeros`]: outputs and gradients; [`kept_outputs`] is the memory that the process keeps of dropped ones.

mod aligned;
pub mod kept_outputs;
mod kept_tiles;
mod zeros;

pub use aligned::AlignedPixels;
pub use kept_tiles::Kept;
pub use zeros::Memory;
