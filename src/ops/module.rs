//! [`Pool`], which makes a module of each operator's config, and the macros that declare an operator's functions.

use std::fmt::Debug;

use burn::module::Module;
use burn::tensor::Tensor;

use super::call;
use super::operator_config::Operates;
use crate::error::or_panic;

/// An operator as a module: [`RoiAlign`](crate::RoiAlign) is `Pool<RoiAlignConfig>`, and so on. The config's `init`
/// creates it.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi::{RoiAlign, RoiAlignConfig, Rois};
///
/// let device = Device::default();
/// let roi_align: RoiAlign = RoiAlignConfig::new([7, 7]).with_spatial_scale(0.25).init();
/// let features = Tensor::<4>::ones([1, 8, 50, 76], &device);
/// let boxes = Tensor::<2>::from_floats([[16.0, 16.0, 240.0, 128.0]], &device);
/// let pooled = roi_align.forward(features, &Rois::from_images(vec![boxes]));
/// assert_eq!(pooled.dims(), [1, 8, 7, 7]);
/// ```
#[derive(Module, Debug)]
pub struct Pool<C: Clone + Debug + Send + Sync + 'static> {
    /// What it computes.
    #[module(skip)]
    pub config: C,
}

impl<C: Operates> Pool<C> {
    /// Applies the operator: features `[N, C, H, W]` and K regions to `[K, channels, P, Q]`, without offsets.
    ///
    /// # Panics
    ///
    /// As the operator's function does.
    pub fn forward(&self, features: Tensor<4>, rois: &C::Rois) -> Tensor<4> {
        or_panic(call::pool_tensor(features, rois, None, &self.config))
    }
}

/// Declares an operator's function, its `try_` function, whose attributes list the errors, and its module, with `init`
/// of its config. The module is `$pool<$config>`, and `$call` computes the operator on tensors of so many dimensions.
macro_rules! functions {
    (
        [$pool:ident, $call:path $(, $option:expr)?] of $rank:literal;
        $(#[$documentation:meta])*
        fn $function:ident($config:ident, $rois:ident $(, $offsets:ident)?) -> $module:ident;
        $(#[$errors:meta])*
        fn $try_function:ident;
    ) => {
        $crate::error::panicking! {
            $(#[$documentation])*
            pub fn $function(
                features: burn::tensor::Tensor<$rank>,
                rois: &$rois,
                $($offsets: Option<burn::tensor::Tensor<$rank>>,)?
                config: impl Into<$config>,
            ) -> burn::tensor::Tensor<$rank>;
            $(#[$errors])*
            pub fn $try_function {
                $call(features, rois, $($option,)? &config.into())
            }
        }

        $crate::internal::paste! {
            #[doc = "[`" $function "`] as a module. Created by [`" $config "::init`]."]
            pub type $module = $crate::ops::$pool<$config>;

            impl $config {
                /// Creates the module.
                pub fn init(&self) -> $module {
                    $module { config: self.clone() }
                }
            }

            $(impl $module {
                #[doc = "Applies [`" $function "`] with offsets."]
                ///
                /// # Panics
                ///
                #[doc = "As [`" $function "`] does."]
                pub fn forward_with_offsets(
                    &self,
                    features: burn::tensor::Tensor<$rank>,
                    rois: &$rois,
                    $offsets: burn::tensor::Tensor<$rank>,
                ) -> burn::tensor::Tensor<$rank> {
                    $function(features, rois, Some($offsets), self.config.clone())
                }
            })?
        }
    };
}

pub(super) use functions;

/// Declares the functions and the module of an operator on maps. In braces behind the config stand the options that a
/// level of a pyramid multiplies by its scale.
macro_rules! operator {
    (
        $(#[$documentation:meta])*
        fn $function:ident($config:ident { $($scale:ident),* }, $rois:ident $(, $offsets:ident)?) -> $module:ident;
        $(#[$errors:meta])*
        fn $try_function:ident;
    ) => {
        impl $crate::ops::operator_config::Operates for $config {
            type Rois = $rois;

            fn spatial_scales(&mut self) -> Vec<&mut f64> {
                vec![$(&mut self.$scale),*]
            }
        }

        $crate::ops::module::functions! {
            [Pool, $crate::ops::call::pool_tensor, None$(.or($offsets))?] of 4;
            $(#[$documentation])*
            ///
            /// Features are of f32, or of another float dtype if the device has it: f16, bf16 and f64 on Flex, f64 on
            /// NdArray, f16 and bf16 on many GPUs. They may have any strides. Boxes have the features' dtype, or f32
            /// for features of f16 or bf16, and are on the same device. Coordinates and sums are f32 (f64 for f64), and
            /// the result is rounded once to the features' dtype.
            ///
            /// On Flex and NdArray a box, an angle or an offset that is not finite and a batch index out of range are
            /// errors. GPU backends and remote devices do not copy them back to check them: the output of such a
            /// region or element is the out-of-bounds value, or 0 if the operator has none. `validate` of the regions
            /// finds such boxes, angles and indices. It does not check offsets.
            fn $function($config, $rois $(, $offsets)?) -> $module;
            $(#[$errors])*
            fn $try_function;
        }
    };
}

pub(super) use operator;
