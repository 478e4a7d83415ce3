//! Options that a client sends: an operator is accepted if the config of some operator gives it, after that config's
//! own checks.

use thiserror::Error;

use crate::error::RoiError;
use crate::geometry::angle::{AngleConvention, AngleUnit, RotationDirection};
use crate::geometry::operator::{ChannelMap, Elements, RegionOperator, SampleAxis, SpatialScale};
use crate::geometry::options::{MaximumFrom, Reduction, Sampling};
use crate::geometry::point_grid::{Placement, PointGrid};
use crate::ops::operator_config::ToRegionOperator;
use crate::ops::options;
use crate::ops::volume::operators::{columns_of_bins, columns_of_samples};
use crate::{
    CropAndResizeConfig, DeformPsRoiPoolConfig, DeformRoiPoolConfig, PrRoiPoolConfig, PsCropAndResizeConfig,
    PsRoiPoolConfig, RoiAlignConfig, RoiAlignRotatedConfig, RoiPoolConfig,
};

/// Why options are refused.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum WrongOptions {
    /// An option is out of its range.
    #[error(transparent)]
    Range(#[from] RoiError),
    /// No config gives such an operator.
    #[error("the message describes an operator that no config of burn-roi gives: {operator}")]
    NoConfig { operator: String },
}

/// Checks an operator that may hold any values.
pub fn check(operator: &RegionOperator) -> Result<(), WrongOptions> {
    let areas = operator.areas;
    let plain = of_maps(operator)?;
    let same = of_config(&plain).transpose()?.is_some_and(|expected| {
        plain
            == RegionOperator {
                areas,
                channel_map: channel_map(&plain, &expected),
                ..expected
            }
    });
    // Also false where a bound is NaN.
    if same && areas.from >= 0.0 && areas.below >= 0.0 {
        return Ok(());
    }
    Err(WrongOptions::NoConfig {
        operator: format!("{operator:?}"),
    })
}

/// The operator of maps that has the options of an operator of volumes: that of slices can take another number of
/// samples along x, and that along the depth keeps columns.
fn of_maps(operator: &RegionOperator) -> Result<RegionOperator, RoiError> {
    let mut plain = *operator;
    let keeps_columns = match &mut plain.elements {
        Elements::Samples([y, x]) if operator.reduction == Reduction::Average => {
            let keeps_columns = *x == columns_of_samples(y);
            options::sampling("sampling", x.sampling)?;
            match keeps_columns {
                true => *x = *y,
                false => x.sampling = y.sampling,
            }
            keeps_columns
        }
        Elements::Bins([y, x]) if *x == columns_of_bins() => {
            *x = *y;
            true
        }
        _ => false,
    };
    if keeps_columns {
        options::output_size("output_size", operator.output_size)?;
        plain.output_size = [operator.output_size[0]; 2];
    }
    Ok(plain)
}

/// An average of samples can be position-sensitive, as `ps_roi_align` is. Elsewhere the config decides.
fn channel_map(operator: &RegionOperator, expected: &RegionOperator) -> ChannelMap {
    let samples = matches!(operator.elements, Elements::Samples(_));
    let plain = operator.out_of_bounds_value == 0.0 && operator.reduction == Reduction::Average;
    match operator.channel_map {
        ChannelMap::PositionSensitive if samples && plain => ChannelMap::PositionSensitive,
        _ => expected.channel_map,
    }
}

/// The operator of the config whose values these are, if there is such a config.
fn of_config(operator: &RegionOperator) -> Option<Result<RegionOperator, RoiError>> {
    let size = operator.output_size;
    Some(match &operator.elements {
        Elements::Samples([y, x]) => return of_samples(operator, y, x),
        Elements::Bins([y, x]) if operator.reduction == Reduction::Max => RoiPoolConfig::new(size)
            .with_spatial_scale_y(y.spatial_scale)
            .with_spatial_scale_x(x.spatial_scale)
            .with_rounding(y.rounding)
            .with_division(y.division)
            .with_maximum_from(maximum_from(operator))
            .with_minimum_length(Some(y.minimum_length))
            .operator(false),
        Elements::Bins([axis, _]) => PsRoiPoolConfig::new(size)
            .with_spatial_scale(axis.spatial_scale)
            .with_rounding(axis.rounding)
            .with_end_offset(axis.end_offset)
            .with_inclusive_end(axis.inclusive_end)
            .with_minimum_length(Some(axis.minimum_length))
            .with_reaches_last_pixel(axis.reaches_last_pixel)
            .with_gradient_reaches_last_pixel(axis.gradient_reaches_last_pixel)
            .operator(false),
        &Elements::Integrals([scale, _]) => PrRoiPoolConfig::new(size).with_spatial_scale(scale).operator(false),
        Elements::Points(grid) => return of_points(size, grid),
    })
}

/// Where nothing else is equal, the operator is none of the config.
fn maximum_from(operator: &RegionOperator) -> MaximumFrom {
    let same = |from: &MaximumFrom| from.number() == operator.maximum_from;
    MaximumFrom::ALL
        .into_iter()
        .find(same)
        .unwrap_or(MaximumFrom::LeastSingle)
}

fn of_samples(operator: &RegionOperator, y: &SampleAxis, x: &SampleAxis) -> Option<Result<RegionOperator, RoiError>> {
    let size = operator.output_size;
    Some(match (y.spatial_scale, x.spatial_scale) {
        (SpatialScale::Times(scale_y), SpatialScale::Times(scale_x)) => RoiAlignConfig::new(size)
            .with_spatial_scale_y(scale_y)
            .with_spatial_scale_x(scale_x)
            .with_sampling(y.sampling)
            .with_interpolation(y.interpolation)
            .with_reduction(operator.reduction)
            .with_box_offset(y.box_offset)
            .with_end_offset(y.end_offset)
            .with_input_pixel_offset(y.input_pixel_offset)
            .with_output_pixel_offset(y.output_pixel_offset)
            .with_out_of_bounds_value(operator.out_of_bounds_value)
            .with_align_corners(y.align_corners)
            .with_minimum_length(y.minimum_length)
            .with_arithmetic(y.arithmetic)
            .operator(false),
        (SpatialScale::Normalized, SpatialScale::Normalized) => CropAndResizeConfig::new(size)
            .with_method(y.interpolation)
            .with_extrapolation_value(operator.out_of_bounds_value)
            .with_box_format(operator.box_format)
            .with_ends_exactly(y.sample_at_end.is_some() || x.sample_at_end.is_some())
            .operator(false),
        _ => return None,
    })
}

fn of_points(size: [usize; 2], grid: &PointGrid) -> Option<Result<RegionOperator, RoiError>> {
    let scale = grid.spatial_scale;
    Some(match grid.placement {
        Placement::Rotated { radians } => RoiAlignRotatedConfig::new(size)
            .with_spatial_scale(scale)
            .with_sampling(grid.sampling[0])
            .with_aligned(grid.minimum_length.is_none())
            .with_angle(angle(radians)?)
            .with_arithmetic(grid.arithmetic)
            .operator(false),
        Placement::Offsets(offsets) => DeformRoiPoolConfig::new(size)
            .with_spatial_scale(scale)
            .with_sampling(grid.sampling[0])
            .with_gamma(offsets.scale)
            .operator(offsets.parts.is_some()),
        // The operator holds no number of output channels: the features decide it.
        Placement::OffsetsOfRoundedBox(offsets) => DeformPsRoiPoolConfig::new(size, 1)
            .with_spatial_scale(scale)
            .with_samples(fixed(grid.sampling)?)
            .with_offset_scale(offsets.scale)
            .with_part_size(offsets.parts.unwrap_or([1, 1]))
            .operator(offsets.parts.is_some()),
        Placement::SubCrops => PsCropAndResizeConfig::new(size, fixed(grid.sampling)?)
            .with_spatial_scale(scale)
            .operator(false),
    })
}

fn fixed(sampling: [Sampling; 2]) -> Option<[usize; 2]> {
    match sampling {
        [Sampling::Fixed(y), Sampling::Fixed(x)] => Some([y, x]),
        _ => None,
    }
}

/// The convention of so many radians per unit of the angle.
fn angle(radians: f64) -> Option<AngleConvention> {
    let units = [AngleUnit::Degrees, AngleUnit::Radians];
    let directions = [RotationDirection::CounterClockwise, RotationDirection::Clockwise];
    let conventions = units
        .into_iter()
        .flat_map(|unit| directions.map(|direction| AngleConvention { unit, direction }));
    conventions
        .into_iter()
        .find(|convention| convention.in_radians() == radians)
}
