//! CubeCL kernels, for every runtime: wgpu, Vulkan, Metal, WebGPU, CUDA, ROCm and CPU.
//!
//! A call is a launch that plans and one that pools, also on up to four levels of a feature pyramid. Maxima of samples
//! and operators that read points are pooled without a plan. Kernels read the boxes, which the host never does. A
//! region that is not finite or has an invalid batch index reads no pixel. Tensors are read by their strides, so
//! nothing is copied first, but the gradient of the output.
//!
//! - [`launch`]: what all launches have in common.
//! - [`plan`]: where the elements of a call's regions read, and with which weights.
//! - [`unit`]: what a unit computes and reads, in all kernels.
//! - [`forward`]: the forward pass of all operators.
//! - [`features_gradient`] and [`regions_gradient`]: the gradients of features, and of boxes, angles and offsets.
//!
//! Each has kernels of axis plans, whose elements read samples, bins or integrals along y and along x, and kernels of
//! point plans, whose elements read points anywhere on the map.

use burn_cubecl::CubeBackend;
use burn_cubecl::tensor::CubeTensor;

use super::{CoarserLevels, RegionCall, RegionKernels};
use crate::geometry::operator::RegionOperator;
use features_gradient::{features_gradient, gradient_at};
use forward::{pool, pool_with_positions};
use regions_gradient::regions_gradient;

mod features_gradient;
mod forward;
mod launch;
mod plan;
mod regions_gradient;
mod unit;

impl RegionKernels for CubeBackend {
    fn pool(features: CubeTensor, call: RegionCall<Self>) -> CubeTensor {
        pool(None, vec![features], &[call.operator], call)
    }

    fn pool_level(pooled: CubeTensor, features: CubeTensor, call: RegionCall<Self>) -> CubeTensor {
        pool(Some(pooled), vec![features], &[call.operator], call)
    }

    fn pool_pyramid(
        finest: CubeTensor,
        coarser: CoarserLevels<Self>,
        operators: Vec<RegionOperator>,
        call: RegionCall<Self>,
    ) -> CubeTensor {
        pool(None, coarser.with(finest), &operators, call)
    }

    fn pool_with_positions(features: CubeTensor, call: RegionCall<Self>) -> (CubeTensor, CubeTensor) {
        pool_with_positions(features, call)
    }

    fn average_gradient(gradient: CubeTensor, call: RegionCall<Self>) -> CubeTensor {
        features_gradient(gradient, None, call)
    }

    fn maximum_gradient(gradient: CubeTensor, features: CubeTensor, call: RegionCall<Self>) -> CubeTensor {
        features_gradient(gradient, Some(features), call)
    }

    fn gradient_at(gradient: CubeTensor, positions: CubeTensor, call: RegionCall<Self>) -> CubeTensor {
        gradient_at(gradient, positions, call)
    }

    fn boxes_gradient(gradient: CubeTensor, features: CubeTensor, call: RegionCall<Self>) -> CubeTensor {
        regions_gradient(gradient, features, call)
    }
}
