//! CubeCL kernels, for every runtime: wgpu, Vulkan, Metal, WebGPU, CUDA, ROCm and CPU.
//!
//! A call, or a level of a feature pyramid, is one launch for its output and one for each gradient. The gradient of
//! features of a maximum takes two. The kernel reads the boxes, which the host never does. A region that is not finite
//! or has an invalid batch index reads no pixel. Tensors are read by their strides, so nothing is copied first.
//!
//! - [`launch`]: what all launches have in common.
//! - [`unit`]: what a unit computes and reads, in all kernels.
//! - [`forward`]: the forward pass of all operators.
//! - [`features_gradient`] and [`regions_gradient`]: the gradients of features, and of boxes, angles and offsets.
//!
//! Each has kernels of axis plans, whose elements read samples, bins or integrals along y and along x, and kernels of
//! point plans, whose elements read points anywhere on the map.

use burn::backend::TensorMetadata;
use burn_cubecl::CubeBackend;
use burn_cubecl::tensor::CubeTensor;

use super::{HostRegions, RegionKernels};
use crate::geometry::operator::RegionOperator;
use features_gradient::features_gradient;
use forward::pool;
use regions_gradient::regions_gradient;

mod features_gradient;
mod forward;
mod launch;
mod regions_gradient;
mod unit;

impl RegionKernels for CubeBackend {
    fn pool(
        features: CubeTensor,
        boxes: CubeTensor,
        batch_indices: CubeTensor,
        _regions: Option<HostRegions>,
        operator: RegionOperator,
    ) -> CubeTensor {
        pool(None, features, boxes, batch_indices, &operator)
    }

    fn pool_level(
        pooled: CubeTensor,
        features: CubeTensor,
        boxes: CubeTensor,
        batch_indices: CubeTensor,
        _regions: Option<HostRegions>,
        operator: RegionOperator,
    ) -> CubeTensor {
        pool(Some(pooled), features, boxes, batch_indices, &operator)
    }

    fn average_gradient(
        gradient: CubeTensor,
        boxes: CubeTensor,
        batch_indices: CubeTensor,
        _regions: Option<HostRegions>,
        operator: RegionOperator,
        shape: [usize; 4],
    ) -> CubeTensor {
        features_gradient(gradient, None, boxes, batch_indices, &operator, shape)
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
        features_gradient(gradient, Some(features), boxes, batch_indices, &operator, shape)
    }

    fn boxes_gradient(
        gradient: CubeTensor,
        features: CubeTensor,
        boxes: CubeTensor,
        batch_indices: CubeTensor,
        _regions: Option<HostRegions>,
        operator: RegionOperator,
    ) -> CubeTensor {
        regions_gradient(gradient, features, boxes, batch_indices, &operator)
    }
}
