//! What every backend does: [`RegionKernels`], the one contract, and [`DeviceSupport`], what a device can do.
//!
//! - [`call`]: what every kernel takes of a call.
//! - [`fallback`]: tensor operations of any Burn backend; a backend without kernels inherits them.
//! - `flex`: SIMD kernels on several threads, over Flex's storage.
//! - `cube`: CubeCL kernels for every GPU runtime.
//! - `remote`: messages to a server that has another backend.
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
mod call;
#[cfg(feature = "cube")]
mod cube;
mod fallback;
#[cfg(feature = "flex")]
mod flex;
mod host_memory;
#[cfg(feature = "remote")]
pub mod remote;
mod support;

pub use call::{CoarserLevels, MaximumOfSamples, RegionCall};
pub use fallback::{cast, of_channels, wide};
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
/// Arguments have been checked. But for `without_pixels`, K is not 0, and no size of features, `[N, C, H, W]`, or of
/// the output is 0. The output fits into memory.
#[backend_extension(
    Cube: cfg(feature = "cube"),
    Flex: cfg(feature = "flex"),
    NdArray: cfg(feature = "ndarray"),
    Remote: cfg(feature = "remote"),
    Fusion: cfg(feature = "cube"),
    Autodiff: cfg(feature = "autodiff"),
)]
pub trait RegionKernels: Backend {
    /// Pools regions to `[K, channels, P, Q]`. Rows of boxes that are not in `call.operator.areas` are unspecified.
    #[fusion(dtype = features, shape = output_shape(call.features_shape, call.boxes.shape[0], &call.operator))]
    fn pool(features: FloatTensor<Self>, #[extension_type] call: RegionCall<Self>) -> FloatTensor<Self> {
        fallback::pool::<Self>(None, features, call)
    }

    /// Pools further regions into `pooled`, `[K, channels, P, Q]`, from features of another size but of as many images
    /// and channels: one more level of a feature pyramid. Rows of boxes that are not in `call.operator.areas` stay as
    /// they are.
    #[fusion(dtype = pooled, shape = pooled)]
    fn pool_level(
        pooled: FloatTensor<Self>,
        features: FloatTensor<Self>,
        #[extension_type] call: RegionCall<Self>,
    ) -> FloatTensor<Self> {
        fallback::pool::<Self>(Some(pooled), features, call)
    }

    /// Pools the regions of a feature pyramid, each by the operator of its level. `operators` has one for each level,
    /// from the finest on, and `call` is that of the finest. Every region belongs to a level.
    #[fusion(dtype = finest, shape = output_shape(call.features_shape, call.boxes.shape[0], &call.operator))]
    fn pool_pyramid(
        finest: FloatTensor<Self>,
        #[extension_type] coarser: CoarserLevels<Self>,
        operators: Vec<RegionOperator>,
        #[extension_type] call: RegionCall<Self>,
    ) -> FloatTensor<Self> {
        pool_levels::<Self>(coarser.with(finest), &operators, &call)
    }

    /// Pools regions as [`pool`](Self::pool) does, by an operator that takes a maximum of pixels, and returns besides
    /// where each maximum was read, for [`gradient_at`](Self::gradient_at). Only on a device that keeps positions.
    #[fusion(meta = |features, call| {
        use burn::backend::fusion::custom::TensorSpec;
        let shape = output_shape(call.features_shape, call.boxes.shape[0], &call.operator);
        (
            TensorSpec::new(shape.clone(), features.dtype),
            TensorSpec::new(shape, ::burn::tensor::DType::U32),
        )
    })]
    fn pool_with_positions(
        features: FloatTensor<Self>,
        #[extension_type] call: RegionCall<Self>,
    ) -> (FloatTensor<Self>, IntTensor<Self>) {
        keeps_no_positions((features, call))
    }

    /// The output where no pixel is read, as where there is no image or no region: one value in all elements. On an
    /// autodiff device it belongs to the graph of its inputs, whose gradients are 0.
    #[fusion(default)]
    fn without_pixels(features: FloatTensor<Self>, #[extension_type] call: RegionCall<Self>) -> FloatTensor<Self> {
        let value = Scalar::from(call.operator.value_without_pixels());
        Self::float_full(call.output_shape(), value, &features.device(), features.dtype().into())
    }

    /// The gradient of features from that of the output, for an operator that averages: it needs no features. Boxes
    /// that are not in `call.operator.areas` have no part in it.
    #[fusion(dtype = gradient, shape = Shape::new(call.features_shape))]
    fn average_gradient(gradient: FloatTensor<Self>, #[extension_type] call: RegionCall<Self>) -> FloatTensor<Self> {
        fallback::features_gradient::<Self>(gradient, None, call)
    }

    /// The gradient of features from that of the output, for an operator that takes a maximum.
    #[fusion(dtype = gradient, shape = features)]
    fn maximum_gradient(
        gradient: FloatTensor<Self>,
        features: FloatTensor<Self>,
        #[extension_type] call: RegionCall<Self>,
    ) -> FloatTensor<Self> {
        fallback::features_gradient::<Self>(gradient, Some(features), call)
    }

    /// The same, from where [`pool_with_positions`](Self::pool_with_positions) has read each maximum.
    #[fusion(dtype = gradient, shape = Shape::new(call.features_shape))]
    fn gradient_at(
        gradient: FloatTensor<Self>,
        positions: IntTensor<Self>,
        #[extension_type] call: RegionCall<Self>,
    ) -> FloatTensor<Self> {
        keeps_no_positions((gradient, positions, call))
    }

    /// The gradient `[K, columns]` of boxes, in their dtype, from that of the output, for an operator whose elements
    /// move with boxes. It is 0 for boxes that are not in `call.operator.areas`.
    #[fusion(dtype = call.boxes.dtype, shape = call.boxes.shape.clone())]
    fn boxes_gradient(
        gradient: FloatTensor<Self>,
        features: FloatTensor<Self>,
        #[extension_type] call: RegionCall<Self>,
    ) -> FloatTensor<Self> {
        fallback::boxes_gradient::<Self>(gradient, features, call)
    }

    /// Pools regions of volumes `[N, C * D, H, W]` to `[K, C, P, Q * R]`. `slices` pools each slice, and `depths` its
    /// output as maps `[K, C, D, Q * R]`, a map for each region. If an element is a maximum of samples, these are the
    /// elements of both calls.
    #[fusion(default)]
    fn pool_volumes(
        features: FloatTensor<Self>,
        #[extension_type] slices: RegionCall<Self>,
        #[extension_type] depths: RegionCall<Self>,
        maximum: Option<MaximumOfSamples>,
    ) -> FloatTensor<Self> {
        fallback::pool_volumes::<Self>(features, &slices, &depths, maximum)
    }

    /// The gradient of volumes from that of the output `[K, C, P, Q * R]`, for operators that average.
    #[fusion(default)]
    fn volumes_gradient(
        gradient: FloatTensor<Self>,
        #[extension_type] slices: RegionCall<Self>,
        #[extension_type] depths: RegionCall<Self>,
    ) -> FloatTensor<Self> {
        fallback::volumes_gradient::<Self>(gradient, &slices, &depths)
    }
}

/// The body of what is only called on a device that keeps positions.
fn keeps_no_positions<T>(_call: T) -> ! {
    unreachable!("a device that keeps positions has kernels of its own")
}

/// Pools the levels of a pyramid one after another.
pub fn pool_levels<B: RegionKernels>(
    levels: Vec<FloatTensor<B>>,
    operators: &[RegionOperator],
    call: &RegionCall<B>,
) -> FloatTensor<B> {
    let mut levels = levels.into_iter().zip(operators).map(|(features, &operator)| {
        let call = call.on_level(&features, operator);
        (features, call)
    });
    let (finest, of_finest) = levels.next().expect("there is a level");
    let pooled = if of_finest.operator.areas.begin_at_zero() {
        B::pool(finest, of_finest)
    } else {
        // A box may belong to no level, and then keeps this value.
        B::pool_level(B::without_pixels(finest.clone(), of_finest.clone()), finest, of_finest)
    };
    levels.fold(pooled, |pooled, (features, call)| B::pool_level(pooled, features, call))
}

#[cfg(feature = "ndarray")]
impl RegionKernels for burn::backend::NdArray {}

/// The shape `[K, channels, P, Q]` of the output for so many regions on features of a shape `[N, C, H, W]`.
pub(crate) fn output_shape(features: [usize; 4], regions: usize, operator: &RegionOperator) -> Shape {
    let [rows, columns] = operator.output_size;
    let channels = operator
        .channel_map
        .output_channels(features[1], operator.output_size)
        .expect("the channels were checked to divide");
    Shape::new([regions, channels, rows, columns])
}
