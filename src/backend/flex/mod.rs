//! Flex: multithreaded SIMD kernels over Flex's storage.
//!
//! What is computed, with axis plans and point plans side by side:
//!
//! - [`forward`]: pooled regions. A task owns channels of some regions.
//! - [`features_gradient`]: the gradient of features. A task owns channels of an image.
//! - [`regions_gradient`]: the gradient of boxes and offsets. A task owns a region.
//! - [`volume`]: the first two on volumes.
//!
//! What all of them use:
//!
//! - [`planned`]: regions and their plans, one batch after another.
//! - [`drive`]: from tasks to threads.
//! - [`kernels`]: how an element of each kind of axis plan is computed.
//! - [`lanes`]: several channels at a time with vector instructions, or one at a time.
//! - [`simd`]: vector instructions, a file for each instruction set.
//! - [`pixels`]: tensors as planes, and tiles of them with interleaved channels.
//! - [`memory`]: memory for tiles and outputs, kept from call to call. [`output`]: outputs in it.
//! - [`dtype`]: dtypes, and the type that each is summed in.

use burn::backend::Flex;
use burn_flex::FlexTensor;

use super::{MaximumOfSamples, RegionCall, RegionKernels, fallback};

mod drive;
mod dtype;
mod features_gradient;
mod forward;
mod kernels;
mod lanes;
mod memory;
mod output;
mod pixels;
mod planned;
mod regions_gradient;
mod simd;
mod volume;

use dtype::of_sums;
use features_gradient::features_gradient;
pub use memory::kept_outputs;
use output::{filled_output, rounded_output};
use regions_gradient::regions_gradient;

impl RegionKernels for Flex {
    fn pool(features: FlexTensor, call: RegionCall<Self>) -> FlexTensor {
        of_sums!(features.dtype(), forward::pool)(None, features, &call)
    }

    fn pool_level(pooled: FlexTensor, features: FlexTensor, call: RegionCall<Self>) -> FlexTensor {
        of_sums!(features.dtype(), forward::pool)(Some(pooled), features, &call)
    }

    fn without_pixels(features: FlexTensor, call: RegionCall<Self>) -> FlexTensor {
        let (shape, dtype) = (call.output_shape(), features.dtype());
        let parallel = drive::in_parallel(shape.num_elements());
        of_sums!(dtype, filled_output)(call.operator.value_without_pixels(), shape, dtype, parallel)
    }

    fn average_gradient(gradient: FlexTensor, call: RegionCall<Self>) -> FlexTensor {
        of_sums!(gradient.dtype(), features_gradient)(gradient, None, &call)
    }

    fn maximum_gradient(gradient: FlexTensor, features: FlexTensor, call: RegionCall<Self>) -> FlexTensor {
        of_sums!(gradient.dtype(), features_gradient)(gradient, Some(features), &call)
    }

    fn boxes_gradient(gradient: FlexTensor, features: FlexTensor, call: RegionCall<Self>) -> FlexTensor {
        let dtype = gradient.dtype();
        let sums = of_sums!(dtype, regions_gradient)(gradient, features, &call);
        of_sums!(dtype, rounded_output)(sums, call.boxes.dtype(), false)
    }

    fn pool_volumes(
        features: FlexTensor,
        slices: RegionCall<Self>,
        depths: RegionCall<Self>,
        maximum: Option<MaximumOfSamples>,
    ) -> FlexTensor {
        if maximum.is_some() || !volume::has_kernels(&depths) {
            return fallback::pool_volumes::<Self>(features, &slices, &depths, maximum);
        }
        of_sums!(features.dtype(), volume::pool)(features, slices, depths)
    }

    fn volumes_gradient(gradient: FlexTensor, slices: RegionCall<Self>, depths: RegionCall<Self>) -> FlexTensor {
        if !volume::has_kernels(&depths) {
            return fallback::volumes_gradient::<Self>(gradient, &slices, &depths);
        }
        of_sums!(gradient.dtype(), volume::gradient)(gradient, slices, depths)
    }
}
