//! What a unit computes and reads. A file uses those above it in this list.
//!
//! - [`plan`]: how elements read, as an argument of kernels, and what of it is compiled in.
//! - [`region`] and [`point_region`]: a region as a kernel reads it.
//! - [`channels`]: how channels are divided into blocks; [`element`]: the output element of a unit; [`blocks`]: the
//!   results of the blocks that a unit computes together.
//! - [`square`]: the four pixels of a sample.
//! - [`winner`]: where a maximum was read, for both gradients.

pub mod blocks;
pub mod channels;
pub mod element;
pub mod plan;
pub mod point_region;
pub mod region;
pub mod square;
pub mod winner;
