//! A call on a volume, as calls on maps.

use std::ops::Range;

use burn::backend::Dispatch;
use burn::tensor::{DType, FloatDType, Tensor};

use super::operators::{Operates3d, Plain, of_depths, of_slices};
use crate::backend::is_host;
use crate::error::RoiError;
use crate::geometry::options::MAXIMUM_OUTPUT_SIZE;
use crate::memory;
use crate::ops::arguments::check_features;
use crate::ops::{call, options};
use crate::regions::{RegionTable, Rois, Rois3d, reshaped, shape};

/// The most bytes of the pooled slices of a part, unless one region has more in one channel.
const SLICE_BYTES: usize = 32 << 20;

/// Pools regions of volumes `[N, C, D, H, W]` to `[K, C, P, Q, R]`.
pub fn pool(features: Tensor<5>, rois: &Rois3d, config: &impl Operates3d) -> Result<Tensor<5>, RoiError> {
    let (argument, size) = config.output_size();
    let maximum = config.maximum()?;
    // Each sample of a maximum is an element first.
    let samples = maximum.map_or([1; 3], |maximum| maximum.samples);
    let [planes, rows, columns] = [0, 1, 2].map(|axis| size[axis].saturating_mul(samples[axis]));
    let fits = [planes, rows, columns]
        .iter()
        .all(|side| (1..=MAXIMUM_OUTPUT_SIZE).contains(side));
    let fits = fits && rows * columns <= MAXIMUM_OUTPUT_SIZE;
    let expected = "1 to 32767 along each axis, with height times width at most 32767; a maximum counts its samples";
    options::check(argument, fits, format!("{size:?}"), expected)?;
    let elements = rows * columns;
    let operators = [of_slices(config)?, of_depths(config, planes, elements)?].map(Plain);

    let (found, dtype, device) = (features.shape(), features.dtype(), features.device());
    let [images, channels, depth, height, width] = found.dims();
    let has_voxels = rois.is_empty() || depth * height * width > 0;
    let expected = "[N, C, D, H, W], with D, H and W above 0 where there are regions";
    shape("features", &found, expected, has_voxels)?;
    let output = [rois.len(), channels, size[0], size[1], size[2]];
    memory::check_tensor("output", &output, dtype, &device)?;
    let maps = reshaped(features, [images, channels * depth, height, width]);
    check_features::<Dispatch>(&maps.clone().into_dispatch(), &rois.slices.regions())?;
    if is_host(&device) {
        rois.validate(images)?;
    }

    let rois = in_singles(rois, dtype);
    // A maximum first has its samples along the depth, which can be more than slices.
    let slices = maximum.map_or(depth, |_| depth.max(planes));
    let bytes = slices.saturating_mul(elements * dtype.size().max(size_of::<f32>()));
    // Parts of channels read a voxel once in all. But each part adds a gradient as large as all features, so that an
    // autodiff device has parts of regions, which are fewer: the gradient of `nodules` in benches/volumes took half.
    let of_channels = match device.is_autodiff() {
        true => part_of(channels, bytes),
        false => part_of(channels, bytes.saturating_mul(rois.len())),
    };
    let of_regions = part_of(rois.len(), bytes.saturating_mul(of_channels));
    let pooled = parts(channels, of_channels).map(|channels| {
        let slices = [channels.len(), depth, elements];
        // Halves become f32, so that the output alone is rounded, once.
        let mut maps = channels_of(&maps, channels.start * depth..channels.end * depth);
        if is_half(dtype) {
            maps = maps.cast(FloatDType::F32);
        }
        let pooled = parts(rois.len(), of_regions).map(|regions| {
            let mut pooled = pool_part(maps.clone(), &rois.of(regions), slices, &operators)?;
            if let Some(maximum) = maximum {
                pooled = maximum.of(pooled, size);
            }
            Ok(match is_half(dtype) {
                true => pooled.cast(dtype),
                false => pooled,
            })
        });
        joined(pooled, 0)
    });
    Ok(reshaped(joined(pooled, 1)?, output))
}

/// The number of regions or channels of a part, where each has slices of so many bytes.
fn part_of(count: usize, bytes: usize) -> usize {
    let count = count.max(1);
    let parts = count.div_ceil((SLICE_BYTES / bytes.max(1)).max(1));
    count.div_ceil(parts)
}

/// Parts of so many regions or channels; one part if there are none.
fn parts(count: usize, part: usize) -> impl Iterator<Item = Range<usize>> {
    let starts = (0..count.max(1)).step_by(part);
    starts.map(move |start| start..(start + part).min(count))
}

/// The parts of an output, one after another along an axis.
fn joined(parts: impl Iterator<Item = Result<Tensor<4>, RoiError>>, axis: usize) -> Result<Tensor<4>, RoiError> {
    let mut parts = parts.collect::<Result<Vec<_>, _>>()?;
    Ok(match parts.len() {
        1 => parts.remove(0),
        _ => Tensor::cat(parts, axis),
    })
}

/// Some channels of maps.
fn channels_of(maps: &Tensor<4>, channels: Range<usize>) -> Tensor<4> {
    match channels.len() == maps.dims()[1] {
        true => maps.clone(),
        false => maps.clone().narrow(1, channels.start, channels.len()),
    }
}

fn is_half(dtype: DType) -> bool {
    matches!(dtype, DType::F16 | DType::BF16)
}

/// Boxes of f32 where they and the features are of f16 or bf16.
fn in_singles(rois: &Rois3d, dtype: DType) -> Rois3d {
    let mut rois = rois.clone();
    if is_half(dtype) && rois.depths.dtype() == dtype {
        rois.depths = rois.depths.cast(FloatDType::F32);
        rois.slices = Rois::new(rois.slices.boxes().cast(FloatDType::F32), rois.slices.batch_indices());
    }
    rois
}

/// Pools regions of maps `[N, C * D, H, W]` to `[K, C, P, Q * R]`: first each slice, and then the slices
/// `[C, D, Q * R]` of a region along the depth.
fn pool_part(
    maps: Tensor<4>,
    rois: &Rois3d,
    [channels, depth, elements]: [usize; 3],
    [of_slices, of_depths]: &[Plain; 2],
) -> Result<Tensor<4>, RoiError> {
    let slices = call::pool_tensor(maps, &rois.slices, None, of_slices)?;
    let slices = reshaped(slices, [rois.len(), channels, depth, elements]);
    call::pool_tensor(slices, &rois.along_depth(elements), None, of_depths)
}
