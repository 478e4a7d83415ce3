//! Layers of another dtype than f32.

use burn::module::{Module, ModuleMapper, Param};
use burn::tensor::{DType, Device, Tensor};
use burn_roi::RoiError;

use super::rcnn::GeneralizedRcnn;
use crate::error::DetectionError;

/// Checks that a device computes in a dtype.
pub fn check_dtype(argument: &'static str, dtype: DType, device: &Device) -> Result<(), DetectionError> {
    if device.supports_dtype(dtype) {
        return Ok(());
    }
    let device = device.clone().inner();
    Err(DetectionError::from(RoiError::DType {
        argument,
        dtype,
        expected: format!("a dtype that {:?} supports", device.as_dispatch()),
    }))
}

/// The layers with weights of a dtype, except for those of norms and of a body of the caller's. Backward passes through
/// them reach the weights of `model`.
pub fn with_layers_dtype(model: GeneralizedRcnn, dtype: DType) -> GeneralizedRcnn {
    model.map(&mut CastWeights { dtype, inside: 0 })
}

/// What Burn calls the norms.
const NORMS: [&str; 3] = ["Struct:BatchNorm", "Struct:GroupNorm", "Struct:LayerNorm"];

/// Whether a module's weights stay f32: a norm, or a body of the caller's, which may have norms of any kind.
fn stays(name: &str, container_type: &str) -> bool {
    NORMS.contains(&container_type) || (name, container_type) == ("Custom", "Enum:Body")
}

/// Casts all weights but those of modules that stay f32. Clones of a model share its running statistics, which mapping
/// changes in place.
struct CastWeights {
    dtype: DType,
    /// How many modules that stay f32 the mapped weight is inside of.
    inside: usize,
}

impl ModuleMapper for CastWeights {
    fn enter_module(&mut self, name: &str, container_type: &str) {
        self.inside += usize::from(stays(name, container_type));
    }

    fn exit_module(&mut self, name: &str, container_type: &str) {
        self.inside -= usize::from(stays(name, container_type));
    }

    fn map_float<const D: usize>(&mut self, weight: Param<Tensor<D>>) -> Param<Tensor<D>> {
        match self.inside {
            0 => weight.map(|weight| weight.cast(self.dtype)),
            _ => weight,
        }
    }
}
