//! Shape inference: the sizes of a node's outputs, as far as they follow from what is known of its inputs.

mod layout;
mod windows;

pub(super) use layout::split_sizes;

use super::dims;
use super::inputs::Inputs;
use super::known::Dims;
use crate::read::node::NodeAttributes;

/// Operators whose output has the sizes of the first input.
#[rustfmt::skip]
const OF_FIRST_INPUT: [&str; 32] = [
    "Identity", "Relu", "LeakyRelu", "Sigmoid", "HardSigmoid", "HardSwish", "Clip", "Exp", "Log", "Sqrt", "Floor",
    "Ceil", "Round", "Reciprocal", "Neg", "Abs", "Not", "Cast", "Softmax", "LogSoftmax", "BatchNormalization",
    "InstanceNormalization", "Dropout", "Tanh", "Erf", "ScatterElements", "ScatterND", "CumSum", "Elu", "Selu",
    "Softplus", "PRelu",
];

/// Operators on the elements of tensors that are broadcast.
#[rustfmt::skip]
const ELEMENTWISE: [&str; 18] = [
    "Add", "Sub", "Mul", "Div", "Pow", "Min", "Max", "Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual", "And",
    "Or", "Xor", "Where", "Mod", "Sum",
];

/// The sizes of each output.
pub(super) fn of_outputs(inputs: &Inputs) -> Vec<Option<Dims>> {
    let outputs = inputs.node.output.len();
    match inputs.node.op_type.as_str() {
        "TopK" => vec![top_k(inputs); outputs],
        "Split" => layout::split(inputs).unwrap_or_else(|| vec![None; outputs]),
        _ => {
            let mut all = vec![None; outputs];
            if let Some(first) = all.first_mut() {
                *first = of_first(inputs);
            }
            all
        }
    }
}

/// The sizes of the first output.
fn of_first(inputs: &Inputs) -> Option<Dims> {
    match inputs.node.op_type.as_str() {
        operator if OF_FIRST_INPUT.contains(&operator) => inputs.dims(0).cloned(),
        operator if ELEMENTWISE.contains(&operator) => elementwise(inputs),
        "Conv" => windows::convolution(inputs),
        "ConvTranspose" => windows::transposed_convolution(inputs),
        "MaxPool" | "AveragePool" => windows::pool(inputs),
        "GlobalAveragePool" | "GlobalMaxPool" => windows::global_pool(inputs),
        "Gemm" => gemm(inputs),
        "MatMul" => matrix_product(inputs),
        "ReduceMax" | "ReduceMin" | "ReduceProd" | "ReduceSum" | "ReduceMean" => reduce(inputs),
        "RoiAlign" => roi_align(inputs),
        "NonZero" => Some(vec![inputs.known.first()?.rank(), None]),
        "NonMaxSuppression" => Some(vec![None, Some(3)]),
        "Range" => Some(vec![None]),
        "Shape" if inputs.node.attribute.is_empty() => Some(vec![inputs.known.first()?.rank()]),
        "Size" => Some(Vec::new()),
        _ => layout::of_output(inputs),
    }
}

fn elementwise(inputs: &Inputs) -> Option<Dims> {
    let mut all = (0..inputs.known.len()).map(|at| inputs.dims(at));
    all.try_fold(Vec::new(), |dims, other| dims::broadcast(&dims, other?))
}

fn gemm(inputs: &Inputs) -> Option<Dims> {
    let size = |at: usize, transposed: &str, first: bool| {
        let dims = inputs.dims(at)?;
        let at = usize::from((inputs.node.int(transposed, 0) != 0) == first);
        dims.get(at).copied()
    };
    Some(vec![size(0, "transA", true)?, size(1, "transB", false)?])
}

fn matrix_product(inputs: &Inputs) -> Option<Dims> {
    let (first, second) = (inputs.dims(0)?, inputs.dims(1)?);
    let (Some((columns, leading)), 2) = (second.get(1).zip(first.split_last()), second.len()) else {
        return None;
    };
    Some(leading.1.iter().copied().chain([*columns]).collect())
}

fn roi_align(inputs: &Inputs) -> Option<Dims> {
    let size = |name| usize::try_from(inputs.node.int(name, 1)).ok();
    let channels = inputs.dims(0)?.get(1).copied().flatten();
    let regions = inputs.dims(1)?.first().copied().flatten();
    Some(vec![regions, channels, size("output_height"), size("output_width")])
}

fn top_k(inputs: &Inputs) -> Option<Dims> {
    let mut dims = inputs.dims(0)?.clone();
    let at = dims::axis(inputs.node.int("axis", -1), dims.len())?;
    dims[at] = match inputs.node.attribute("k") {
        Some(k) => usize::try_from(k.i).ok(),
        None => inputs
            .elements(1)
            .and_then(|k| usize::try_from(k.first().copied().flatten()?).ok()),
    };
    Some(dims)
}

fn reduce(inputs: &Inputs) -> Option<Dims> {
    let dims = inputs.dims(0)?;
    let keeps = inputs.node.int("keepdims", 1) != 0;
    let axes = match inputs.reduced_axes()? {
        Some(axes) => dims::axes(&axes, dims.len())?,
        None => (0..dims.len()).collect(),
    };
    let size = |(at, &size): (usize, &Option<usize>)| match (axes.contains(&at), keeps) {
        (false, _) => Some(size),
        (true, true) => Some(Some(1)),
        (true, false) => None,
    };
    Some(dims.iter().enumerate().filter_map(size).collect())
}
