//! The values of [`operator`](crate::geometry::operator) in the type of coordinates: what hosts plan with, and what
//! kernels are launched with.

#[cfg(feature = "cube")]
use cubecl::prelude::*;

use super::Real;
use super::area::AreaRule;
use super::bins::{self, BinRule};
use super::integrals::IntegralRule;
use super::points::{self, PointRule};
use super::samples::{self, SampleRule};
use crate::geometry::levels::AreaRange;
use crate::geometry::operator::{BinAxis, Elements, SampleAxis};
use crate::geometry::options::{Arithmetic, BinDivision, Bounds, BoxRounding, Interpolation, Sampling};
use crate::geometry::point_grid::{Placement, PointGrid};

/// Where the elements of both axes read.
#[cfg_attr(feature = "cube", derive(CubeType, CubeLaunch))]
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rules {
    /// At points between pixels, along y and along x.
    Samples(SampleRule, SampleRule),
    /// Whole pixels, along y and along x.
    Bins(BinRule, BinRule),
    /// Bins of the bilinear map, along y and along x.
    Integrals(IntegralRule, IntegralRule),
}

#[cfg(feature = "cube")]
impl Rules {
    /// From box coordinates to pixels of the map, along y and along x.
    pub fn spatial_scales(&self) -> [Real; 2] {
        match self {
            Self::Samples(y, x) => [y.spatial_scale, x.spatial_scale],
            Self::Bins(y, x) => [y.spatial_scale, x.spatial_scale],
            Self::Integrals(y, x) => [y.spatial_scale, x.spatial_scale],
        }
    }
}

/// Where the elements of an operator read on a map of this height and width. Points have a [`point_rule`] instead.
pub fn rules(elements: &Elements, [height, width]: [usize; 2]) -> Rules {
    match elements {
        Elements::Samples([y, x]) => Rules::Samples(sample_rule(y, height), sample_rule(x, width)),
        Elements::Bins([y, x]) => Rules::Bins(bin_rule(y), bin_rule(x)),
        Elements::Integrals(scales) => {
            let [y, x] = scales.map(|scale| IntegralRule {
                spatial_scale: scale as Real,
            });
            Rules::Integrals(y, x)
        }
        Elements::Points(_) => unreachable!("an operator that reads points has no axes"),
    }
}

pub fn area_rule(areas: &AreaRange) -> AreaRule {
    // Finite ends: some device compilers assume that there are no infinities.
    AreaRule {
        from: (areas.from as Real).min(Real::MAX),
        below: (areas.below as Real).min(Real::MAX),
    }
}

/// The least position in bounds, and how far below the map's size the greatest lies.
fn bounds(bounds: Bounds) -> (Real, Real) {
    match bounds {
        Bounds::OnePixelBeyond => (-1.0, 0.0),
        Bounds::HalfPixelBeyond => (-0.5, 0.5),
        Bounds::FirstToLastPixel => (0.0, 1.0),
    }
}

fn sample_rule(axis: &SampleAxis, size: usize) -> SampleRule {
    let (minimum_samples, maximum_samples) = match axis.sampling {
        Sampling::Fixed(samples) => (samples as Real, samples as Real),
        Sampling::Adaptive | Sampling::AdaptiveFloor => (0.0, samples::MOST_SAMPLES),
        Sampling::Clamped { minimum, maximum } => (minimum as Real, maximum as Real),
    };
    let (lower_bound, upper_margin) = bounds(axis.bounds);
    SampleRule {
        spatial_scale: axis.spatial_scale.on_map(size) as Real,
        box_offset: axis.box_offset as Real,
        end_offset: axis.end_offset as Real,
        input_pixel_offset: axis.input_pixel_offset as Real,
        output_pixel_offset: axis.output_pixel_offset as Real,
        sample_at_end: axis.sample_at_end.map_or(-1.0, |sample| sample as Real),
        minimum_length: axis.minimum_length.map_or(-Real::MAX, |length| length as Real),
        minimum_samples,
        maximum_samples,
        lower_bound,
        upper_margin,
        rounds_down: (axis.sampling == Sampling::AdaptiveFloor) as u32,
        align_corners: axis.align_corners as u32,
        arithmetic: match axis.arithmetic {
            Arithmetic::FromElements => samples::FROM_ELEMENTS,
            Arithmetic::FromElementsBySteps => samples::FROM_ELEMENTS_BY_STEPS,
            Arithmetic::FromRegionInElements => samples::FROM_REGION_IN_ELEMENTS,
            Arithmetic::FromRegion => samples::FROM_REGION,
            Arithmetic::FromRegionUnscaled => samples::FROM_REGION_UNSCALED,
        },
        interpolation: match (axis.interpolation, axis.half_up) {
            (Interpolation::Bilinear, _) => samples::BILINEAR,
            (Interpolation::Nearest, false) => samples::NEAREST_HALF_DOWN,
            (Interpolation::Nearest, true) => samples::NEAREST_HALF_UP,
        },
    }
}

fn bin_rule(axis: &BinAxis) -> BinRule {
    BinRule {
        spatial_scale: axis.spatial_scale as Real,
        end_offset: axis.end_offset as Real,
        end_pixels: axis.inclusive_end as i32,
        minimum_length: axis.minimum_length as Real,
        division: match (axis.rounding, axis.division) {
            (BoxRounding::BeforeScaling, _) => bins::ROUNDED_BEFORE_SCALING,
            (BoxRounding::Never, _) => bins::NOT_ROUNDED,
            (BoxRounding::AfterScaling, BinDivision::Whole) => bins::WHOLE,
            (BoxRounding::AfterScaling, BinDivision::Rounded) => bins::ROUNDED,
        },
        unread_pixels: !axis.reaches_last_pixel as u32,
    }
}

/// How the samples of a [`PointGrid`] are placed.
pub fn point_rule(grid: &PointGrid) -> PointRule {
    let [samples_y, samples_x] = grid.sampling.map(|sampling| match sampling {
        Sampling::Fixed(samples) => samples as u32,
        _ => 0,
    });
    let (lower_bound, upper_margin) = bounds(grid.bounds);
    let [parts_y, parts_x] = grid.parts().map(|parts| parts as u32);
    PointRule {
        placement: match grid.placement {
            Placement::Rotated { .. } => points::ROTATED,
            Placement::Offsets(_) => points::OFFSETS,
            Placement::OffsetsOfRoundedBox(_) => points::OFFSETS_OF_ROUNDED_BOX,
            Placement::SubCrops => points::SUB_CROPS,
        },
        spatial_scale: grid.spatial_scale as Real,
        input_pixel_offset: grid.input_pixel_offset as Real,
        minimum_length: grid.minimum_length.map_or(-Real::MAX, |length| length as Real),
        samples_y,
        samples_x,
        by_steps: (grid.arithmetic == Arithmetic::FromElementsBySteps) as u32,
        radians: match grid.placement {
            Placement::Rotated { radians } => radians as Real,
            _ => 0.0,
        },
        full_turn: match grid.placement {
            Placement::Rotated { radians } if radians.abs() != 1.0 => (std::f64::consts::TAU / radians.abs()) as Real,
            _ => 0.0,
        },
        offset_scale: grid.offset_scale() as Real,
        parts_y,
        parts_x,
        lower_bound,
        upper_margin,
        ignores_out_of_bounds: grid.ignores_out_of_bounds as u32,
    }
}
