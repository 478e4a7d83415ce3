//! What a node gives whose inputs are constants, or whose inputs' sizes are known.

use super::arithmetic;
use super::attribute::Of;
use super::expression::{Expression, Form};
use super::known::Known;
use super::layout;
use super::sizes::{self, Inputs};
use super::symbols::{self, Symbols};
use super::tensor::{Tensor, element};
use onnx_ir::NodeProto;

/// What is known of each output of a node.
pub(super) fn outputs(inputs: &Inputs) -> Vec<Known> {
    if let Some(tensors) = constants(inputs).filter(|tensors| tensors.len() == inputs.node.output.len()) {
        return tensors.into_iter().map(Known::of_tensor).collect();
    }
    let mut all: Vec<_> = sizes::of_outputs(inputs)
        .into_iter()
        .map(|dims| dims.map_or_else(Known::default, Known::of_dims))
        .collect();
    if let (Some(first), Some(symbols)) = (all.first_mut(), symbols(inputs)) {
        *first = Known::of_symbols(symbols);
    }
    all
}

/// The outputs of a node whose inputs are constants.
fn constants(inputs: &Inputs) -> Option<Vec<Tensor>> {
    let node = inputs.node;
    let operator = node.op_type.as_str();
    let at = |at: usize| inputs.known.get(at)?.value.as_deref();
    let integers = |index: usize| at(index)?.integers();
    let axes = || inputs.axes(1);
    let one = match operator {
        "Constant" => constant(inputs),
        "Identity" => at(0).cloned(),
        "Cast" => arithmetic::cast(at(0)?, i32::try_from(node.int("to", 0)).ok()?),
        "Add" | "Sub" | "Mul" | "Div" | "Equal" | "Less" | "Greater" | "LessOrEqual" | "GreaterOrEqual" | "And"
        | "Or" | "Xor" => arithmetic::binary(operator, at(0)?, at(1)?),
        "Min" | "Max" => {
            let mut all = (0..inputs.known.len()).map(at);
            let first = all.next()??.clone();
            all.try_fold(first, |result, next| arithmetic::binary(operator, &result, next?))
        }
        "Floor" | "Ceil" | "Round" | "Sqrt" | "Reciprocal" | "Neg" | "Abs" | "Not" => {
            arithmetic::unary(operator, at(0)?)
        }
        "Where" => arithmetic::choose(at(0)?, at(1)?, at(2)?),
        "Range" => arithmetic::range(at(0)?, at(1)?, at(2)?),
        "ConstantOfShape" => arithmetic::filled(node, &integers(0)?),
        "ReduceMin" | "ReduceMax" | "ReduceProd" | "ReduceSum" => {
            let axes = axes();
            let all = axes.is_none() && (inputs.given(1) || node.int("noop_with_empty_axes", 0) != 0);
            (!all)
                .then(|| arithmetic::reduce(node, at(0)?, axes.as_deref()))
                .flatten()
        }
        "Reshape" => layout::reshape(at(0)?, &integers(1)?, node),
        "Flatten" => layout::flatten(at(0)?, node),
        "Squeeze" => {
            let (tensor, axes) = (at(0)?, axes());
            (axes.is_some() || !inputs.given(1)).then_some(())?;
            Tensor::new(layout::squeezed(&tensor.dims, axes.as_deref(), 1)?, tensor.data.clone())
        }
        "Unsqueeze" => Tensor::new(layout::unsqueezed(&at(0)?.dims, &axes()?, 1)?, at(0)?.data.clone()),
        "Transpose" => layout::transpose(at(0)?, node),
        "Expand" => layout::expand(at(0)?, &integers(1)?),
        "Gather" => layout::gather(at(0)?, at(1)?, node),
        "Concat" => {
            let all: Option<Vec<_>> = (0..inputs.known.len()).map(at).collect();
            layout::concat(&all?, node)
        }
        "Slice" => {
            let tensor = at(0)?;
            let values: Vec<_> = inputs.known.iter().map(|known| known.value.as_deref()).collect();
            layout::slice(tensor, &layout::parts(node, &values, tensor.dims.len())?)
        }
        "Split" => {
            let (axis, sizes) = sizes::split_sizes(inputs)?;
            return layout::split(at(0)?, axis, &sizes);
        }
        "Shape" => {
            let sizes = &inputs.known.first()?.dims.as_ref()?[shape(node, inputs.known.first()?.rank()?)];
            let sizes: Option<Vec<i64>> = sizes.iter().map(|size| i64::try_from((*size)?).ok()).collect();
            sizes.map(Tensor::of_integers)
        }
        "Size" => {
            let sizes = inputs.known.first()?.sizes()?;
            let product = sizes
                .iter()
                .try_fold(1i64, |all, &size| all.checked_mul(i64::try_from(size).ok()?));
            product.map(Tensor::of_integer)
        }
        _ => None,
    };
    Some(vec![one?])
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

/// The part of the sizes that `Shape` gives.
fn shape(node: &NodeProto, rank: usize) -> std::ops::Range<usize> {
    let rank = rank as i64;
    let held = |at: i64| if at < 0 { at.saturating_add(rank) } else { at }.clamp(0, rank) as usize;
    let (start, end) = (held(node.int("start", 0)), held(node.int("end", rank)));
    start..end.max(start)
}

/// How the elements that a node gives are computed from sizes.
fn symbols(inputs: &Inputs) -> Option<Symbols> {
    let node = inputs.node;
    let at = |at: usize| inputs.known.get(at)?.symbols.as_deref();
    let all = || (0..inputs.known.len()).map(at).collect::<Option<Vec<_>>>();
    match node.op_type.as_str() {
        "Shape" | "Size" => {
            let (name, dims) = (node.input.first()?, inputs.known.first()?.dims.as_ref()?);
            let size = |at: usize| match dims[at] {
                Some(size) => Expression::Int(size as i64),
                None => Expression::Size(name.as_str().into(), at),
            };
            if node.op_type == "Shape" {
                let sizes: Vec<_> = shape(node, dims.len()).map(size).collect();
                return Symbols::new(vec![sizes.len()], sizes, element::INT64);
            }
            let product =
                (0..dims.len())
                    .map(size)
                    .try_fold(Expression::Int(1), |product, size| match (&product, &size) {
                        (Expression::Int(1), _) => Some(size),
                        _ => Expression::call(Form::Function("i64::wrapping_mul"), vec![product, size]),
                    });
            Symbols::new(Vec::new(), vec![product?], element::INT64)
        }
        "Concat" => {
            let all = all()?;
            let mut first = 0;
            let mut places = Vec::new();
            for symbols in &all {
                places.push(symbols.places(first));
                first += symbols.elements.len();
            }
            let moved = layout::concat(&places.iter().collect::<Vec<_>>(), node)?;
            symbols::at_places(&all, &moved)
        }
        "Identity" | "Reshape" | "Flatten" | "Squeeze" | "Unsqueeze" | "Transpose" | "Expand" | "Gather" | "Slice" => {
            let first = at(0)?;
            let mut known = inputs.known.clone();
            known[0] = Known::of_tensor(first.places(0));
            let places = constants(&Inputs { node, known })?;
            symbols::at_places(&[first], places.first()?)
        }
        "ReduceMax" | "ReduceMin" | "ReduceProd" | "ReduceSum" => {
            let axes = inputs.axes(1);
            let unclear = axes.is_none() && (inputs.given(1) || node.int("noop_with_empty_axes", 0) != 0);
            (!unclear)
                .then(|| symbols::reduce(node, at(0)?, axes.as_deref()))
                .flatten()
        }
        _ => symbols::compute(node, &all()?),
    }
}
