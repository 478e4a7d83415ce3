//! The types that coordinates, weights and sums have.

use std::ops::Range;

use super::axis::{PixelRanges, SampleTaps, Weights};
use super::planner::Planner;
use super::points::PointWeights;
use super::region::Region;
use crate::geometry::levels::{AreaRange, LevelRule};
use crate::geometry::operator::{Elements, RegionOperator};

/// The type of coordinates, weights and sums: f32, or f64 for features of f64.
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
    fn weights(run: &AxisRun<Self>) -> Weights<Self>;

    /// Plans a maximum over samples.
    fn sample_taps(run: &AxisRun<Self>) -> SampleTaps<Self>;

    /// Plans a maximum over bins.
    fn pixel_ranges(run: &AxisRun<Self>) -> PixelRanges;

    /// Plans a region whose elements read points, with the slopes of weights or without.
    fn point_weights(planner: &Planner<Self>, region: &Region, slopes: bool) -> PointWeights<Self>;
}

/// A run of the output elements of a region along one axis.
pub struct AxisRun<'a, R: Coordinate> {
    /// Where elements read.
    pub rules: &'a R::Rules,
    /// 0 for y, 1 for x.
    pub axis: usize,
    /// Where the region starts and ends, in box coordinates.
    pub ends: [R; 2],
    /// The elements of the run.
    pub elements: Range<u32>,
    /// How many elements the whole axis has.
    pub count: u32,
    /// How many pixels the map has along the axis.
    pub size: u32,
    /// Whether the two pixels of a sample take part in a maximum one by one.
    pub splits_samples: bool,
    /// Whether derivatives are planned too.
    pub slopes: bool,
    /// Whether a sample on a pixel has no slope, rather than the slope towards the next pixel.
    pub flat_on_pixels: bool,
}
