//! What the file of an operator imports: the macros that declare it, the checks of its options, and the values that it
//! is made of.

pub(super) use super::module::operator;
pub(super) use super::operator_config::ToRegionOperator;
pub(super) use super::options;
pub(super) use crate::config::config;
pub(super) use crate::error::RoiError;
pub(super) use crate::geometry::angle::AngleConvention;
pub(super) use crate::geometry::operator::{BinAxis, ChannelMap, Elements, RegionOperator, SampleAxis, SpatialScale};
pub(super) use crate::geometry::options::{
    Arithmetic, BinDivision, Bounds, BoxFormat, BoxRounding, Interpolation, MaximumFrom, Reduction, Sampling,
};
pub(super) use crate::geometry::point_grid::{Offsets, Placement, PointGrid};
pub(super) use crate::regions::{Rois, Rois3d, RotatedRois};
