//! Flex: native code on its slices, in threads and vectors.
//!
//! - [`engine`], [`groups`], [`task`]: how a call is divided among threads, and what a thread does.
//! - [`tile`], [`pixels`], [`transpose`]: pixels of a few channels side by side.
//! - [`average`], [`maximum`], [`bins`]: the kernels, for any number of lanes.

use burn::backend::Flex;
use burn::tensor::{DType, bf16, f16};
use burn_flex::{FlexDevice, FlexTensor};

use super::host::regions;
use super::{RegionKernels, RoiBackend, output_shape};
use crate::geometry::convention::{AreaRange, Reduction, RegionBins, RegionSamples};

mod average;
mod bins;
mod engine;
mod features;
mod groups;
mod half;
mod maximum;
mod number;
mod output;
mod pixels;
mod rows;
mod task;
mod tile;
mod transpose;

use average::Average;
use bins::Bins;
use features::with_slices_as_rows;
use maximum::Maximum;
use number::Number;

impl RoiBackend for Flex {
    fn is_host(_device: &FlexDevice) -> bool {
        true
    }
}

impl RegionKernels for Flex {
    fn sample_regions(
        features: FlexTensor,
        boxes: FlexTensor,
        batch_indices: FlexTensor,
        sampling: RegionSamples,
    ) -> FlexTensor {
        sample_into(None, features, boxes, batch_indices, &sampling)
    }

    fn sample_level(
        pooled: FlexTensor,
        features: FlexTensor,
        boxes: FlexTensor,
        batch_indices: FlexTensor,
        sampling: RegionSamples,
    ) -> FlexTensor {
        sample_into(Some(pooled), features, boxes, batch_indices, &sampling)
    }

    fn pool_regions(
        features: FlexTensor,
        boxes: FlexTensor,
        batch_indices: FlexTensor,
        bins: RegionBins,
    ) -> FlexTensor {
        match features.dtype() {
            DType::F64 => pool::<f64>(features, boxes, batch_indices, &bins),
            DType::F32 => pool::<f32>(features, boxes, batch_indices, &bins),
            DType::F16 => pool::<f16>(features, boxes, batch_indices, &bins),
            DType::BF16 => pool::<bf16>(features, boxes, batch_indices, &bins),
            dtype => unreachable!("features of {dtype:?} are refused before"),
        }
    }
}

fn sample_into(
    pooled: Option<FlexTensor>,
    features: FlexTensor,
    boxes: FlexTensor,
    batch_indices: FlexTensor,
    sampling: &RegionSamples,
) -> FlexTensor {
    match features.dtype() {
        DType::F64 => sample::<f64>(pooled, features, boxes, batch_indices, sampling),
        DType::F32 => sample::<f32>(pooled, features, boxes, batch_indices, sampling),
        DType::F16 => sample::<f16>(pooled, features, boxes, batch_indices, sampling),
        DType::BF16 => sample::<bf16>(pooled, features, boxes, batch_indices, sampling),
        dtype => unreachable!("features of {dtype:?} are refused before"),
    }
}

fn sample<E: Number>(
    pooled: Option<FlexTensor>,
    features: FlexTensor,
    boxes: FlexTensor,
    batch_indices: FlexTensor,
    sampling: &RegionSamples,
) -> FlexTensor {
    let features = with_slices_as_rows(features);
    let [batch, _, height, width] = features.layout().shape().dims();
    let (of_features, of_boxes) = (features.layout().shape(), boxes.layout().shape());
    let shape = output_shape(of_features, of_boxes, sampling.output_size);
    let (columns, areas) = (sampling.columns, &sampling.areas);
    let regions = regions::<Flex, E::Sum>(boxes, batch_indices, batch, columns, areas);
    let map = [height, width];
    match sampling.reduction {
        Reduction::Average => {
            let kernel = Average::new(sampling, map);
            engine::run::<E, _>(pooled, &features, &regions, shape, &kernel)
        }
        _ => {
            let kernel = Maximum::new(sampling, map);
            engine::run::<E, _>(pooled, &features, &regions, shape, &kernel)
        }
    }
}

fn pool<E: Number>(
    features: FlexTensor,
    boxes: FlexTensor,
    batch_indices: FlexTensor,
    bins: &RegionBins,
) -> FlexTensor {
    let features = with_slices_as_rows(features);
    let [batch, _, height, width] = features.layout().shape().dims();
    let shape = output_shape(features.layout().shape(), boxes.layout().shape(), bins.output_size);
    let (columns, areas) = ([0, 1, 2, 3], &AreaRange::ALL);
    let regions = regions::<Flex, E::Sum>(boxes, batch_indices, batch, columns, areas);
    let kernel = Bins::new(bins, [height, width]);
    engine::run::<E, _>(None, &features, &regions, shape, &kernel)
}
