//! [`Pool3d`], which makes a module of each config, and the macro that declares an operator on volumes.

use std::fmt::Debug;

use burn::module::Module;
use burn::tensor::Tensor;

use super::operators::Operates3d;
use super::pool;
use crate::error::or_panic;
use crate::regions::Rois3d;

/// An operator on volumes as a module: [`RoiAlign3d`](crate::RoiAlign3d) is `Pool3d<RoiAlign3dConfig>`, and so on. The
/// config's `init` creates it.
#[derive(Module, Debug)]
pub struct Pool3d<C: Clone + Debug + Send + Sync + 'static> {
    /// What it computes.
    #[module(skip)]
    pub config: C,
}

impl<C: Operates3d> Pool3d<C> {
    /// Applies the operator: features `[N, C, D, H, W]` and K regions to `[K, C, P, Q, R]`.
    ///
    /// # Panics
    ///
    /// As the operator's function does.
    pub fn forward(&self, features: Tensor<5>, rois: &Rois3d) -> Tensor<5> {
        or_panic(pool::pool(features, rois, &self.config))
    }
}

/// Declares the functions and the module of an operator on volumes.
macro_rules! operator_3d {
    (
        $(#[$documentation:meta])*
        fn $function:ident($config:ident) -> $module:ident;
        $(#[$errors:meta])*
        fn $try_function:ident;
    ) => {
        $crate::ops::module::functions! {
            [Pool3d, $crate::ops::volume::pool::pool] of 5;
            $(#[$documentation])*
            ///
            /// Devices, dtypes, precision and the treatment of wrong regions are those of
            /// [`roi_align`](crate::roi_align()). There are gradients of features and of boxes.
            fn $function($config, Rois3d) -> $module;
            $(#[$errors])*
            /// - [`RoiError::Shape`]: the volume has a depth, a height or a width of 0, and there are regions.
            /// - [`RoiError::DepthNotFinite`]: on Flex and NdArray only.
            /// - All other errors of [`try_roi_align`](crate::try_roi_align), for the same reasons.
            fn $try_function;
        }
    };
}

pub(super) use operator_3d;
