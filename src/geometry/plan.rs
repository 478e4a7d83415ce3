//! What a host executor needs of a region, computed once and used for every channel.
//!
//! The vectors keep their capacity from one region to the next.

use std::ops::Range;

use super::convention::{AreaRange, AxisConvention, LevelConvention, RegionBins};

/// The type of coordinates, weights and sums: f32, or f64 for features of f64.
pub trait Coordinate: Copy + Send + Sync + PartialOrd + 'static {
    /// [`AxisConvention`] in this type.
    type AxisRule: Copy + Send + Sync;
    /// One axis of a [`RegionBins`] in this type.
    type BinRule: Copy + Send + Sync;
    /// [`AreaRange`] in this type.
    type AreaRule: Copy + Send + Sync;

    /// A convention in this type.
    fn axis_rule(convention: &AxisConvention) -> Self::AxisRule;

    /// A range of areas in this type.
    fn area_rule(areas: &AreaRange) -> Self::AreaRule;

    /// The bins of y and of x in this type.
    fn bin_rules(bins: &RegionBins) -> [Self::BinRule; 2];

    /// Whether the area of a box between `y` and `x` is in range.
    fn in_range(areas: &AreaRange, y: [Self; 2], x: [Self; 2]) -> bool;

    /// The least area whose box belongs to `level` or to a coarser one.
    fn least_area(convention: &LevelConvention, level: i32) -> Self;

    /// Plans an average along one axis, for a region that ends at `ends` on a map of `size` pixels.
    fn weigh(rule: &Self::AxisRule, ends: [Self; 2], elements: usize, size: usize, plan: &mut Weights<Self>);

    /// Plans a maximum over samples along one axis. Where `apart`, the two pixels of a sample count
    /// one by one.
    fn sample(
        rule: &Self::AxisRule,
        ends: [Self; 2],
        elements: usize,
        size: usize,
        apart: bool,
        plan: &mut Samples<Self>,
    );

    /// Plans quantized bins along one axis.
    fn bin(rule: &Self::BinRule, ends: [Self; 2], elements: usize, size: usize, plan: &mut Vec<Range<usize>>);
}

/// An average along one axis: the weights of a row of the sparse matrix `W` that turns pixels into
/// output elements.
#[derive(Debug, Clone, Default)]
pub struct Weights<R> {
    /// For each output element, the pixels it reads.
    pub pixels: Vec<Range<usize>>,
    /// The weights of all these pixels, element after element. They sum to `share`.
    pub weights: Vec<R>,
    /// For each output element, the share of its samples that are in bounds, 0 to 1.
    pub share: Vec<R>,
}

/// A maximum over samples along one axis.
#[derive(Debug, Clone, Default)]
pub struct Samples<R> {
    /// For each output element, its samples in bounds, as a range of `taps`.
    pub samples: Vec<Range<usize>>,
    /// Pixels and weights of all samples, element after element.
    pub taps: Vec<WeightedTaps<R>>,
    /// For each output element, whether all of its samples are in bounds.
    pub complete: Vec<bool>,
}

/// The two pixels of a sample and their weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WeightedTaps<R> {
    /// The first pixel.
    pub low: usize,
    /// The second pixel. Where it is the first one, as at the map's edge, it has no weight.
    pub high: usize,
    /// The weight of the first pixel.
    pub low_weight: R,
    /// The weight of the second pixel.
    pub high_weight: R,
}

impl<R> Weights<R> {
    /// The pixels that any element reads.
    pub fn window(&self) -> Range<usize> {
        hull(self.pixels.iter().cloned())
    }

    /// For each output element, the pixels it reads, their weights, and its share in bounds.
    pub fn elements(&self) -> impl Iterator<Item = (Range<usize>, &[R], &R)> {
        let mut rest = self.weights.as_slice();
        self.pixels.iter().zip(&self.share).map(move |(pixels, share)| {
            let (weights, after) = rest.split_at(pixels.len());
            rest = after;
            (pixels.clone(), weights, share)
        })
    }
}

impl<R> Samples<R> {
    /// The pixels that any sample reads.
    pub fn window(&self) -> Range<usize> {
        hull(self.taps.iter().map(|taps| taps.low..taps.high + 1))
    }

    /// For each output element, its samples in bounds, and whether these are all.
    #[cfg_attr(not(feature = "flex"), allow(dead_code))]
    pub fn elements(&self) -> impl Iterator<Item = (&[WeightedTaps<R>], bool)> {
        self.samples
            .iter()
            .zip(&self.complete)
            .map(|(samples, complete)| (&self.taps[samples.clone()], *complete))
    }
}

/// The least range that holds all of these; empty ones don't count.
pub fn hull(ranges: impl Iterator<Item = Range<usize>>) -> Range<usize> {
    ranges
        .filter(|range| !range.is_empty())
        .reduce(|all, range| all.start.min(range.start)..all.end.max(range.end))
        .unwrap_or(0..0)
}
