//! What a host executor needs of a region, made once and used for every channel.
//!
//! A [`Planner`] knows an operator and the map's size. For a region it plans a run of output elements of one axis, as
//! one of three kinds of [`AxisPlan`] that [`Planner::kind`] names:
//!
//! - [`Weights`] for averages: an element is a weighted sum of pixels.
//! - [`SampleTaps`] for maxima of samples: an element is the largest of several weighted sums of two pixels.
//! - [`PixelRanges`] for maxima of bins: an element is the largest of a range of pixels.
//!
//! The gradient of boxes takes two more, [`WeightSlopes`] and [`TapSlopes`]: how those weights move with the region.
//!
//! These operators are separable: their two axes are planned one by one. One that reads points is not, and a
//! [`PointPlanner`] plans its regions as [`PointWeights`], the weighted pixels of each element.

mod coordinate;
mod points;
mod rows;
mod slopes;

use std::ops::Range;

pub use coordinate::{Coordinate, Run};
pub use points::{ElementSpans, PointPart, PointPlanner, PointWeights, Span};
pub use rows::{PixelRanges, Read, SampleTaps, Taps, Weights, hull, pixel_count};
pub use slopes::{TapSlopes, WeightSlopes};

use super::operator::{ChannelMap, Elements, RegionOperator};

use super::options::{Reduction, Sampling};

/// A region as a host executor gets it.
#[derive(Debug, Clone, PartialEq)]
pub struct Region {
    /// The image it belongs to.
    pub image: usize,
    /// The first four columns of its row, which are finite: its box, without its angle where it has one.
    pub corners: [f64; 4],
    /// The columns after them, which are finite: an angle, or offsets.
    pub rest: Box<[f64]>,
}

/// The kind of plan that an operator takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanKind {
    /// [`Weights`].
    Weights,
    /// [`SampleTaps`].
    SampleTaps,
    /// [`PixelRanges`].
    PixelRanges,
}

/// What an element reads along one axis, for a run of elements.
pub trait AxisPlan<R: Coordinate>: Send + Sync {
    /// Plans `elements` of axis 0 (y) or 1 (x) for a region that ends at `ends`, in box coordinates.
    fn make(planner: &Planner<R>, axis: usize, ends: [R; 2], elements: Range<usize>) -> Self;

    /// How many elements it plans.
    fn count(&self) -> usize;

    /// The pixels that any of these elements reads.
    fn window_of(&self, elements: Range<usize>) -> Range<usize>;

    /// The pixels that any of the elements reads.
    fn window(&self) -> Range<usize> {
        self.window_of(0..self.count())
    }

    /// About how many numbers the plans of a region's two axes hold.
    #[cfg_attr(not(feature = "flex"), allow(dead_code))]
    fn size(planner: &Planner<R>) -> usize;
}

/// Why an axis planner never sees points.
pub const POINTS: &str = "an operator that reads points is planned by a planner of its own";

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
            (_, Elements::Points(_)) => unreachable!("{POINTS}"),
            (_, Elements::Integrals(_)) => unreachable!("an integral has no maximum"),
        }
    }

    /// Plans a run of elements of axis 0 (y) or 1 (x).
    pub fn axis<P: AxisPlan<R>>(&self, region: &Region, axis: usize, elements: Range<usize>) -> P {
        P::make(self, axis, self.ends(region, axis), elements)
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
    #[cfg_attr(not(feature = "flex"), allow(dead_code))]
    pub fn is_one_run(&self) -> bool {
        self.operator.channel_map == ChannelMap::Same
    }

    /// Height and width of the output.
    #[cfg_attr(not(feature = "flex"), allow(dead_code))]
    pub fn output_size(&self) -> [usize; 2] {
        self.operator.output_size
    }

    /// Height and width of the map.
    #[cfg_attr(not(feature = "flex"), allow(dead_code))]
    pub fn map(&self) -> [usize; 2] {
        self.map
    }

    /// What an element gives that reads no pixel.
    pub fn value_without_pixels(&self) -> f64 {
        self.operator.value_without_pixels()
    }

    /// What a maximum starts from.
    pub fn maximum_from(&self) -> R {
        R::maximum_from(&self.operator)
    }

    /// Whether the two pixels of a sample take part in a maximum one by one.
    fn splits_samples(&self) -> bool {
        self.operator.reduction == Reduction::MaxOfWeightedCorners
    }

    /// The least number of samples of an element along an axis.
    #[cfg_attr(not(feature = "flex"), allow(dead_code))]
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
