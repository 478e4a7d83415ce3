//! Pixels as kernels read them, and memory for them and for the output.

mod aligned;
mod features;
mod output;
mod tile;

pub use aligned::AlignedPixels;
pub use features::{Features, with_contiguous_rows};
pub use output::zeros;
pub use tile::{LANES, LARGEST_TILE, LaneChannels, Rows, Tile, tile_capacity};
