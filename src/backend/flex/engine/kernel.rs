//! What the engine asks of a kernel.

use std::ops::Range;

use crate::backend::flex::numbers::Sum;
use crate::backend::flex::pixels::Rows;
use crate::geometry::plan::AxisPlan;

/// How an output element is computed from what it reads.
pub trait Kernel<S: Sum>: Sync {
    /// What of a region's axis is common to its channels.
    type Plan: AxisPlan<S>;

    /// Computes `elements`, which are rows and columns of the output, in `L` channels. `plan` is that of y and of x,
    /// `columns` are those of their window, `along_y` has room for a row of it, and `rows` has its pixels.
    fn compute<const L: usize>(
        &self,
        plan: [&Self::Plan; 2],
        elements: [Range<usize>; 2],
        columns: Range<usize>,
        rows: &impl Rows<S, L>,
        along_y: &mut [[S; L]],
        output: &mut [[S; L]],
    );
}
