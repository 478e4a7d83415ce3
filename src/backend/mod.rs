//! What every backend does: [`RegionKernels`], the one contract, and [`DeviceSupport`], what a device can do.
//!
//! - [`fallback`]: tensor operations of any Burn backend; a backend without kernels inherits them.
//! - `flex`: SIMD kernels on several threads, over Flex's storage.
//! - `cube`: CubeCL kernels for every GPU runtime.
//! - `remote`: messages to a server that has another backend.
//! - [`backward_call`]: a call whose gradients are wanted.
//! - `autodiff`: the gradients of all of them on an autodiff device.

// Without a backend there is nothing to dispatch to, and the macro below leaves arguments unused.
#![cfg_attr(
    not(any(feature = "flex", feature = "ndarray", feature = "cube", feature = "remote")),
    allow(unused_variables)
)]

use std::sync::Arc;

use ::burn::backend::tensor::{FloatTensor, IntTensor};
use ::burn::backend::{Backend, TensorMetadata, backend_extension};
use ::burn::tensor::{Scalar, Shape};

use crate::geometry::operator::RegionOperator;
use crate::geometry::plan::Region;

#[cfg(feature = "autodiff")]
mod autodiff;
mod backward_call;
#[cfg(feature = "cube")]
mod cube;
mod fallback;
#[cfg(feature = "flex")]
mod flex;
mod host_memory;
#[cfg(feature = "remote")]
pub mod remote;
mod support;

pub use backward_call::BackwardCall;
#[cfg(feature = "flex")]
pub(crate) use flex::kept_outputs;
#[cfg(feature = "remote")]
pub(crate) use support::is_supported;
pub use support::{DeviceKind, DeviceSupport, RoiBackend};
pub use support::{is_host, is_remote};

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

/// The regions of a call, read to the host and checked.
pub type HostRegions = Arc<[Region]>;

/// The kernels that all region operators come down to. A backend without kernels of its own inherits the bodies.
///
/// Arguments have been checked: `boxes` is `[K, columns]`, with the columns of the operator, of f32 or of the dtype of
/// `features`, and `batch_indices` is `[K]`. But for `without_pixels`, K is not 0, and no size of `features`, `[N, C,
/// H, W]`, or of the output is 0. The output fits into memory. `regions` are the boxes and batch indices, read to the
/// host and checked; `None` on a device that is not of the kind `Host`.
#[backend_extension(
    Cube: cfg(feature = "cube"),
    Flex: cfg(feature = "flex"),
    NdArray: cfg(feature = "ndarray"),
    Remote: cfg(feature = "remote"),
    Fusion: cfg(feature = "cube"),
    Autodiff: cfg(feature = "autodiff"),
)]
pub trait RegionKernels: Backend {
    /// Pools regions to `[K, channels, P, Q]`. Rows of boxes that are not in `operator.areas` are unspecified.
    #[fusion(dtype = features, shape = output_shape(features, boxes, operator))]
    fn pool(
        features: FloatTensor<Self>,
        boxes: FloatTensor<Self>,
        batch_indices: IntTensor<Self>,
        regions: Option<HostRegions>,
        operator: RegionOperator,
    ) -> FloatTensor<Self> {
        fallback::pool::<Self>(None, features, boxes, batch_indices, regions, &operator)
    }

    /// Pools further regions into `pooled`, `[K, channels, P, Q]`, from features of another size but of as many images
    /// and channels: one more level of a feature pyramid. Rows of boxes that are not in `operator.areas` stay as they
    /// are.
    #[fusion(dtype = pooled, shape = pooled)]
    fn pool_level(
        pooled: FloatTensor<Self>,
        features: FloatTensor<Self>,
        boxes: FloatTensor<Self>,
        batch_indices: IntTensor<Self>,
        regions: Option<HostRegions>,
        operator: RegionOperator,
    ) -> FloatTensor<Self> {
        fallback::pool::<Self>(Some(pooled), features, boxes, batch_indices, regions, &operator)
    }

    /// The output where no pixel is read, as where there is no image or no region: one value in all elements. On an
    /// autodiff device it belongs to the graph of its inputs, whose gradients are 0.
    #[fusion(default)]
    fn without_pixels(
        features: FloatTensor<Self>,
        boxes: FloatTensor<Self>,
        operator: RegionOperator,
    ) -> FloatTensor<Self> {
        let shape = output_shape(&features.shape(), &boxes.shape(), &operator);
        let value = Scalar::from(operator.value_without_pixels());
        Self::float_full(shape, value, &features.device(), features.dtype().into())
    }

    /// The gradient of features of a shape `[N, C, H, W]` from that of the output, for an operator that averages: it
    /// needs no features. Boxes that are not in `operator.areas` have no part in it.
    #[fusion(dtype = gradient, shape = Shape::new(*shape))]
    fn average_gradient(
        gradient: FloatTensor<Self>,
        boxes: FloatTensor<Self>,
        batch_indices: IntTensor<Self>,
        regions: Option<HostRegions>,
        operator: RegionOperator,
        shape: [usize; 4],
    ) -> FloatTensor<Self> {
        // `regions` holds both.
        let _ = (boxes, batch_indices);
        fallback::features_gradient::<Self>(gradient, None, regions, &operator, shape)
    }

    /// The gradient of features from that of the output, for an operator that takes a maximum.
    #[fusion(dtype = gradient, shape = features)]
    fn maximum_gradient(
        gradient: FloatTensor<Self>,
        features: FloatTensor<Self>,
        boxes: FloatTensor<Self>,
        batch_indices: IntTensor<Self>,
        regions: Option<HostRegions>,
        operator: RegionOperator,
    ) -> FloatTensor<Self> {
        // `regions` holds both.
        let _ = (boxes, batch_indices);
        let shape = features.shape().dims();
        fallback::features_gradient::<Self>(gradient, Some(features), regions, &operator, shape)
    }

    /// The gradient `[K, columns]` of boxes, in their dtype, from that of the output, for an operator whose elements
    /// move with boxes. It is 0 for boxes that are not in `operator.areas`.
    #[fusion(dtype = boxes, shape = boxes)]
    fn boxes_gradient(
        gradient: FloatTensor<Self>,
        features: FloatTensor<Self>,
        boxes: FloatTensor<Self>,
        batch_indices: IntTensor<Self>,
        regions: Option<HostRegions>,
        operator: RegionOperator,
    ) -> FloatTensor<Self> {
        // `regions` holds them.
        let _ = batch_indices;
        fallback::boxes_gradient::<Self>(gradient, features, boxes, regions, &operator)
    }
}

#[cfg(feature = "ndarray")]
impl RegionKernels for burn::backend::NdArray {}

/// The shape `[K, channels, P, Q]` of an operator's output.
pub(crate) fn output_shape(features: &Shape, boxes: &Shape, operator: &RegionOperator) -> Shape {
    let [rows, columns] = operator.output_size;
    let channels = operator
        .channel_map
        .output_channels(features[1], operator.output_size)
        .expect("the channels were checked to divide");
    Shape::new([boxes[0], channels, rows, columns])
}
