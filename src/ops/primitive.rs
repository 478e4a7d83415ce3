//! The operators on a backend's own tensors, with the backend as a type parameter and without dynamic dispatch.
//!
//! The config's type says which operator runs. The functions compute the same, and return the same errors, as the
//! operator's function on `Tensor`, such as [`roi_align`](crate::roi_align()). They also check what
//! [`Rois::try_new`](crate::Rois::try_new) checks.
//!
//! `Dispatch` is a backend too, so one generic function serves both. All CubeCL runtimes are one type: `Wgpu` and
//! `Cuda` are aliases, and a tensor's device decides which runtime is meant.
//!
//! ```
//! use burn::backend::{Backend, tensor::{FloatTensor, IntTensor}};
//! use burn_roi::primitive::{RegionTensors, pool};
//! use burn_roi::{RoiAlignConfig, RoiBackend};
//!
//! /// A head for any backend: features `[N, C, H, W]`, boxes `[K, 4]` and batch indices `[K]`.
//! fn head<B: RoiBackend>(features: FloatTensor<B>, boxes: FloatTensor<B>, indices: IntTensor<B>) -> FloatTensor<B> {
//!     let config = RoiAlignConfig::new([7, 7]).with_spatial_scale(0.25);
//!     let pooled = pool::<B>(features, RegionTensors::new(boxes, indices), config);
//!     B::float_mul_scalar(pooled, 2.0.into())
//! }
//! ```

use burn::backend::tensor::{FloatTensor, IntTensor};
use burn::backend::{Dispatch, TensorMetadata};
use burn::tensor::DType;

use super::arguments::Arguments;
pub use super::backward::{Backward, PyramidBackward};
use super::operator_config::{Operates, OperatorConfig};
use super::{PyramidConfig, backward, call};
use crate::backend::RoiBackend;
use crate::error::{RoiError, panicking};
use crate::regions::{RegionTable, Regions};

/// Regions as a backend's own tensors, all on one device. Their shapes are checked by the call that takes them.
#[derive(Debug, Clone)]
pub struct RegionTensors<B: RoiBackend> {
    boxes: FloatTensor<B>,
    batch_indices: IntTensor<B>,
    offsets: Option<FloatTensor<B>>,
}

impl<B: RoiBackend> RegionTensors<B> {
    /// - `boxes`: `[K, 4]`, or `[K, 5]` for rotated boxes as in [`RotatedRois`](crate::RotatedRois). They have the
    ///   features' dtype, or f32 for features of f16 or bf16. For [`CropAndResizeConfig`](crate::CropAndResizeConfig) a
    ///   box is TensorFlow's `[y1, x1, y2, x2]` unless the config says otherwise. For other configs it is
    ///   `[x1, y1, x2, y2]`.
    /// - `batch_indices`: `[K]`, of any integer dtype.
    pub fn new(boxes: FloatTensor<B>, batch_indices: IntTensor<B>) -> Self {
        Self {
            boxes,
            batch_indices,
            offsets: None,
        }
    }

    /// Adds offsets of the boxes' dtype, as [`deform_roi_pool`](crate::deform_roi_pool()) or
    /// [`deform_ps_roi_pool`](crate::deform_ps_roi_pool()) takes them.
    pub fn with_offsets(mut self, offsets: FloatTensor<B>) -> Self {
        self.offsets = Some(offsets);
        self
    }

    /// The arguments of a call, whose features come from the same backend.
    fn arguments<C: OperatorConfig>(
        self,
        features: Vec<FloatTensor<B>>,
        _config: &C,
    ) -> Result<Arguments<B>, RoiError> {
        Ok(Arguments {
            features,
            regions: Regions::try_new(self.boxes, self.batch_indices, <C as Operates>::Rois::KIND)?,
            offsets: self.offsets,
        })
    }
}

/// The regions of Burn's tensors, [`Rois`](crate::Rois) or [`RotatedRois`](crate::RotatedRois).
impl<R: RegionTable> From<&R> for RegionTensors<Dispatch> {
    fn from(rois: &R) -> Self {
        let regions = rois.regions();
        Self::new(regions.boxes, regions.batch_indices)
    }
}

panicking! {
/// Pools regions: features `[N, C, H, W]` and K regions to `[K, channels, P, Q]`.
///
/// - `features`: `[N, C, H, W]`, as the operator takes them.
/// - `regions`: K boxes and their batch indices, with offsets if the operator takes them; see [`RegionTensors`].
/// - `config`: an operator's config. It selects the operator.
/// - Returns `[K, channels, P, Q]` in the features' dtype.
pub fn pool<B: RoiBackend>(
    features: FloatTensor<B>,
    regions: RegionTensors<B>,
    config: impl OperatorConfig,
) -> FloatTensor<B>;
/// All errors of the operator's `try_` function, such as [`try_roi_align`](crate::try_roi_align), and of
/// [`Rois::try_new`](crate::Rois::try_new). [`RoiError::Option`] also if there are offsets and the operator takes none.
pub fn try_pool {
    let operator = config.operator(regions.offsets.is_some())?;
    call::pool(regions.arguments(vec![features], &config)?, &config, &[operator])
}
}

panicking! {
/// The gradients of [`pool`]'s features, boxes and offsets from the gradient of its output.
///
/// - `output_gradient`: `[K, channels, P, Q]`, the shape of the output, in the dtype of the features.
/// - `features`, `regions`, `config`: the arguments of [`pool`]. For the gradient of features of an average, you can
///   pass zeros of their shape: the result is the same.
/// - Returns a [`Backward`], which computes each gradient when its function is called.
pub fn backward<B: RoiBackend>(
    output_gradient: FloatTensor<B>,
    features: FloatTensor<B>,
    regions: RegionTensors<B>,
    config: impl OperatorConfig,
) -> Backward<B>;
/// All errors of [`try_pool`]; [`RoiError::Shape`], [`RoiError::DType`] or [`RoiError::Device`] if `output_gradient`
/// does not match the output; [`RoiError::SecondDerivative`] for tensors on an autodiff device.
pub fn try_backward {
    let operator = config.operator(regions.offsets.is_some())?;
    let arguments = regions.arguments(vec![features], &config)?;
    let backward = backward::of_call(output_gradient, arguments, &config, &[operator])?;
    Ok(backward.of_one_map())
}
}

panicking! {
/// Pools regions of a feature pyramid, as [`multi_scale_pool`](crate::multi_scale_pool()) does.
///
/// - `features`: one map `[N, C, Hᵢ, Wᵢ]` for each level, from the finest to the coarsest.
/// - `regions`: K boxes and their batch indices, with offsets if the operator takes them; see [`RegionTensors`].
/// - `scales`: from box coordinates to pixels of each map.
/// - `config`: an operator's config. It selects the operator.
/// - `pyramid`: the rule that chooses the level of a region.
/// - Returns `[K, channels, P, Q]` in the features' dtype: each region once, in the order given.
pub fn multi_scale_pool<B: RoiBackend>(
    features: Vec<FloatTensor<B>>,
    regions: RegionTensors<B>,
    scales: &[f64],
    config: impl OperatorConfig,
    pyramid: PyramidConfig,
) -> FloatTensor<B>;
/// All errors of [`try_multi_scale_pool`](crate::try_multi_scale_pool) and of [`Rois::try_new`](crate::Rois::try_new).
pub fn try_multi_scale_pool {
    let operators = pyramid.operators(scales, &levels::<B>(&features), &config, regions.offsets.is_some())?;
    call::pool(regions.arguments(features, &config)?, &config, &operators)
}
}

panicking! {
/// The gradients of [`multi_scale_pool`]'s features and boxes from the gradient of its output.
///
/// - `output_gradient`: `[K, channels, P, Q]`, the shape of the output, in the dtype of the features.
/// - `features`, `regions`, `scales`, `config`, `pyramid`: the arguments of [`multi_scale_pool`].
/// - Returns a [`PyramidBackward`], which computes each gradient when its function is called.
pub fn multi_scale_backward<B: RoiBackend>(
    output_gradient: FloatTensor<B>,
    features: Vec<FloatTensor<B>>,
    regions: RegionTensors<B>,
    scales: &[f64],
    config: impl OperatorConfig,
    pyramid: PyramidConfig,
) -> PyramidBackward<B>;
/// All errors of [`try_multi_scale_pool`]; [`RoiError::Shape`], [`RoiError::DType`] or [`RoiError::Device`] if
/// `output_gradient` does not match the output; [`RoiError::SecondDerivative`] for tensors on an autodiff device.
pub fn try_multi_scale_backward {
    let operators = pyramid.operators(scales, &levels::<B>(&features), &config, regions.offsets.is_some())?;
    let arguments = regions.arguments(features, &config)?;
    backward::of_call(output_gradient, arguments, &config, &operators)
}
}

/// The dtype of each level.
fn levels<B: RoiBackend>(features: &[FloatTensor<B>]) -> Vec<DType> {
    features.iter().map(TensorMetadata::dtype).collect()
}
