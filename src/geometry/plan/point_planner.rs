//! The planner of operators that read points.

use super::coordinate::Coordinate;
use super::points::PointWeights;
use super::region::Region;
use crate::geometry::operator::{ChannelMap, Elements, RegionOperator};
use crate::geometry::point_grid::{PARAMETERS, Placement, PointGrid};

/// An operator that reads points, on maps of one size.
pub struct PointPlanner {
    operator: RegionOperator,
    grid: PointGrid,
    map: [usize; 2],
}

impl PointPlanner {
    /// An operator on maps `[height, width]`; none if it does not read points.
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

    /// The columns of a region that hold the parameters of an element: its box, and the element's offset or the angle.
    /// If there are fewer, one column is repeated, and the derivative by its repetition is 0.
    pub fn parameter_columns(&self, element: usize) -> [usize; PARAMETERS] {
        if let Placement::Rotated { .. } = self.grid.placement {
            return [0, 1, 2, 3, 4, 4];
        }
        let [_, columns] = self.operator.output_size;
        let index = [element / columns, element % columns];
        let offset = self.grid.offset_columns(index, self.operator.output_size);
        let [y, x] = offset.unwrap_or([0, 0]);
        [0, 1, 2, 3, y, x]
    }

    pub fn columns(&self) -> usize {
        self.operator.region_kind().columns()
    }

    /// The channel of the features that the first of `channels` output channels reads in a group, and the stride to the
    /// channel of the next.
    pub fn channels_of_group(&self, group: usize, channels: usize) -> [usize; 2] {
        let elements = self.operator.output_size.iter().product();
        match self.operator.channel_map {
            ChannelMap::Same => [0, 1],
            ChannelMap::PositionSensitive => [group, elements],
            ChannelMap::SampleSensitive { .. } => [group * channels, 1],
        }
    }

    /// How many pixels the map has.
    pub fn map_pixels(&self) -> usize {
        self.map[0] * self.map[1]
    }

    /// How many groups of channels there are.
    pub fn groups(&self) -> usize {
        self.operator
            .channel_map
            .input_channels(self.operator.output_size.iter().product())
    }

    /// The gradient of a region's columns, from the product of each weight's pixel and its element's gradient, summed
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
