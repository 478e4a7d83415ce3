//! The planner of an operator's regions, and the two types that it plans in.

use std::cmp::Ordering;
use std::ops::Range;

use super::axis::{PixelRanges, SampleTaps, Weights};
use super::group::ChannelGroup;
use super::points::PointWeights;
use super::region::Region;
use crate::geometry::levels::{AreaRange, LevelRule};
use crate::geometry::operator::{Elements, RegionKind, RegionOperator};
use crate::geometry::options::{Reduction, Sampling};
use crate::geometry::point_grid::{PARAMETERS, Placement};

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

/// The kind of plan that an operator takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanKind {
    Weights,
    SampleTaps,
    PixelRanges,
    Points,
}

/// The values of an operator that come from no pixel.
#[derive(Debug, Clone, Copy)]
pub struct Values<R> {
    /// What a maximum starts from.
    pub start: R,
    /// The value of an element that reads no pixel, and of a sample out of bounds.
    pub outside: R,
}

/// An operator on features of one shape, for coordinates, weights and sums of type `R`.
pub struct Planner<R: Coordinate> {
    pub operator: RegionOperator,
    /// Height and width of the map.
    pub map: [usize; 2],
    pub groups: Vec<ChannelGroup>,
    /// On volumes, the operator along the depth, on maps whose rows are the pooled slices of a region.
    pub along_depth: Option<Box<Self>>,
    /// Where the elements of both axes read; none for points.
    rules: Option<R::Rules>,
}

impl<R: Coordinate> Planner<R> {
    /// An operator on features `[N, C, H, W]`.
    pub fn new(operator: &RegionOperator, [_, channels, height, width]: [usize; 4]) -> Self {
        let map = [height, width];
        let output_channels = operator.channel_map.output_channels(channels, operator.output_size);
        let output_channels = output_channels.expect("the channels were checked to divide");
        Self {
            operator: *operator,
            map,
            groups: ChannelGroup::all(operator, output_channels),
            along_depth: None,
            rules: match operator.elements {
                Elements::Points(_) => None,
                elements => Some(R::rules(&elements, map)),
            },
        }
    }

    /// The operators of slices and along the depth, on volumes `[N, C * D, H, W]` whose pooled slices are
    /// `[K, C, D, Q * R]`. The `rest` of a region is z1 and z2.
    pub fn of_volumes([slices, along_depth]: [&RegionOperator; 2], [features, pooled]: [[usize; 4]; 2]) -> Self {
        Self {
            groups: ChannelGroup::of_slices(slices.output_size, pooled[2]),
            along_depth: Some(Box::new(Self::new(along_depth, pooled))),
            ..Self::new(slices, features)
        }
    }

    /// The kind of plan that the operator takes.
    pub fn kind(&self) -> PlanKind {
        match (&self.operator.elements, self.operator.reduction) {
            (Elements::Points(_), _) => PlanKind::Points,
            (_, Reduction::Average) => PlanKind::Weights,
            (Elements::Samples(_), _) => PlanKind::SampleTaps,
            (Elements::Bins(_), _) => PlanKind::PixelRanges,
            (Elements::Integrals(_), _) => unreachable!("integrals have no maximum"),
        }
    }

    /// Whether the operator pools a region: whether its area is in the operator's range.
    pub fn pools(&self, region: &Region) -> bool {
        let [y, x] = match self.operator.region_kind() {
            RegionKind::Rotated => [3, 2].map(|size| [R::default(), R::from_f64(region.corners[size])]),
            RegionKind::Box | RegionKind::Offsets(_) => [0, 1].map(|axis| self.ends(region, axis)),
        };
        R::in_range(&self.operator.areas, y, x)
    }

    /// The values of the operator that come from no pixel.
    pub fn values(&self) -> Values<R> {
        Values {
            start: R::maximum_from(&self.operator),
            outside: R::from_f64(self.operator.value_without_pixels()),
        }
    }

    /// Elements of a region along axis 0 (y) or 1 (x), with derivatives or without.
    pub fn run(&self, region: &Region, axis: usize, elements: Range<usize>, slopes: bool) -> AxisRun<'_, R> {
        AxisRun {
            rules: self.rules.as_ref().expect("an operator that reads points has no axes"),
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

    /// How many columns a region has.
    pub fn columns(&self) -> usize {
        self.operator.region_kind().columns()
    }

    /// The columns of a region that hold the parameters of an element that reads points: its box, and the element's
    /// offset or the angle. If there are fewer, one column is repeated, and the derivative by its repetition is 0.
    pub fn parameter_columns(&self, element: usize) -> [usize; PARAMETERS] {
        let output_size = self.operator.output_size;
        let index = [element / output_size[1], element % output_size[1]];
        let [y, x] = match &self.operator.elements {
            Elements::Points(grid) if matches!(grid.placement, Placement::Rotated { .. }) => [4, 4],
            Elements::Points(grid) => grid.offset_columns(index, output_size).unwrap_or([0, 0]),
            _ => unreachable!("only elements that read points have parameters"),
        };
        [0, 1, 2, 3, y, x]
    }

    /// The gradient of a region's columns, from the product of each weight's pixel and its element's gradient, summed
    /// over channels.
    pub fn region_gradient(&self, plan: &PointWeights<R>, products: &[f64]) -> Vec<f64>
    where
        R: Into<f64>,
    {
        let mut gradient = vec![0.0; self.columns()];
        for read in self.groups.iter().flat_map(|group| plan.elements(group)) {
            let columns = self.parameter_columns(read.element);
            for weight in read.weights {
                for (column, slope) in columns.into_iter().zip(plan.slopes[weight]) {
                    gradient[column] += products[weight] * slope.into();
                }
            }
        }
        gradient
    }

    /// Whether the two pixels of a sample take part in a maximum one by one.
    pub(super) fn splits_samples(&self) -> bool {
        self.operator.reduction == Reduction::MaxOfWeightedCorners
    }

    /// The most samples of a region along both axes. Adaptive sampling takes at most two samples a pixel.
    pub(super) fn most_samples(&self) -> usize {
        let elements: usize = self.operator.output_size.iter().sum();
        let adaptive = |least: usize| elements * (least + 1) + 2 * self.map.iter().sum::<usize>();
        match &self.operator.elements {
            Elements::Samples([y, _]) => match y.sampling {
                Sampling::Fixed(samples) => elements * samples,
                Sampling::Adaptive | Sampling::AdaptiveFloor => adaptive(0),
                Sampling::Clamped { minimum, .. } => adaptive(minimum),
            },
            Elements::Bins(_) | Elements::Integrals(_) | Elements::Points(_) => 0,
        }
    }

    /// Compares the places of two regions: first their images, then about how far they are from the top.
    pub fn compare_places(&self, first: &Region, second: &Region) -> Ordering {
        let top = |region: &Region| region.corners[self.operator.box_format.columns()[0][0]];
        let images = first.image.cmp(&second.image);
        images.then_with(|| top(first).total_cmp(&top(second)))
    }

    /// Where a region starts and ends along an axis.
    fn ends(&self, region: &Region, axis: usize) -> [R; 2] {
        let columns = self.operator.box_format.columns()[axis];
        columns.map(|column| R::from_f64(region.corners[column]))
    }
}
