//! Pixels as kernels read them, and memory for them and for the output.

mod aligned;
mod features;
mod kept;
mod output;
pub mod pool;
mod stream;
mod tile;

pub use aligned::AlignedPixels;
pub use features::{Features, with_contiguous_rows};
pub use kept::Kept;
pub use output::{Memory, output, output_of, zeros};
pub use stream::{Stream, pays_to_stream};
pub use tile::{LANES, LARGEST_TILE, LaneChannels, MORE_LANES, Rows, Tile, tile_capacity};
