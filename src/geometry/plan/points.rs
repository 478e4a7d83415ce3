//! The plan of a region whose elements read points: the weighted pixels of each element.

use std::ops::Range;

use super::{Coordinate, Region};
use crate::geometry::operator::{ChannelMap, Elements, RegionOperator};
use crate::geometry::point_grid::{PARAMETERS, Placement, PointGrid};

/// What the elements of a region read.
#[derive(Debug, Clone)]
pub struct PointWeights<R> {
    /// One for each group of channels that elements read, in the order of groups.
    pub parts: Vec<PointPart>,
    /// The spans of all elements, part after part.
    pub spans: Vec<Span>,
    /// The weights of all spans.
    pub weights: Vec<R>,
    /// For each weight, by how much it grows with the numbers of the region that its element moves with, in the order
    /// of [`PointPlanner::parameter_columns`]. Empty where only the weights are wanted.
    pub slopes: Vec<[R; PARAMETERS]>,
}

/// What elements read of one group of channels.
#[derive(Debug, Clone)]
pub struct PointPart {
    /// The number of the group.
    pub group: usize,
    /// Elements in the order of the output.
    pub elements: Range<usize>,
    /// Where the spans and the weights of the first of them begin.
    pub start: [usize; 2],
    /// Where the spans and the weights of each end.
    pub ends: Vec<[usize; 2]>,
    /// The rows and columns of all spans.
    pub window: [Range<usize>; 2],
}

/// Neighbouring pixels of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The row.
    pub row: u32,
    /// The first column.
    pub column: u32,
    /// How many pixels there are.
    pub count: u32,
}

/// What an element of a part reads.
pub struct ElementSpans<'a> {
    /// Its number in the order of the output.
    pub element: usize,
    /// The pixels.
    pub spans: &'a [Span],
    /// Where their weights lie.
    pub weights: Range<usize>,
}

impl Span {
    /// The columns.
    #[inline(always)]
    pub fn columns(&self) -> Range<usize> {
        self.column as usize..(self.column + self.count) as usize
    }
}

impl<R> PointWeights<R> {
    /// What each element of a part reads.
    #[inline(always)]
    pub fn elements<'a>(&'a self, part: &'a PointPart) -> impl Iterator<Item = ElementSpans<'a>> + 'a {
        let mut start = part.start;
        part.elements.clone().zip(&part.ends).map(move |(element, &end)| {
            let [spans, weights] = [0, 1].map(|list| start[list]..end[list]);
            start = end;
            ElementSpans {
                element,
                spans: &self.spans[spans],
                weights,
            }
        })
    }

    /// How many numbers it holds.
    #[cfg_attr(not(feature = "flex"), allow(dead_code))]
    pub fn size(&self) -> usize {
        3 * self.spans.len() + self.weights.len() + PARAMETERS * self.slopes.len()
    }
}

/// An operator that reads points, on maps of one size.
pub struct PointPlanner {
    operator: RegionOperator,
    grid: PointGrid,
    map: [usize; 2],
}

impl PointPlanner {
    /// An operator on maps `[height, width]`; none where it does not read points.
    pub fn new(operator: &RegionOperator, map: [usize; 2]) -> Option<Self> {
        let Elements::Points(grid) = operator.elements else {
            return None;
        };
        Some(Self {
            operator: *operator,
            grid,
            map,
        })
    }

    /// Plans a region, with slopes or without.
    pub fn plan<R: Coordinate>(&self, region: &Region, slopes: bool) -> PointWeights<R> {
        R::point_weights(&self.grid, &self.operator, self.map, region, slopes)
    }

    /// Whether the operator pools a region: whether its area is in the operator's range.
    pub fn pools<R: Coordinate>(&self, region: &Region) -> bool {
        let [left, top, right, bottom] = region.corners.map(R::from_f64);
        match self.grid.placement {
            Placement::Rotated { .. } => {
                R::in_range(&self.operator.areas, [R::default(), bottom], [R::default(), right])
            }
            _ => R::in_range(&self.operator.areas, [top, bottom], [left, right]),
        }
    }

    /// The columns of a region that an element moves with. Some are named twice, where there are fewer: their further
    /// slopes are 0.
    pub fn parameter_columns(&self, element: usize) -> [usize; PARAMETERS] {
        if let Placement::Rotated { .. } = self.grid.placement {
            return [0, 1, 2, 3, 4, 4];
        }
        let [_, columns] = self.operator.output_size;
        let place = [element / columns, element % columns];
        let [y, x] = self
            .grid
            .offset_columns(place, self.operator.output_size)
            .unwrap_or([0, 0]);
        [0, 1, 2, 3, y, x]
    }

    /// How many columns a region has.
    pub fn columns(&self) -> usize {
        self.grid.columns()
    }

    /// The channel of the features that the first of `channels` output channels reads in a group, and the distance to
    /// the next one's.
    #[cfg_attr(not(feature = "flex"), allow(dead_code))]
    pub fn channels_of_group(&self, group: usize, channels: usize) -> [usize; 2] {
        let elements = self.operator.output_size.iter().product();
        match self.operator.channel_map {
            ChannelMap::Same => [0, 1],
            ChannelMap::PositionSensitive => [group, elements],
            ChannelMap::SampleSensitive { .. } => [group * channels, 1],
        }
    }

    /// How many pixels the map has.
    #[cfg_attr(not(feature = "flex"), allow(dead_code))]
    pub fn map_pixels(&self) -> usize {
        self.map[0] * self.map[1]
    }

    /// How many groups of channels there are.
    #[cfg_attr(not(feature = "flex"), allow(dead_code))]
    pub fn groups(&self) -> usize {
        self.operator
            .channel_map
            .input_channels(self.operator.output_size.iter().product())
    }

    /// The gradient of a region's numbers, from the products of each weight's pixel and its element's gradient, summed
    /// over channels.
    pub fn region_gradient<R: Coordinate + Into<f64>>(&self, plan: &PointWeights<R>, products: &[f64]) -> Vec<f64> {
        let mut gradient = vec![0.0; self.columns()];
        for part in &plan.parts {
            for read in plan.elements(part) {
                let columns = self.parameter_columns(read.element);
                for weight in read.weights {
                    for (column, slope) in columns.into_iter().zip(plan.slopes[weight]) {
                        gradient[column] += products[weight] * slope.into();
                    }
                }
            }
        }
        gradient
    }
}
