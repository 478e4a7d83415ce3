//! The operators. Each is a function, a `try_` function and a module on Burn's `Tensor`, and the same
//! by backend type parameter in [`primitive`](crate::primitive).

mod crop_and_resize;
mod multi_scale_roi_align;
pub mod primitive;
mod roi_align;
mod roi_pool;

pub use crop_and_resize::{CropAndResize, CropAndResizeConfig, crop_and_resize, try_crop_and_resize};
pub use multi_scale_roi_align::{
    MultiScaleRoiAlign, MultiScaleRoiAlignConfig, infer_scales, multi_scale_roi_align, try_infer_scales,
    try_multi_scale_roi_align,
};
pub use roi_align::{RoiAlign, RoiAlignConfig, roi_align, try_roi_align};
pub use roi_pool::{RoiPool, RoiPoolConfig, roi_pool, try_roi_pool};

use burn::backend::{DispatchAutodiffContext, DispatchTensor};
use burn::tensor::Tensor;

use crate::error::RoiError;
use crate::rois::Rois;

/// Runs an operator on Burn's tensors: the device decides the backend.
fn dispatch(
    features: Tensor<4>,
    rois: &Rois,
    operator: impl FnOnce(DispatchTensor, DispatchTensor, DispatchTensor) -> Result<DispatchTensor, RoiError>,
) -> Result<Tensor<4>, RoiError> {
    let features = without_autodiff("features", features.into_dispatch())?;
    let boxes = without_autodiff("boxes", rois.boxes().into_dispatch())?;
    let batch_indices = without_autodiff("batch_indices", rois.batch_indices().into_dispatch())?;
    operator(features, boxes, batch_indices).map(Tensor::from_dispatch)
}

fn without_autodiff(argument: &'static str, tensor: DispatchTensor) -> Result<DispatchTensor, RoiError> {
    match tensor.autodiff {
        DispatchAutodiffContext::Disabled => Ok(tensor),
        DispatchAutodiffContext::Enabled(_) => Err(RoiError::Autodiff { argument }),
    }
}

/// Checks that are common to the operators' options.
mod options {
    use std::ops::RangeInclusive;

    use super::RoiError;
    use crate::geometry::convention::{MAXIMUM_FIXED_SAMPLES, MAXIMUM_OUTPUT_SIZE, Sampling};

    /// Checks the height and the width of an output.
    pub fn output_size(argument: &'static str, size: [usize; 2]) -> Result<(), RoiError> {
        let fits = size.iter().all(|side| (1..=MAXIMUM_OUTPUT_SIZE).contains(side));
        check(argument, fits, format!("{size:?}"), "1 to 32767 in height and in width")
    }

    /// Checks a spatial scale, which is used in f32.
    pub fn scale(argument: &'static str, scale: f64) -> Result<(), RoiError> {
        let single = scale as f32;
        let fits = single.is_finite() && single > 0.0;
        check(argument, fits, scale.to_string(), "finite and above 0")
    }

    /// Checks a number that is used in f32.
    pub fn finite(argument: &'static str, value: f64) -> Result<(), RoiError> {
        check(argument, (value as f32).is_finite(), value.to_string(), "finite")
    }

    /// Checks how many samples an output element takes.
    pub fn sampling(sampling: Sampling) -> Result<(), RoiError> {
        const RANGE: &str = "1 to 1024";
        let samples = 1..=MAXIMUM_FIXED_SAMPLES;
        match sampling {
            Sampling::Fixed(fixed) => check("sampling ratio", samples.contains(&fixed), fixed.to_string(), RANGE),
            Sampling::Adaptive => Ok(()),
            Sampling::Clamped { minimum, maximum } => {
                check(
                    "minimum samples",
                    samples.contains(&minimum),
                    minimum.to_string(),
                    RANGE,
                )?;
                let expected = "at least the minimum samples";
                check("maximum samples", maximum >= minimum, maximum.to_string(), expected)
            }
        }
    }

    /// Checks a number against its range.
    pub fn within(
        argument: &'static str,
        value: f64,
        range: RangeInclusive<f64>,
        expected: &'static str,
    ) -> Result<(), RoiError> {
        check(argument, range.contains(&value), value.to_string(), expected)
    }

    fn check(argument: &'static str, fits: bool, value: String, expected: &'static str) -> Result<(), RoiError> {
        if fits {
            return Ok(());
        }
        Err(RoiError::Option {
            argument,
            value,
            expected,
        })
    }
}
