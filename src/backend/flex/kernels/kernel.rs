//! What a task asks of a kernel.

use std::ops::Range;

use pulp::Simd;

use crate::backend::flex::dtype::Sum;
use crate::backend::flex::pixels::Rows;
use crate::geometry::plan::AxisPlan;

/// The window that some elements read.
pub struct Window<'a, R> {
    /// Rows of the map.
    pub rows: &'a R,
    /// The columns that are read.
    pub columns: Range<usize>,
}

/// How an output element is computed from what it reads.
pub trait Kernel<S: Sum>: Sync {
    /// The plan of an axis of a region, for all channels.
    type Plan: AxisPlan<S>;

    /// Whether it is also compiled for [`MORE_LANES`](crate::backend::flex::lanes::MORE_LANES), which costs compile
    /// time.
    const IN_MORE_LANES: bool = false;

    /// How many pixels of `along_y` a window of so many columns takes.
    fn pixels_along_y(columns: usize) -> usize;

    /// Computes `elements`, which are rows and columns of the output, in `L` channels. `plan` has the plans of y and of
    /// x, `window` is what they read, and `along_y` is memory.
    fn compute<const L: usize>(
        &self,
        simd: impl Simd,
        plan: [&Self::Plan; 2],
        elements: [Range<usize>; 2],
        window: Window<'_, impl Rows<S, L>>,
        along_y: &mut [[S; L]],
        output: &mut [[S; L]],
    );
}

/// How the pooled slices of a volume become its output.
pub trait AlongDepth<S: Sum>: Kernel<S> {
    /// Adds a slice to the elements of an output, one row for each element of `plan`.
    fn add_slice<const L: usize>(&self, plan: &Self::Plan, slice: usize, pooled: &[[S; L]], output: &mut [[S; L]]);

    /// Ends an output to which all slices were added.
    fn end<const L: usize>(&self, plan: &Self::Plan, output: &mut [[S; L]]);

    /// What the elements of an output are before a slice is added.
    fn start(&self) -> S;
}
