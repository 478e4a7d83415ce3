//! Reading the configs of operators from bytes.

use arbitrary::Result;
use burn_roi::*;

use super::bytes::{Bytes, rarely};
use crate::problem::Operator;

pub fn operator(bytes: &mut Bytes) -> Result<Operator> {
    Ok(match bytes.int_in_range(0..=5)? {
        0u8 => Operator::RoiPool(
            RoiPoolConfig::new(output_size(bytes)?)
                .with_spatial_scale_y(scale(bytes)?)
                .with_spatial_scale_x(scale(bytes)?)
                .with_division(*bytes.choose(&[BinDivision::Whole, BinDivision::Rounded])?),
        ),
        1 => Operator::CropAndResize(
            CropAndResizeConfig::new(output_size(bytes)?)
                .with_method(interpolation(bytes)?)
                .with_extrapolation_value(value(bytes)?),
        ),
        _ => Operator::RoiAlign(roi_align(bytes)?),
    })
}

fn roi_align(bytes: &mut Bytes) -> Result<RoiAlignConfig> {
    let output_size = output_size(bytes)?;
    Ok(RoiAlignConfig::new(output_size)
        .with_spatial_scale_y(scale(bytes)?)
        .with_spatial_scale_x(scale(bytes)?)
        .with_sampling(sampling(bytes)?)
        .with_interpolation(interpolation(bytes)?)
        .with_reduction(*bytes.choose(&[
            Reduction::Average,
            Reduction::Average,
            Reduction::Max,
            Reduction::MaxFromZero,
            Reduction::MaxOfWeightedCorners,
        ])?)
        .with_box_offset(offset(bytes)?)
        .with_input_pixel_offset(offset(bytes)?)
        .with_output_pixel_offset(output_offset(bytes)?)
        .with_out_of_bounds_value(value(bytes)?)
        .with_align_corners(bytes.arbitrary()?)
        .with_minimum_length(bytes.arbitrary::<bool>()?.then_some(1.0))
        .with_arithmetic(*bytes.choose(&[
            Arithmetic::FromElements,
            Arithmetic::FromElementsBySteps,
            Arithmetic::FromRegion,
            Arithmetic::FromRegionUnscaled,
        ])?))
}

fn interpolation(bytes: &mut Bytes) -> Result<Interpolation> {
    Ok(*bytes.choose(&[Interpolation::Bilinear, Interpolation::Nearest])?)
}

fn output_size(bytes: &mut Bytes) -> Result<[usize; 2]> {
    if rarely(bytes)? {
        let side = *bytes.choose(&[0, 32_768, usize::MAX])?;
        return Ok(if bytes.arbitrary()? { [side, 2] } else { [3, side] });
    }
    Ok(match bytes.int_in_range(0..=63)? {
        // Large enough for threads.
        0u8 => [40, 33],
        _ => [bytes.int_in_range(1..=6)?, bytes.int_in_range(1..=6)?],
    })
}

fn sampling(bytes: &mut Bytes) -> Result<Sampling> {
    let careless = bytes.careless;
    Ok(match bytes.int_in_range(0..=7)? {
        0..=2u8 => Sampling::Adaptive,
        3 if careless => Sampling::Fixed(*bytes.choose(&[0, 1025, usize::MAX])?),
        4 if careless => Sampling::Clamped {
            minimum: *bytes.choose(&[0, 1, 7, 1025])?,
            maximum: *bytes.choose(&[0, 1, 7, usize::MAX])?,
        },
        3 => Sampling::Fixed(*bytes.choose(&[1, 12, 30])?),
        4 => Sampling::Clamped {
            minimum: *bytes.choose(&[1, 3, 7])?,
            maximum: *bytes.choose(&[7, 20, u32::MAX as usize, usize::MAX])?,
        },
        _ => Sampling::Fixed(bytes.int_in_range(1..=5)?),
    })
}

/// A number that is usual, or right all the same, or wrong.
fn number(bytes: &mut Bytes, usual: &[f64], unusual: &[f64], wrong: &[f64]) -> Result<f64> {
    match bytes.int_in_range(0..=31)? {
        0..=2u8 => Ok(*bytes.choose(unusual)?),
        3 if bytes.careless => Ok(*bytes.choose(wrong)?),
        _ => Ok(*bytes.choose(usual)?),
    }
}

fn scale(bytes: &mut Bytes) -> Result<f64> {
    number(
        bytes,
        &[1.0, 0.5, 0.25, 0.3, 0.0625, 2.0],
        &[1e-40, 1e-9, 0.1, 16.0, 1e9, 3e38],
        &[0.0, -1.0, f64::NAN, f64::INFINITY, 1e-50, 1e39, 1e300],
    )
}

/// What is added to coordinates.
pub fn offset(bytes: &mut Bytes) -> Result<f64> {
    number(
        bytes,
        &[0.0, 0.5, 0.25],
        &[-0.5, 1.0, 0.1, -7.3, 1e9, 3e38, 1e-40],
        &[f64::NAN, f64::NEG_INFINITY, 1e39],
    )
}

/// What is subtracted from the number of a sample.
fn output_offset(bytes: &mut Bytes) -> Result<f64> {
    number(
        bytes,
        &[0.0, -0.5, -0.25],
        &[0.5, -0.1, 7.3, -1024.0, 1000.3, 1e-40],
        &[f64::NAN, f64::NEG_INFINITY, 1024.1, -1e9, 3e38],
    )
}

fn value(bytes: &mut Bytes) -> Result<f64> {
    number(
        bytes,
        &[0.0, 0.0, -7.5, 3.25],
        &[1e30, -3e38, 1e-40, -0.0, 1e5],
        &[1e39, f64::NAN, f64::INFINITY],
    )
}
