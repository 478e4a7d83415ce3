//! [`HalfPrecision`]: layers of f16 or bf16 beside weights of f32.

use burn::tensor::{DType, Device};
use serde::{Deserialize, Serialize};

use crate::arguments;
use crate::error::DetectionError;
use crate::models::{Detector, check_dtype, with_layers_dtype};

/// The dtype of the layers while a [`Trainer`](super::Trainer) trains, as with torch's automatic mixed precision.
///
/// Convolutions, linear layers and the pooling of regions run in this dtype, on weights that are cast for each forward
/// pass. The weights themselves, their gradients and the optimizer stay f32, and so do norms, anchors, boxes,
/// proposals, losses, and a [`CustomBody`](crate::models::CustomBody).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub enum HalfPrecision {
    /// bf16, which has the range of f32 and a precision of 8 bits.
    BF16,
    /// f16, which has a precision of 11 bits, and no number below 6e-8 or above 65504.
    F16 {
        /// The factor of the loss for the backward pass, which keeps small gradients above 0. The gradients of the
        /// weights are divided by it again. Finite and above 0; a power of two adds no rounding. Unlike torch's
        /// `GradScaler`, which begins with 65536, the trainer does not change it.
        loss_scale: f64,
    },
}

impl HalfPrecision {
    pub(super) fn loss_scale(self) -> f64 {
        match self {
            Self::BF16 => 1.0,
            Self::F16 { loss_scale } => loss_scale,
        }
    }

    fn dtype(self) -> DType {
        match self {
            Self::BF16 => DType::BF16,
            Self::F16 { .. } => DType::F16,
        }
    }

    /// Checks the loss scale, and that a device computes in the dtype.
    pub(super) fn check(self, device: &Device) -> Result<(), DetectionError> {
        let scale = self.loss_scale();
        let fits = scale.is_finite() && scale > 0.0;
        arguments::check("loss_scale", fits, scale, "finite, and above 0")?;
        check_dtype("half_precision", self.dtype(), device)
    }

    /// The detector with its weights in this dtype. Backward passes through it reach the weights of `detector`.
    pub(super) fn cast(self, detector: &Detector) -> Detector {
        let mut cast = detector.clone();
        *cast.model_mut() = with_layers_dtype(detector.model().clone(), self.dtype());
        cast
    }
}
