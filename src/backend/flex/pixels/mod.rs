//! Pixels as kernels read them: [`planes`] of a tensor, or a [`tile`] of rows with several channels interleaved.

mod planes;
mod tile;

pub use planes::{Planes, with_contiguous_rows};
pub use tile::{LARGEST_TILE, LaneChannels, Rows, Tile, tile_capacity};
