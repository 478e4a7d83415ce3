//! Pixels as kernels read them: [`planes`] of a tensor, or a [`tile`] of rows with several channels interleaved. A
//! [`source`] is either of them.

mod planes;
mod ring;
mod source;
mod tile;

pub use planes::{Planes, Rows, with_contiguous_rows};
pub use ring::Ring;
pub use source::{InLanes, OneByOne, Source};
pub use tile::{LARGEST_TILE, LaneChannels, Tile};
