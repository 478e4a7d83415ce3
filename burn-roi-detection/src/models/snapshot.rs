//! The tensors of a module, by torch's names.

use std::collections::BTreeMap;

use burn_store::burn_pack::Tensor;
use burn_store::{BurnToPyTorchAdapter, ModuleSnapshot};

/// The weights of a module in torch's layout, which are floats. Their data is read when it is asked for.
pub fn collected(model: &impl ModuleSnapshot) -> Vec<Tensor> {
    let mut tensors = model.collect(None, Some(Box::new(BurnToPyTorchAdapter)), true);
    tensors.retain(|tensor| tensor.dtype.is_float());
    tensors
}

/// The path of fields of a tensor, whose last part is torch's name of it.
pub fn field_of(name: &str) -> String {
    match name.rsplit_once('.') {
        Some((module, "gamma")) => format!("{module}.weight"),
        Some((module, "beta")) => format!("{module}.bias"),
        _ => name.to_string(),
    }
}

/// The shape of each tensor of a module in torch's layout, by its path of fields.
pub fn shapes(model: &impl ModuleSnapshot) -> BTreeMap<String, Vec<usize>> {
    let shape = |tensor: &Tensor| tensor.shape.to_vec();
    let tensors = collected(model);
    tensors
        .iter()
        .map(|tensor| (field_of(&tensor.name), shape(tensor)))
        .collect()
}
