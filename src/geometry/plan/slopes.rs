//! Plans of the gradient of boxes: how weights move with the ends of a region along one axis.

use std::ops::Range;

use super::rows::run;
use super::{AxisPlan, Coordinate, Planner, SampleTaps, Weights};

/// An average along one axis, and how its weights move.
#[derive(Debug, Clone)]
pub struct WeightSlopes<R> {
    /// The weights.
    pub weights: Weights<R>,
    /// By how much each of `weights.weights` grows as the low end of the region grows by 1, in box coordinates, and as
    /// its high end does.
    pub slopes: [Vec<R>; 2],
}

/// A maximum over samples along one axis, and how the weights of samples move.
#[derive(Debug, Clone)]
pub struct TapSlopes<R> {
    /// The samples.
    pub samples: SampleTaps<R>,
    /// For each of `samples.taps`, how its two weights grow with its position.
    pub by_position: Vec<[R; 2]>,
    /// For each of `samples.taps`, by how much its position grows as the low end of the region grows by 1, and as its
    /// high end does.
    pub movement: Vec<[R; 2]>,
}

impl<R: Coordinate> AxisPlan<R> for WeightSlopes<R> {
    fn make(planner: &Planner<R>, axis: usize, ends: [R; 2], elements: Range<usize>) -> Self {
        let flat = planner.operator.flat_on_pixels();
        R::weight_slopes(&planner.rules, axis, ends, run(planner, axis, elements), flat)
    }

    fn count(&self) -> usize {
        self.weights.count()
    }

    fn window_of(&self, elements: Range<usize>) -> Range<usize> {
        self.weights.window_of(elements)
    }

    fn size(planner: &Planner<R>) -> usize {
        3 * Weights::size(planner)
    }
}

impl<R: Coordinate> AxisPlan<R> for TapSlopes<R> {
    fn make(planner: &Planner<R>, axis: usize, ends: [R; 2], elements: Range<usize>) -> Self {
        let flat = planner.operator.flat_on_pixels();
        let run = run(planner, axis, elements);
        R::tap_slopes(&planner.rules, axis, ends, run, planner.splits_samples(), flat)
    }

    fn count(&self) -> usize {
        self.samples.count()
    }

    fn window_of(&self, elements: Range<usize>) -> Range<usize> {
        self.samples.window_of(elements)
    }

    fn size(planner: &Planner<R>) -> usize {
        2 * SampleTaps::size(planner)
    }
}
