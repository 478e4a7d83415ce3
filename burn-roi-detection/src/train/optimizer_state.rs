//! Whether the state of an optimizer is that of a model. Burn takes it as it is, and then panics in a step or forgets
//! the momentum.

use std::collections::BTreeMap;

use burn::optim::OptimizerRecord;
use burn::tensor::{Bytes, DType};
use burn_store::ModuleSnapshot;
use burn_store::burn_pack::Reader;

/// The state of an optimizer that took a step of this model, whose parameters have their identifiers of then.
pub fn read(bytes: Vec<u8>, model: &impl ModuleSnapshot, has_momentum: bool) -> Result<OptimizerRecord, String> {
    let tensors = model.collect(None, None, true).into_iter();
    let shapes: BTreeMap<String, Vec<usize>> = tensors
        .filter_map(|tensor| Some((tensor.param_id?.to_string(), tensor.shape.to_vec())))
        .collect();
    let shape_of = |name: &str| name.split_once('.').and_then(|(parameter, _)| shapes.get(parameter));
    let reader = Reader::from_bytes(Bytes::from_bytes_vec(bytes.clone())).map_err(|error| error.to_string())?;
    for (name, &rank) in reader.scalars() {
        if shape_of(name).is_none_or(|shape| Ok(shape.len()) != usize::try_from(rank)) {
            return Err(format!(
                "the optimizer has {name} = {rank:?}, which is no rank of a parameter of the model"
            ));
        }
    }
    let tensors = reader.into_tensors().map_err(|error| error.to_string())?;
    if has_momentum && tensors.is_empty() {
        return Err("the optimizer has no momentum, but steps were taken".to_string());
    }
    for tensor in &tensors {
        let (name, shape) = (&tensor.name, tensor.shape.to_vec());
        let expected = shape_of(name).filter(|_| tensor.param_id.is_some_and(|id| name.starts_with(&format!("{id}."))));
        let expected =
            expected.ok_or_else(|| format!("the optimizer has {name}, which is of no parameter of the model"))?;
        if *expected != shape || tensor.dtype != DType::F32 {
            let dtype = tensor.dtype;
            return Err(format!(
                "the momentum {name} is {dtype:?} {shape:?}, but must be F32 {expected:?}"
            ));
        }
    }
    OptimizerRecord::from_bytes(Bytes::from_bytes_vec(bytes)).map_err(|error| error.to_string())
}
