//! The planner of operators whose two axes are planned one by one.

use std::ops::Range;

use super::axis::{PixelRanges, SampleTaps, Weights, hull};
use super::coordinate::{AxisRun, Coordinate};
use super::region::Region;
use crate::geometry::operator::{ChannelMap, Elements, RegionOperator};
use crate::geometry::options::{Reduction, Sampling};

/// The kind of plan that an operator takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanKind {
    Weights,
    SampleTaps,
    PixelRanges,
}

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

/// An operator on maps of one size, for coordinates, weights and sums of type `R`.
pub struct Planner<R: Coordinate> {
    operator: RegionOperator,
    rules: R::Rules,
    /// Height and width of the map.
    map: [usize; 2],
}

impl<R: Coordinate> Planner<R> {
    /// An operator on maps `[height, width]`.
    pub fn new(operator: &RegionOperator, map: [usize; 2]) -> Self {
        Self {
            operator: *operator,
            rules: R::rules(&operator.elements, map),
            map,
        }
    }

    /// The kind of plan that the operator takes.
    pub fn kind(&self) -> PlanKind {
        match (self.operator.reduction, &self.operator.elements) {
            (Reduction::Average, _) => PlanKind::Weights,
            (_, Elements::Samples(_)) => PlanKind::SampleTaps,
            (_, Elements::Bins(_)) => PlanKind::PixelRanges,
            (_, Elements::Points(_) | Elements::Integrals(_)) => unreachable!("points and integrals have no maximum"),
        }
    }

    /// Whether the operator pools a region: whether its area is in the operator's range.
    pub fn pools(&self, region: &Region) -> bool {
        R::in_range(&self.operator.areas, self.ends(region, 0), self.ends(region, 1))
    }

    /// Which channels elements read.
    pub fn channel_map(&self) -> ChannelMap {
        self.operator.channel_map
    }

    /// The elements of axis 0 (y) or 1 (x) in runs that read the same channels.
    pub fn runs(&self, axis: usize) -> Vec<Range<usize>> {
        self.operator.channel_map.runs(self.operator.output_size[axis])
    }

    /// Whether all elements read the same channels.
    pub fn is_one_run(&self) -> bool {
        self.operator.channel_map == ChannelMap::Same
    }

    /// Height and width of the output.
    pub fn output_size(&self) -> [usize; 2] {
        self.operator.output_size
    }

    /// Height and width of the map.
    pub fn map(&self) -> [usize; 2] {
        self.map
    }

    /// The value of an element that reads no pixel.
    pub fn value_without_pixels(&self) -> f64 {
        self.operator.value_without_pixels()
    }

    /// What a maximum starts from.
    pub fn maximum_from(&self) -> R {
        R::maximum_from(&self.operator)
    }

    /// Elements of a region along axis 0 (y) or 1 (x), with derivatives or without.
    pub fn run(&self, region: &Region, axis: usize, elements: Range<usize>, slopes: bool) -> AxisRun<'_, R> {
        AxisRun {
            rules: &self.rules,
            axis,
            ends: self.ends(region, axis),
            elements: elements.start as u32..elements.end as u32,
            count: self.operator.output_size[axis] as u32,
            size: self.map[axis] as u32,
            splits_samples: self.splits_samples(),
            slopes,
            flat_on_pixels: self.operator.flat_on_pixels(),
        }
    }

    /// Whether the two pixels of a sample take part in a maximum one by one.
    fn splits_samples(&self) -> bool {
        self.operator.reduction == Reduction::MaxOfWeightedCorners
    }

    /// The least number of samples of an element along an axis.
    fn least_samples(&self) -> usize {
        match &self.operator.elements {
            Elements::Samples([y, _]) => match y.sampling {
                Sampling::Fixed(samples) => samples,
                Sampling::Adaptive | Sampling::AdaptiveFloor => 0,
                Sampling::Clamped { minimum, .. } => minimum,
            },
            Elements::Bins(_) | Elements::Integrals(_) | Elements::Points(_) => 0,
        }
    }

    /// Where a region starts and ends along an axis.
    fn ends(&self, region: &Region, axis: usize) -> [R; 2] {
        let columns = self.operator.box_format.columns()[axis];
        columns.map(|column| R::from_f64(region.corners[column]))
    }
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
        let ([rows, columns], [height, width]) = (planner.operator.output_size, planner.map);
        // Adaptive sampling takes at most two samples a pixel. A sample is four numbers, or eight if it is split.
        let samples = (rows + columns) * (planner.least_samples() + 1) + 2 * (height + width);
        4 * samples * (1 + planner.splits_samples() as usize)
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
