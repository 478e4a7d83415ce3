//! CubeCL kernels, for every runtime: wgpu, Vulkan, Metal, WebGPU, CUDA, ROCm and CPU.
//!
//! One launch a call, or a level of a feature pyramid. Boxes are read by the kernel and never by the host; a row that is not finite or
//! names no image reads no pixel. Tensors are read by their strides, so nothing is copied first.

use burn_cubecl::CubeBackend;
use burn_cubecl::tensor::CubeTensor;

use super::{RegionKernels, RoiBackend};
use crate::geometry::convention::{RegionBins, RegionSamples};

mod pool;
mod region;
mod sample;

impl RoiBackend for CubeBackend {
    fn is_host(_device: &Self::Device) -> bool {
        false
    }
}

impl RegionKernels for CubeBackend {
    fn sample_regions(
        features: CubeTensor,
        boxes: CubeTensor,
        batch_indices: CubeTensor,
        sampling: RegionSamples,
    ) -> CubeTensor {
        sample::launch(None, features, boxes, batch_indices, &sampling)
    }

    fn sample_level(
        pooled: CubeTensor,
        features: CubeTensor,
        boxes: CubeTensor,
        batch_indices: CubeTensor,
        sampling: RegionSamples,
    ) -> CubeTensor {
        sample::launch(Some(pooled), features, boxes, batch_indices, &sampling)
    }

    fn pool_regions(
        features: CubeTensor,
        boxes: CubeTensor,
        batch_indices: CubeTensor,
        bins: RegionBins,
    ) -> CubeTensor {
        pool::launch(features, boxes, batch_indices, &bins)
    }
}
