//! The backends: one trait, its default bodies for any Burn backend, and kernels where there are some.
//!
//! [`composed`] is the default body, a composition of tensor operations.

// Without a backend there is nothing to dispatch to, and the macro below leaves arguments unused.
#![cfg_attr(
    not(any(feature = "flex", feature = "ndarray", feature = "cube")),
    allow(unused_variables)
)]

use ::burn::backend::tensor::{FloatTensor, IntTensor};
use ::burn::backend::{Backend, Dispatch, DispatchDevice, backend_extension};
use ::burn::tensor::Shape;

use crate::geometry::convention::{RegionBins, RegionSamples};

mod composed;
#[cfg(feature = "cube")]
mod cube;
#[cfg(feature = "flex")]
mod flex;
pub(crate) mod host;

// The macro below writes paths that begin with `burn`. This one has `burn::backend::fusion` for every
// CubeCL build, whether or not Burn's own fusion is on: an application that turns it on without
// telling this crate still finds the operators.
use with_fusion as burn;
mod with_fusion {
    pub mod backend {
        pub use ::burn::backend::*;
        #[cfg(feature = "cube")]
        pub use burn_fusion as fusion;
    }
}

/// The kernels that all region operators come down to. Bodies are inherited: a backend without
/// kernels implements it in one line.
///
/// Arguments have been checked: `boxes` is `[K, 4]` of the dtype of `features`, `batch_indices` is
/// `[K]`, K is not 0, and no dimension of `features` (`[N, C, H, W]`) or of the output is 0.
#[backend_extension(
    Cube: cfg(feature = "cube"),
    Flex: cfg(feature = "flex"),
    NdArray: cfg(feature = "ndarray"),
    Fusion: cfg(feature = "cube"),
)]
pub trait RegionKernels: Backend {
    /// Samples regions and reduces the samples to `[K, C, P, Q]`.
    #[fusion(dtype = features, shape = output_shape(features, boxes, sampling.output_size))]
    fn sample_regions(
        features: FloatTensor<Self>,
        boxes: FloatTensor<Self>,
        batch_indices: IntTensor<Self>,
        sampling: RegionSamples,
    ) -> FloatTensor<Self> {
        composed::sample_regions::<Self>(features, boxes, batch_indices, &sampling)
    }

    /// Samples further regions into `pooled`, `[K, C, P, Q]`, from features of another size but of as
    /// many images and channels: one more level of a feature pyramid. Rows of boxes that are not in
    /// `sampling.areas` stay as they are; [`sample_regions`](Self::sample_regions) leaves them unspecified.
    #[fusion(dtype = pooled, shape = pooled)]
    fn sample_level(
        pooled: FloatTensor<Self>,
        features: FloatTensor<Self>,
        boxes: FloatTensor<Self>,
        batch_indices: IntTensor<Self>,
        sampling: RegionSamples,
    ) -> FloatTensor<Self> {
        composed::sample_level::<Self>(pooled, features, boxes, batch_indices, &sampling)
    }

    /// Takes the maxima of bins of whole pixels to `[K, C, P, Q]`.
    #[fusion(dtype = features, shape = output_shape(features, boxes, bins.output_size))]
    fn pool_regions(
        features: FloatTensor<Self>,
        boxes: FloatTensor<Self>,
        batch_indices: IntTensor<Self>,
        bins: RegionBins,
    ) -> FloatTensor<Self> {
        composed::pool_regions::<Self>(features, boxes, batch_indices, &bins)
    }
}

/// A backend that the region operators run on: the bound of code that chooses it by type parameter.
///
/// ```
/// use burn::backend::tensor::{FloatTensor, IntTensor};
/// use burn_roi::{RoiAlignConfig, RoiBackend, primitive};
///
/// fn pool<B: RoiBackend>(
///     features: FloatTensor<B>,
///     boxes: FloatTensor<B>,
///     batch_indices: IntTensor<B>,
/// ) -> FloatTensor<B> {
///     let config = RoiAlignConfig::new([7, 7]).with_spatial_scale(0.25);
///     primitive::roi_align::<B>(features, boxes, batch_indices, config)
/// }
/// ```
pub trait RoiBackend: RegionKernels {
    /// Whether a device's tensors are in host memory, so that reading boxes costs no synchronization.
    ///
    /// Where it is, every call checks that boxes are finite and that batch indices are in range.
    /// Where it is not, such a row reads no image and gives the out-of-bounds value.
    fn is_host(device: &Self::Device) -> bool;
}

impl RoiBackend for Dispatch {
    fn is_host(device: &DispatchDevice) -> bool {
        match device {
            #[cfg(feature = "flex")]
            DispatchDevice::Flex(_) => true,
            #[cfg(feature = "ndarray")]
            DispatchDevice::NdArray(_) => true,
            #[allow(unreachable_patterns)]
            _ => false,
        }
    }
}

#[cfg(feature = "cube")]
impl<B: burn::backend::fusion::FusionBackend + RoiBackend> RoiBackend for burn::backend::fusion::Fusion<B> {
    fn is_host(device: &Self::Device) -> bool {
        B::is_host(device)
    }
}

#[cfg(feature = "ndarray")]
impl RegionKernels for burn::backend::NdArray {}

#[cfg(feature = "ndarray")]
impl RoiBackend for burn::backend::NdArray {
    fn is_host(_device: &Self::Device) -> bool {
        true
    }
}

/// The shape `[K, C, P, Q]` of an operator's output.
pub(crate) fn output_shape(features: &Shape, boxes: &Shape, output_size: [usize; 2]) -> Shape {
    Shape::new([boxes[0], features[1], output_size[0], output_size[1]])
}
