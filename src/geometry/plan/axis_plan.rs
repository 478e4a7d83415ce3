//! The kinds of plan of one axis.

use std::ops::Range;

use super::axis::{PixelRanges, SampleTaps, Weights, hull};
use super::planner::{AxisRun, Coordinate, Planner};

/// What an element reads along one axis, for a run of elements.
pub trait AxisPlan<R: Coordinate>: Send + Sync {
    /// Plans elements of a region, as [`Planner::run`] names them.
    fn make(run: &AxisRun<R>) -> Self;

    /// How many elements it plans.
    fn count(&self) -> usize;

    /// The pixels that any of these elements reads.
    fn window_of(&self, elements: Range<usize>) -> Range<usize>;

    /// The pixels that any of the elements reads.
    fn window(&self) -> Range<usize> {
        self.window_of(0..self.count())
    }

    /// About how many numbers the plans of a region's two axes hold.
    fn size(planner: &Planner<R>) -> usize;
}

impl<R: Coordinate> AxisPlan<R> for Weights<R> {
    fn make(run: &AxisRun<R>) -> Self {
        R::weights(run)
    }

    fn count(&self) -> usize {
        self.reads.len()
    }

    #[inline(always)]
    fn window_of(&self, elements: Range<usize>) -> Range<usize> {
        hull(self.reads[elements].iter().map(|read| read.pixels.clone()))
    }

    fn size(planner: &Planner<R>) -> usize {
        let ([rows, columns], [height, width]) = (planner.operator.output_size, planner.map);
        4 * (rows + columns) + height + width
    }
}

impl<R: Coordinate> AxisPlan<R> for SampleTaps<R> {
    fn make(run: &AxisRun<R>) -> Self {
        R::sample_taps(run)
    }

    fn count(&self) -> usize {
        self.samples.len()
    }

    fn window_of(&self, elements: Range<usize>) -> Range<usize> {
        let taps = self.elements(elements).flat_map(|(taps, _)| taps);
        hull(taps.map(|taps| taps.low..taps.high + 1))
    }

    fn size(planner: &Planner<R>) -> usize {
        // A sample is four numbers, or eight if it is split.
        4 * planner.most_samples() * (1 + planner.splits_samples() as usize)
    }
}

impl<R: Coordinate> AxisPlan<R> for PixelRanges {
    fn make(run: &AxisRun<R>) -> Self {
        R::pixel_ranges(run)
    }

    fn count(&self) -> usize {
        self.len()
    }

    #[inline(always)]
    fn window_of(&self, elements: Range<usize>) -> Range<usize> {
        hull(self[elements].iter().cloned())
    }

    fn size(planner: &Planner<R>) -> usize {
        let [rows, columns] = planner.operator.output_size;
        2 * (rows + columns)
    }
}
