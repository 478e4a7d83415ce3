//! From a state dict to a detector, and back.

use std::collections::BTreeMap;

use burn::tensor::{DType, TensorData};
use burn_store::{FloatCastAdapter, ModuleAdapter, ModuleSnapshot, PyTorchToBurnAdapter, bridge};

use super::error::{Mismatch, Misshapen, WeightsError};
use super::names::NameTable;
use super::state_dict::StateDict;
use crate::models::{Detector, DetectorConfig, GeneralizedRcnn, collected, field_of, shapes};

impl StateDict {
    /// Puts all weights into a detector, in f32, or in the dtype of
    /// [`with_layers_dtype`](Detector::with_layers_dtype).
    ///
    /// # Errors
    ///
    /// - [`WeightsError::Mismatch`]: the names or shapes do not fit the detector, which stays as it is. The error lists
    ///   all differences.
    /// - [`WeightsError::NotFinite`]: a weight is NaN or infinite, and the detector stays as it is.
    /// - [`WeightsError::Tensor`]: a tensor could not be replaced, since its data is damaged.
    pub fn load_into(
        self,
        detector: &mut Detector,
        names: impl Fn(&DetectorConfig) -> NameTable,
    ) -> Result<(), WeightsError> {
        let names = names(detector.config());
        self.load_fields(detector, |field| Some(names.names(field)), |_| true)
    }

    /// Replaces some tensors of a detector.
    ///
    /// - `names`: the names of a field in these weights. `None`: the tensor stays as it is.
    /// - `is_expected`: whether a weight of this name must be one of the detector.
    pub(super) fn load_fields(
        mut self,
        detector: &mut Detector,
        names: impl Fn(&str) -> Option<Vec<String>>,
        is_expected: impl Fn(&str) -> bool,
    ) -> Result<(), WeightsError> {
        let mut mismatch = Mismatch::default();
        let mut fields = BTreeMap::new();
        for (field, expected) in shapes(detector.model()) {
            let Some(candidates) = names(&field) else {
                continue;
            };
            let Some(name) = candidates.iter().find(|name| self.tensors.contains_key(*name)) else {
                mismatch.missing.extend(candidates.into_iter().next());
                continue;
            };
            let Some(data) = self.tensors.remove(name) else {
                continue;
            };
            if !is_finite(&data) {
                return Err(WeightsError::NotFinite { name: name.clone() });
            }
            if data.shape().to_vec() == expected {
                fields.insert(field, data);
            } else {
                mismatch.misshapen.push(Misshapen {
                    name: name.clone(),
                    stored: data.shape().to_vec(),
                    expected,
                });
            }
        }
        mismatch.unexpected = self.tensors.into_keys().filter(|name| is_expected(name)).collect();
        if !mismatch.is_none() {
            return Err(WeightsError::Mismatch {
                model: detector.config().name.clone(),
                mismatch: Box::new(mismatch),
            });
        }
        let dtype = detector.layers_dtype();
        replace(detector.model_mut(), fields)?;
        detector.keep_layers_dtype(dtype);
        Ok(())
    }

    /// The weights of a detector in f32.
    ///
    /// # Errors
    ///
    /// [`WeightsError::Tensor`]: a tensor could not be read from its device.
    pub fn of(detector: &Detector, names: impl Fn(&DetectorConfig) -> NameTable) -> Result<Self, WeightsError> {
        let names = names(detector.config());
        let tensors = collected(detector.model()).into_iter().map(|tensor| {
            let field = field_of(&tensor.name);
            let name = names.names(&field).into_iter().next().unwrap_or(field);
            match bridge::into_data(tensor) {
                Ok(data) => Ok((name, data.convert_dtype(DType::F32))),
                Err(error) => Err(WeightsError::Tensor {
                    name,
                    reason: error.to_string(),
                }),
            }
        });
        let tensors = tensors.collect::<Result<_, _>>()?;
        Ok(Self { tensors })
    }
}

fn is_finite(data: &TensorData) -> bool {
    match data.dtype() {
        DType::F64 => data.iter::<f64>().all(f64::is_finite),
        // Halves have no value that f32 lacks.
        _ => data.iter::<f32>().all(f32::is_finite),
    }
}

/// Replaces tensors of a model. They have the right shapes.
fn replace(model: &mut GeneralizedRcnn, fields: BTreeMap<String, TensorData>) -> Result<(), WeightsError> {
    let count = fields.len();
    let tensors = fields
        .into_iter()
        .map(|(field, data)| bridge::from_data(data, field, None));
    let adapter = PyTorchToBurnAdapter.chain(FloatCastAdapter::to(DType::F32));
    let result = model.apply(tensors.collect(), None, Some(Box::new(adapter)), true);
    let failed = |name: String, reason: String| Err(WeightsError::Tensor { name, reason });
    if let Some(error) = result.errors.first() {
        return failed("of a layer".to_string(), error.to_string());
    }
    match result.applied.len() {
        applied if applied == count => Ok(()),
        applied => failed(
            "of a layer".to_string(),
            format!("{applied} of {count} tensors were replaced"),
        ),
    }
}
