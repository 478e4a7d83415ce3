//! How the kernels share their work, and what they pass to each other.

/// The number of units in a cube.
pub const UNITS: usize = 256;

/// The number of boxes whose suppression one cube resolves.
pub const BLOCK: usize = 1024;

/// The number of words with a bit for each box of a block.
pub const WORDS: usize = BLOCK / 32;

/// The number of coordinates of a box of two or three axes, and its area or volume.
pub const fn values_of(axes: usize) -> usize {
    2 * axes + 1
}

/// The index of a box, of at most [`MOST_BOXES`](crate::suppression::on_device::MOST_BOXES), has none of these bits.
pub const SUPPRESSED: u32 = 1 << 31;
/// A box for which the kernels don't have the host's result.
pub const UNUSUAL: u32 = 1 << 30;
