//! The types that coordinates, weights and sums have.

use std::ops::Range;

use super::{PixelRanges, PointWeights, Region, SampleTaps, TapSlopes, WeightSlopes, Weights};
use crate::geometry::levels::{AreaRange, LevelRule};
use crate::geometry::operator::{Elements, RegionOperator};
use crate::geometry::point_grid::PointGrid;

/// The type of coordinates, weights and sums: f32, or f64 for features of f64.
///
/// Plans are for axis 0 (y) or 1 (x) of a region that ends at `ends`, in box coordinates.
pub trait Coordinate: Copy + Default + Send + Sync + PartialOrd + 'static {
    /// [`Elements`] in this type.
    type Rules: Copy + Send + Sync;

    /// A value of an option, rounded to this type.
    fn from_f64(value: f64) -> Self;

    /// Where elements read on a map of this height and width, in this type.
    fn rules(elements: &Elements, map: [usize; 2]) -> Self::Rules;

    /// What a maximum of an operator starts from, in this type.
    fn maximum_from(operator: &RegionOperator) -> Self;

    /// Whether the area of a box between `y` and `x` is in range.
    fn in_range(areas: &AreaRange, y: [Self; 2], x: [Self; 2]) -> bool;

    /// The least area whose box belongs to `level` or to a coarser one.
    fn least_area(rule: &LevelRule, level: i32) -> Self;

    /// Plans an average.
    fn weights(rules: &Self::Rules, axis: usize, ends: [Self; 2], run: Run) -> Weights<Self>;

    /// Plans a maximum over samples. Where `split`, the two pixels of a sample take part one by one.
    fn sample_taps(rules: &Self::Rules, axis: usize, ends: [Self; 2], run: Run, split: bool) -> SampleTaps<Self>;

    /// Plans a maximum over bins.
    fn pixel_ranges(rules: &Self::Rules, axis: usize, ends: [Self; 2], run: Run) -> PixelRanges;

    /// Plans an average, and how its weights move with the region. Where `flat_on_pixels`, a sample on a pixel does not
    /// move towards the next.
    fn weight_slopes(
        rules: &Self::Rules,
        axis: usize,
        ends: [Self; 2],
        run: Run,
        flat_on_pixels: bool,
    ) -> WeightSlopes<Self>;

    /// Plans a maximum over samples, and how the weights of samples move with the region.
    fn tap_slopes(
        rules: &Self::Rules,
        axis: usize,
        ends: [Self; 2],
        run: Run,
        split: bool,
        flat_on_pixels: bool,
    ) -> TapSlopes<Self>;

    /// Plans a region whose elements read points, with slopes or without. It is for the whole region, on a map
    /// `[height, width]`.
    fn point_weights(
        grid: &PointGrid,
        operator: &RegionOperator,
        map: [usize; 2],
        region: &Region,
        slopes: bool,
    ) -> PointWeights<Self>;
}

/// A run of the output elements of an axis.
#[derive(Debug, Clone)]
pub struct Run {
    /// The elements of the run.
    pub elements: Range<u32>,
    /// How many elements the whole axis has.
    pub count: u32,
    /// How many pixels the map has along the axis.
    pub size: u32,
}
