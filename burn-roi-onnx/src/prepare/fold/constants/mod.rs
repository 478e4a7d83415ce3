//! Computes the outputs of a node whose inputs are constants.

mod arithmetic;
mod layout;

pub(super) use layout::{concat, expand};

use super::inputs::Inputs;
use super::{dims, shapes, slice};
use crate::read::node::NodeAttributes;
use crate::read::tensor::Tensor;

/// The outputs, if they can be computed.
pub(super) fn of_outputs(inputs: &Inputs) -> Option<Vec<Tensor>> {
    if inputs.node.op_type == "Split" {
        let (axis, sizes) = shapes::split_sizes(inputs)?;
        return layout::split(inputs.value(0)?, axis, &sizes);
    }
    let output = created(inputs).or_else(|| computed(inputs)).or_else(|| moved(inputs));
    Some(vec![output?])
}

/// The output of an operator that reads no elements, except sizes and bounds.
fn created(inputs: &Inputs) -> Option<Tensor> {
    let node = inputs.node;
    match node.op_type.as_str() {
        "Constant" => constant(inputs),
        "ConstantOfShape" => arithmetic::filled(node, &inputs.integers(0)?),
        "Range" => arithmetic::range(inputs.value(0)?, inputs.value(1)?, inputs.value(2)?),
        "Shape" => {
            let dims = inputs.dims(0)?;
            let sizes = dims[dims::shape_range(node, dims.len())].iter();
            let sizes: Option<Vec<i64>> = sizes.map(|size| i64::try_from((*size)?).ok()).collect();
            sizes.map(Tensor::of_integers)
        }
        "Size" => {
            let sizes = inputs.sizes(0)?;
            let mut sizes = sizes.iter().map(|&size| i64::try_from(size).ok());
            let product = sizes.try_fold(1i64, |all, size| all.checked_mul(size?));
            product.map(Tensor::of_integer)
        }
        _ => None,
    }
}

fn constant(inputs: &Inputs) -> Option<Tensor> {
    let node = inputs.node;
    if let Some(value) = node.tensor("value") {
        return Tensor::of(value);
    }
    if let Some(values) = node.ints("value_ints") {
        return Some(Tensor::of_integers(values.to_vec()));
    }
    node.attribute("value_int").map(|value| Tensor::of_integer(value.i))
}

/// The output of an operator that computes with the elements.
fn computed(inputs: &Inputs) -> Option<Tensor> {
    let node = inputs.node;
    let operator = node.op_type.as_str();
    let value = |at: usize| inputs.value(at);
    match operator {
        "Cast" => arithmetic::cast(value(0)?, i32::try_from(node.int("to", 0)).ok()?),
        "Add" | "Sub" | "Mul" | "Div" | "Equal" | "Less" | "Greater" | "LessOrEqual" | "GreaterOrEqual" | "And"
        | "Or" | "Xor" => arithmetic::binary(operator, value(0)?, value(1)?),
        "Min" | "Max" => {
            let all = inputs.values()?;
            let (first, others) = all.split_first()?;
            let mut others = others.iter();
            others.try_fold((*first).clone(), |result, next| {
                arithmetic::binary(operator, &result, next)
            })
        }
        "Floor" | "Ceil" | "Round" | "Sqrt" | "Reciprocal" | "Neg" | "Abs" | "Not" => {
            arithmetic::unary(operator, value(0)?)
        }
        "Where" => arithmetic::choose(value(0)?, value(1)?, value(2)?),
        "ReduceMin" | "ReduceMax" | "ReduceProd" | "ReduceSum" => {
            arithmetic::reduce(node, value(0)?, inputs.reduced_axes()?.as_deref())
        }
        _ => None,
    }
}

/// The output of an operator that moves the elements.
pub(super) fn moved(inputs: &Inputs) -> Option<Tensor> {
    let node = inputs.node;
    if node.op_type == "Concat" {
        return concat(&inputs.values()?, node);
    }
    let tensor = inputs.value(0)?;
    match node.op_type.as_str() {
        "Identity" => Some(tensor.clone()),
        "Reshape" => layout::reshape(tensor, &inputs.integers(1)?, node),
        "Flatten" => layout::flatten(tensor, node),
        "Squeeze" => {
            let axes = inputs.axes();
            (axes.is_some() || !inputs.has(1)).then_some(())?;
            Tensor::new(dims::squeezed(&tensor.dims, axes.as_deref(), 1)?, tensor.data.clone())
        }
        "Unsqueeze" => Tensor::new(dims::unsqueezed(&tensor.dims, &inputs.axes()?, 1)?, tensor.data.clone()),
        "Transpose" => layout::transpose(tensor, node),
        "Expand" => expand(tensor, &inputs.integers(1)?),
        "Gather" => layout::gather(tensor, inputs.value(1)?, node),
        "Slice" => layout::slice(tensor, &slice::parts(inputs, tensor.dims.len())?),
        _ => None,
    }
}
