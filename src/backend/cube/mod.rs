//! CubeCL kernels, for every runtime: wgpu, Vulkan, Metal, WebGPU, CUDA, ROCm and CPU.
//!
//! A call, or a level of a feature pyramid, is one launch. The kernel reads the boxes, which the host never does; a
//! row that is not finite or names no image reads no pixel. Tensors are read by their strides, so nothing is copied
//! first.
//!
//! - [`kernel`]: the kernel, and how it is launched.
//! - [`unit`]: which output elements a unit computes, their region, and the channels that they read.
//! - [`backward`]: the gradients of features and of boxes.
//! - [`blocks`]: the channel blocks that a unit computes together; [`pairs`]: samples that share pixels, joined along
//!   an axis.
//! - [`samples`], [`bins`] and [`integrals`]: what an element reads, reduced.
//! - [`points`]: operators whose elements read points, and their gradients.

use burn::backend::TensorMetadata;
use burn_cubecl::CubeBackend;
use burn_cubecl::tensor::CubeTensor;

use super::{HostRegions, RegionKernels};
use crate::geometry::operator::{Elements, RegionOperator};

mod backward;
mod bins;
mod blocks;
mod integrals;
mod kernel;
mod pairs;
mod points;
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
        if let Elements::Points(grid) = &operator.elements {
            return points::features_gradient(gradient, boxes, batch_indices, &operator, grid, shape);
        }
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
        if let Elements::Points(grid) = &operator.elements {
            return points::regions_gradient(gradient, features, boxes, batch_indices, &operator, grid);
        }
        backward::boxes_gradient(gradient, features, boxes, batch_indices, &operator)
    }
}

fn pool(
    pooled: Option<CubeTensor>,
    features: CubeTensor,
    boxes: CubeTensor,
    batch_indices: CubeTensor,
    operator: &RegionOperator,
) -> CubeTensor {
    match &operator.elements {
        Elements::Points(grid) => points::pool(pooled, features, boxes, batch_indices, operator, grid),
        _ => kernel::launch(pooled, features, boxes, batch_indices, operator),
    }
}
