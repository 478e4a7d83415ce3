//! What any call must give, told by the plain reference and by rules of its own: an error that names
//! something that is wrong, or the right numbers.

use burn::tensor::{DType, TensorData};
use burn_roi::*;

use super::{AnyCall, Pyramid};
use crate::problem::Operator;
use crate::reference::{Coordinates, DOUBLE, SINGLE, output};

/// Something that is wrong with a call. Boxes and indices count only where they are read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Flaw {
    Shape,
    Count,
    DType,
    Option,
    EmptyMap,
    Channels,
    BoxNotFinite,
    BatchIndex,
    Memory,
}

impl Flaw {
    fn of(error: &RoiError) -> Option<Self> {
        Some(match error {
            RoiError::Shape { .. } => Self::Shape,
            RoiError::Count { .. } => Self::Count,
            RoiError::DType { .. } => Self::DType,
            RoiError::Option { .. } => Self::Option,
            RoiError::EmptyMap { .. } => Self::EmptyMap,
            RoiError::Channels { .. } => Self::Channels,
            RoiError::BoxNotFinite { .. } => Self::BoxNotFinite,
            RoiError::BatchIndex { .. } => Self::BatchIndex,
            RoiError::Memory { .. } => Self::Memory,
            _ => return None,
        })
    }
}

/// Whether the outcome of a call is right; says what is not.
pub fn verdict(call: &AnyCall, outcome: &Result<TensorData, RoiError>, host: bool) -> Result<(), String> {
    match judge(&flaws(call, host), outcome)? {
        Some(found) => numbers(call, found),
        None => Ok(()),
    }
}

/// What a call gave, if it was right to give something; none if it was right to refuse.
pub fn judge<'a, T>(flaws: &[Flaw], outcome: &'a Result<T, RoiError>) -> Result<Option<&'a T>, String> {
    match outcome {
        Err(error) if Flaw::of(error).is_some_and(|flaw| flaws.contains(&flaw)) => Ok(None),
        Err(error) => Err(format!("refused with {error:?}, but wrong are only {flaws:?}")),
        Ok(_) if !flaws.is_empty() => Err(format!("answered in spite of {flaws:?}")),
        Ok(found) => Ok(Some(found)),
    }
}

pub fn flaws(call: &AnyCall, host: bool) -> Vec<Flaw> {
    let mut flaws = Vec::new();
    let mut flaw = |wrong: bool, flaw| {
        if wrong {
            flaws.push(flaw);
        }
    };
    let [batch, channels, height, width] = call.shape;
    let count = call.count();
    flaw(call.columns != 4, Flaw::Shape);
    flaw(count != call.indices.len(), Flaw::Count);
    let is_half = matches!(call.dtype, DType::F16 | DType::BF16);
    let is_mixed = is_half && call.box_dtype == DType::F32;
    flaw(call.box_dtype != call.dtype && !is_mixed, Flaw::DType);
    flaw(!options_are_right(call), Flaw::Option);
    flaw(count > 0 && height * width == 0, Flaw::EmptyMap);
    let of_an_output = call.operator.input_channels();
    flaw(
        of_an_output > 0 && !channels.is_multiple_of(of_an_output),
        Flaw::Channels,
    );
    flaw(count > 0 && call.is_too_large(), Flaw::Memory);
    if host && call.columns == 4 {
        let regions = call.regions();
        let finite = |corners: &[f64; 4]| corners.iter().all(|corner| corner.is_finite());
        flaw(regions.iter().any(|(_, corners)| !finite(corners)), Flaw::BoxNotFinite);
        let images = 0..batch as i128;
        flaw(
            regions.iter().any(|(image, _)| !images.contains(image)),
            Flaw::BatchIndex,
        );
    }
    flaws
}

fn options_are_right(call: &AnyCall) -> bool {
    let size = |[height, width]: [usize; 2]| (1..=32_767).contains(&height) && (1..=32_767).contains(&width);
    // Options are used in f32.
    let finite = |value: f64| (value as f32).is_finite();
    let scale = |value: f64| finite(value) && value as f32 > 0.0;
    let samples = |sampling| match sampling {
        Sampling::Fixed(count) => (1..=1024).contains(&count),
        Sampling::Clamped { minimum, maximum } => (1..=1024).contains(&minimum) && minimum <= maximum,
        _ => true,
    };
    match &call.operator {
        Operator::RoiAlign(config) => {
            let scales = call.pyramid.iter().flat_map(|pyramid| &pyramid.scales);
            let on_levels = |of_axis: f64| scales.clone().all(|of_level| scale(of_axis * of_level));
            samples(config.sampling)
                && size(config.output_size)
                && scale(config.spatial_scale_y)
                && scale(config.spatial_scale_x)
                && on_levels(config.spatial_scale_y)
                && on_levels(config.spatial_scale_x)
                && finite(config.box_offset)
                && finite(config.end_offset)
                && finite(config.input_pixel_offset)
                && config.output_pixel_offset.abs() <= 1024.0
                && config
                    .minimum_length
                    .is_none_or(|length| length >= 0.0 && finite(length))
                && finite(config.out_of_bounds_value)
        }
        Operator::RoiPool(config) => {
            let length = config.minimum_length.unwrap_or_default();
            size(config.output_size)
                && scale(config.spatial_scale_y)
                && scale(config.spatial_scale_x)
                && (0.0..=65535.0).contains(&length)
                && length.fract() == 0.0
        }
        Operator::CropAndResize(config) => size(config.crop_size) && finite(config.extrapolation_value),
        Operator::PsRoiAlign(config) => {
            samples(config.sampling) && size(config.output_size) && scale(config.spatial_scale)
        }
        Operator::PsRoiPool(config) => size(config.output_size) && scale(config.spatial_scale),
        Operator::PrRoiPool(config) => size(config.output_size) && scale(config.spatial_scale),
    }
}

/// Whether the numbers are those of the reference.
fn numbers(call: &AnyCall, found: &TensorData) -> Result<(), String> {
    let [batch, channels, ..] = call.shape;
    let (size, outside) = (call.operator.output_size(), call.operator.value_without_pixels());
    let channels = channels / call.operator.input_channels();
    let shape = vec![call.count(), channels, size[0], size[1]];
    if found.shape().to_vec() != shape || found.dtype() != call.dtype {
        return Err(format!("gave {:?} {:?}, not {shape:?}", found.dtype(), found.shape()));
    }
    let coordinates = if call.dtype == DType::F64 { DOUBLE } else { SINGLE };
    // An output is rounded to the dtype, sums of small numbers to f32.
    let (tolerance, rounding) = match call.dtype {
        DType::F64 => (1e-12, 0.0),
        DType::F16 => (2e-5, 1e-3),
        DType::BF16 => (2e-5, 8e-3),
        _ => (2e-5, 0.0),
    };
    let of_a_region = channels * size[0] * size[1];
    let levels = call.levels_on_host();
    let found: Vec<f64> = found.iter::<f64>().collect();
    for (row, (image, corners)) in call.regions().into_iter().enumerate() {
        let names_an_image = (0..batch as i128).contains(&image) && corners.iter().all(|corner| corner.is_finite());
        let expected = match names_an_image {
            false => vec![outside; of_a_region],
            true => {
                let Some(expected) = of_region(call, &levels, (image as usize, corners), coordinates) else {
                    continue;
                };
                expected
            }
        };
        let found = &found[row * of_a_region..(row + 1) * of_a_region];
        for (element, (&found, expected)) in found.iter().zip(expected).enumerate() {
            let most = tolerance * expected.abs().max(outside.abs()).max(1.0) + rounding * expected.abs();
            let too_large = largest(call.dtype) < expected.abs() && found.is_infinite();
            if !((found - expected).abs() <= most || too_large) {
                return Err(format!(
                    "element {element} of region {row} is {found:e}, not {expected:e}"
                ));
            }
        }
    }
    Ok(())
}

/// The numbers of the features of each level.
pub type Levels = Vec<Vec<f64>>;

/// The sum of the output of some regions times `weights`; none where that takes too long to tell.
pub fn value(
    call: &AnyCall,
    levels: &Levels,
    regions: &[(i128, [f64; 4])],
    weights: &[f64],
    coordinates: Coordinates,
) -> Option<f64> {
    let of_a_region = weights.len().checked_div(regions.len()).unwrap_or(0);
    let mut sum = 0.0;
    for (row, &(image, corners)) in regions.iter().enumerate() {
        let names_an_image =
            (0..call.shape[0] as i128).contains(&image) && corners.iter().all(|corner| corner.is_finite());
        if names_an_image {
            let output = of_region(call, levels, (image as usize, corners), coordinates)?;
            let weights = &weights[row * of_a_region..(row + 1) * of_a_region];
            sum += output
                .iter()
                .zip(weights)
                .map(|(number, weight)| number * weight)
                .sum::<f64>();
        }
    }
    Some(sum)
}

/// What a region gives, on its level if there are levels; none where that takes too long to tell.
fn of_region(call: &AnyCall, levels: &Levels, region: (usize, [f64; 4]), coordinates: Coordinates) -> Option<Vec<f64>> {
    let (mut operator, mut level) = (call.operator.clone(), 0);
    if let (Operator::RoiAlign(config), Some(pyramid)) = (&mut operator, &call.pyramid) {
        level = level_of(pyramid, region.1, coordinates);
        config.spatial_scale_y *= pyramid.scales[level];
        config.spatial_scale_x *= pyramid.scales[level];
    }
    let shape = call.shape_of_level(level);
    output(&operator, shape, &levels[level], &[region], coordinates)
}

/// The level of a box, counted from the finest.
fn level_of(pyramid: &Pyramid, [x1, y1, x2, y2]: [f64; 4], Coordinates { round, .. }: Coordinates) -> usize {
    let area = round(round(x2 - x1) * round(y2 - y1));
    let ratio = round(round(area.sqrt()) / round(pyramid.canonical_scale));
    let ratio = round(ratio + round(pyramid.ratio_epsilon));
    let level = round(f64::from(pyramid.canonical_level) + round(ratio.log2()));
    let level = round(level + round(pyramid.level_epsilon)).floor();
    let finest = -pyramid.scales[0].log2();
    // An area below 0 has no root, and as a number that is 0.
    (level - finest).clamp(0.0, (pyramid.scales.len() - 1) as f64) as usize
}

/// The largest number that is not rounded to infinity.
fn largest(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => 65_519.0,
        DType::BF16 => 3.3e38,
        DType::F32 => f32::MAX.into(),
        _ => f64::MAX,
    }
}
