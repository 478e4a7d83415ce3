//! A region on the host.

/// A region that was read to the host.
#[derive(Debug, Clone, PartialEq)]
pub struct Region {
    /// The index of its image in the batch.
    pub image: usize,
    /// The first four columns of its row, which are finite: its box, or its rotated box without the angle.
    pub corners: [f64; 4],
    /// The columns after them, which are finite: an angle, or offsets.
    pub rest: Box<[f64]>,
}
