//! [`HalfPrecision`]: layers of f16 or bf16 beside weights of f32.

use burn::module::{Module, ModuleMapper, Param};
use burn::tensor::{DType, Device, Tensor};
use burn_roi::RoiError;
use serde::{Deserialize, Serialize};

use crate::arguments;
use crate::error::DetectionError;
use crate::models::Detector;

/// The dtype of the layers while a [`Trainer`](super::Trainer) trains, as with torch's automatic mixed precision.
///
/// Convolutions, linear layers and the pooling of regions run in this dtype, on weights that are cast for each forward
/// pass. The weights themselves, their gradients and the optimizer stay f32, and so do norms, anchors, boxes, proposals
/// and losses.
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
        let (scale, dtype) = (self.loss_scale(), self.dtype());
        if !(scale.is_finite() && scale > 0.0) {
            return Err(arguments::option("loss_scale", scale, "finite, and above 0"));
        }
        if !device.supports_dtype(dtype) {
            let device = device.clone().inner();
            return Err(DetectionError::from(RoiError::DType {
                argument: "half_precision",
                dtype,
                expected: format!("a dtype that {:?} supports", device.as_dispatch()),
            }));
        }
        Ok(())
    }

    /// The detector with its weights in this dtype. Backward passes through it reach the weights of `detector`.
    pub(super) fn cast(self, detector: &Detector) -> Detector {
        let mut cast = detector.clone();
        let mut weights = CastWeights {
            dtype: self.dtype(),
            norms: 0,
        };
        *cast.model_mut() = detector.model().clone().map(&mut weights);
        cast
    }
}

/// What Burn calls the norms.
const NORMS: [&str; 3] = ["Struct:BatchNorm", "Struct:GroupNorm", "Struct:LayerNorm"];

/// Casts all weights but those of norms. Clones of a model share its running statistics, which mapping
/// changes in place.
struct CastWeights {
    dtype: DType,
    /// How many norms the mapped weight is inside of.
    norms: usize,
}

impl ModuleMapper for CastWeights {
    fn enter_module(&mut self, _name: &str, container_type: &str) {
        self.norms += usize::from(NORMS.contains(&container_type));
    }

    fn exit_module(&mut self, _name: &str, container_type: &str) {
        self.norms -= usize::from(NORMS.contains(&container_type));
    }

    fn map_float<const D: usize>(&mut self, weight: Param<Tensor<D>>) -> Param<Tensor<D>> {
        match self.norms {
            0 => weight.map(|weight| weight.cast(self.dtype)),
            _ => weight,
        }
    }
}
