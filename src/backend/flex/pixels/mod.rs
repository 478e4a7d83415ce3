//! Pixels as kernels read them: [`planes`] of a tensor, or a [`tile`] of rows with several channels interleaved.

mod planes;
mod ring;
mod tile;

pub use planes::{Planes, Rows, with_contiguous_rows};
pub use ring::Ring;
pub use tile::{LARGEST_TILE, LaneChannels, Tile};
