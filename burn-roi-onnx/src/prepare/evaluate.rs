//! What a node gives whose inputs are constants, or whose inputs' sizes are known.

use super::arithmetic;
use super::attribute::Of;
use super::known::{Dims, Known};
use super::layout;
use super::sizes::{self, Inputs};
use super::tensor::Tensor;

/// What is known of each output of a node.
pub(super) fn outputs(inputs: &Inputs) -> Vec<Known> {
    if let Some(tensors) = constants(inputs).filter(|tensors| tensors.len() == inputs.node.output.len()) {
        return tensors.into_iter().map(Known::of_tensor).collect();
    }
    let mut all: Vec<_> = sizes::of_outputs(inputs)
        .into_iter()
        .map(|dims| dims.map_or_else(Known::default, Known::of_dims))
        .collect();
    if let (Some(first), Some(known)) = (all.first_mut(), elements(inputs)) {
        *first = known;
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
        "Shape" => Some(Tensor::of_integers(shape(inputs)?.into_iter().collect::<Option<_>>()?)),
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

/// The elements of `Shape`.
fn shape(inputs: &Inputs) -> Option<Vec<Option<i64>>> {
    let dims: &Dims = inputs.known.first()?.dims.as_ref()?;
    let rank = dims.len() as i64;
    let held = |at: i64| if at < 0 { at.saturating_add(rank) } else { at }.clamp(0, rank) as usize;
    let (start, end) = (held(inputs.node.int("start", 0)), held(inputs.node.int("end", rank)));
    let size = |size: &Option<usize>| i64::try_from((*size)?).ok();
    Some(dims.get(start..end.max(start))?.iter().map(size).collect())
}

/// What is known of the integers that a node gives, where some of the elements of its inputs are known. Exporters
/// compute sizes so, from those of tensors whose first size is the number of regions.
fn elements(inputs: &Inputs) -> Option<Known> {
    let node = inputs.node;
    let first = || inputs.known.first();
    let of_first = || first()?.elements.clone();
    let (rank, elements) = match node.op_type.as_str() {
        "Shape" => (1, shape(inputs)?),
        "Identity" => (first()?.rank()?, of_first()?),
        "Cast" if node.int("to", 0) == super::tensor::element::INT64.into() => (first()?.rank()?, of_first()?),
        "Gather" => {
            let elements = of_first().filter(|_| first().and_then(Known::rank) == Some(1))?;
            let index = inputs.known.get(1)?.value.as_deref()?;
            let at = |index: i64| elements.get(layout::axis(index, elements.len())?).copied();
            let chosen = index.integers()?.into_iter().map(at).collect::<Option<Vec<_>>>()?;
            (index.dims.len(), chosen)
        }
        "Unsqueeze" => (first()?.rank()? + inputs.axes(1)?.len(), of_first()?),
        "Squeeze" => (first()?.rank()?.checked_sub(inputs.axes(1)?.len())?, of_first()?),
        "Reshape" => {
            let requested = inputs.known.get(1)?.value.as_deref()?.integers()?;
            let elements = of_first()?;
            let same = requested == [-1] || requested == [elements.len() as i64];
            (same.then_some(1)?, elements)
        }
        "Concat" => {
            let all: Option<Vec<_>> = inputs
                .known
                .iter()
                .map(|known| known.elements.clone().filter(|_| known.rank() == Some(1)))
                .collect();
            (1, all?.concat())
        }
        "Slice" => {
            let elements = of_first().filter(|_| first().and_then(Known::rank) == Some(1))?;
            let values: Vec<_> = inputs.known.iter().map(|known| known.value.as_deref()).collect();
            let order = Tensor::of_integers((0..elements.len() as i64).collect());
            let order = layout::slice(&order, &layout::parts(node, &values, 1)?)?.integers()?;
            (1, order.into_iter().map(|at| elements[at as usize]).collect())
        }
        _ => return None,
    };
    (rank < 2 && elements.len() <= 64 && (rank == 1 || elements.len() == 1)).then(|| Known::of_elements(rank, elements))
}
