//! CubeCL kernels, for every runtime: wgpu, Vulkan, Metal, WebGPU, CUDA, ROCm and CPU.
//!
//! A call, or a level of a feature pyramid, is one launch. The kernel reads the boxes, which the host never does; a
//! row that is not finite or names no image reads no pixel. Tensors are read by their strides, so nothing is copied
//! first.
//!
//! - [`kernel`]: the kernel, and how it is launched.
//! - [`unit`]: which output elements a unit computes, their region, and the channels that they read.
//! - [`backward`]: the gradients of features and of boxes.
//! - [`samples`], [`bins`] and [`integrals`]: what an element reads, reduced.

use burn::backend::TensorMetadata;
use burn_cubecl::CubeBackend;
use burn_cubecl::tensor::CubeTensor;

use super::{HostRegions, RegionKernels};
use crate::geometry::operator::RegionOperator;

mod backward;
mod bins;
mod integrals;
mod kernel;
mod samples;
mod unit;

impl RegionKernels for CubeBackend {
    fn pool(
        features: CubeTensor,
        boxes: CubeTensor,
        batch_indices: CubeTensor,
        _regions: Option<HostRegions>,
        operator: RegionOperator,
    ) -> CubeTensor {
        kernel::launch(None, features, boxes, batch_indices, &operator)
    }

    fn pool_level(
        pooled: CubeTensor,
        features: CubeTensor,
        boxes: CubeTensor,
        batch_indices: CubeTensor,
        _regions: Option<HostRegions>,
        operator: RegionOperator,
    ) -> CubeTensor {
        kernel::launch(Some(pooled), features, boxes, batch_indices, &operator)
    }

    fn average_gradient(
        gradient: CubeTensor,
        boxes: CubeTensor,
        batch_indices: CubeTensor,
        _regions: Option<HostRegions>,
        operator: RegionOperator,
        shape: [usize; 4],
    ) -> CubeTensor {
        backward::features_gradient(gradient, None, boxes, batch_indices, &operator, shape)
    }

    fn maximum_gradient(
        gradient: CubeTensor,
        features: CubeTensor,
        boxes: CubeTensor,
        batch_indices: CubeTensor,
        _regions: Option<HostRegions>,
        operator: RegionOperator,
    ) -> CubeTensor {
        let shape = features.shape().dims();
        backward::features_gradient(gradient, Some(features), boxes, batch_indices, &operator, shape)
    }

    fn boxes_gradient(
        gradient: CubeTensor,
        features: CubeTensor,
        boxes: CubeTensor,
        batch_indices: CubeTensor,
        _regions: Option<HostRegions>,
        operator: RegionOperator,
    ) -> CubeTensor {
        backward::boxes_gradient(gradient, features, boxes, batch_indices, &operator)
    }
}
