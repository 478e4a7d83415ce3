//! What all operators that read points have in common.

use crate::geometry::levels::AreaRange;
use crate::geometry::operator::{ChannelMap, Elements, RegionOperator};
use crate::geometry::options::{BoxFormat, Reduction};
use crate::geometry::point_grid::PointGrid;

/// An operator that averages points.
pub fn average(output_size: [usize; 2], grid: PointGrid, channel_map: ChannelMap) -> RegionOperator {
    RegionOperator {
        output_size,
        elements: Elements::Points(grid),
        reduction: Reduction::Average,
        out_of_bounds_value: 0.0,
        maximum_from: f64::NEG_INFINITY,
        box_format: BoxFormat::Xyxy,
        channel_map,
        areas: AreaRange::ALL,
    }
}
