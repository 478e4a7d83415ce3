//! The one way from a call on volumes to a backend.

use burn::backend::Dispatch;
use burn::tensor::{Shape, Tensor};

use super::operators::{Operates3d, of_depths, of_slices};
use crate::backend::{RegionCall, RegionKernels};
use crate::error::RoiError;
use crate::geometry::operator::RegionOperator;
use crate::geometry::options::MAXIMUM_OUTPUT_SIZE;
use crate::memory;
use crate::ops::arguments::{check_features, reads_nothing};
use crate::ops::call::supported;
use crate::ops::options;
use crate::regions::{RegionTable, Rois3d, depth_error, reshaped, shape};

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
    let (of_slices, of_depths) = (of_slices(config)?, of_depths(config, planes, elements)?);

    let (found, regions) = (features.shape(), rois.len());
    let [volumes, channels, depth, height, width] = found.dims();
    let has_voxels = regions == 0 || depth * height * width > 0;
    let expected = "[N, C, D, H, W], with D, H and W above 0 where there are regions";
    shape("features", &found, expected, has_voxels)?;
    let output = [regions, channels, size[0], size[1], size[2]];
    memory::check_tensor("output", &output, features.dtype(), &features.device())?;
    // A part of a call has at least the slices of one region in one channel.
    let slices = [regions.min(1), channels.min(1), depth, elements];
    memory::check_tensor("slices", &slices, features.dtype(), &features.device())?;
    let maps = [volumes, channels * depth, height, width];
    let features = supported("features", reshaped(features, maps).into_dispatch())?;
    let (slices, depths) = (rois.slices.regions(), rois.along_depth(elements).regions());
    check_features::<Dispatch>(&features, &slices)?;
    supported("boxes", slices.boxes.clone())?;
    supported("batch_indices", slices.batch_indices.clone())?;

    let on_host = slices.on_host(volumes)?;
    let slices = slices.call(on_host, of_slices, &Shape::new(maps));
    let on_host = depths.on_host(regions).map_err(depth_error)?;
    let depths = depths.call(on_host, of_depths, &Shape::new([regions, channels, depth, elements]));
    if reads_nothing(&Shape::new(maps), &Shape::new(output)) {
        let operator = RegionOperator {
            output_size: [size[0], size[1] * size[2]],
            reduction: maximum.map_or(of_depths.reduction, |maximum| maximum.reduction),
            ..of_depths
        };
        let call = RegionCall {
            operator,
            features_shape: depths.features_shape,
            ..slices
        };
        let pooled = Dispatch::without_pixels(features, call);
        return Ok(reshaped(Tensor::<4>::from_dispatch(pooled), output));
    }
    let pooled = Dispatch::pool_volumes(features, slices, depths, maximum);
    Ok(reshaped(Tensor::<4>::from_dispatch(pooled), output))
}
