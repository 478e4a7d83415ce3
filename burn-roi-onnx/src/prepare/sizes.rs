//! Shape inference: the shapes of a node's outputs, as far as they follow from those of its inputs.

use onnx_ir::NodeProto;

use super::attribute::Of;
use super::known::{Dims, Known};
use super::layout;
use super::windows;

/// The inputs of a node, and what is known of them.
pub(super) struct Inputs<'a> {
    pub node: &'a NodeProto,
    pub known: Vec<Known>,
}

impl Inputs<'_> {
    pub fn dims(&self, at: usize) -> Option<&Dims> {
        self.known.get(at)?.dims.as_ref()
    }

    fn integers(&self, at: usize) -> Option<Vec<i64>> {
        self.known.get(at)?.value.as_ref()?.integers()
    }

    fn elements(&self, at: usize) -> Option<Vec<Option<i64>>> {
        self.known.get(at)?.elements()
    }

    /// The axes that an attribute or, in newer versions, an input has.
    pub fn axes(&self, at: usize) -> Option<Vec<i64>> {
        match self.node.ints("axes") {
            Some(axes) => Some(axes.to_vec()),
            None => self.integers(at),
        }
    }

    /// Whether the input at an index is there.
    pub fn given(&self, at: usize) -> bool {
        self.node.input.get(at).is_some_and(|name| !name.is_empty())
    }
}

/// The sizes of each output.
pub(super) fn of_outputs(inputs: &Inputs) -> Vec<Option<Dims>> {
    let node = inputs.node;
    let outputs = node.output.len();
    match node.op_type.as_str() {
        "TopK" => vec![top(inputs); outputs],
        "Split" => split(inputs).unwrap_or_else(|| vec![None; outputs]),
        _ => {
            let mut all = vec![None; outputs];
            if let Some(first) = all.first_mut() {
                *first = of_first(inputs);
            }
            all
        }
    }
}

fn of_first(inputs: &Inputs) -> Option<Dims> {
    let node = inputs.node;
    match node.op_type.as_str() {
        "Identity"
        | "Relu"
        | "LeakyRelu"
        | "Sigmoid"
        | "HardSigmoid"
        | "HardSwish"
        | "Clip"
        | "Exp"
        | "Log"
        | "Sqrt"
        | "Floor"
        | "Ceil"
        | "Round"
        | "Reciprocal"
        | "Neg"
        | "Abs"
        | "Not"
        | "Cast"
        | "Softmax"
        | "LogSoftmax"
        | "BatchNormalization"
        | "InstanceNormalization"
        | "Dropout"
        | "Tanh"
        | "Erf"
        | "ScatterElements"
        | "ScatterND"
        | "CumSum"
        | "Elu"
        | "Selu"
        | "Softplus"
        | "PRelu" => inputs.dims(0).cloned(),
        "Add" | "Sub" | "Mul" | "Div" | "Pow" | "Min" | "Max" | "Equal" | "Less" | "Greater" | "LessOrEqual"
        | "GreaterOrEqual" | "And" | "Or" | "Xor" | "Where" | "Mod" | "Sum" => {
            let all: Option<Vec<_>> = (0..inputs.known.len()).map(|at| inputs.dims(at)).collect();
            all?.into_iter()
                .try_fold(Vec::new(), |dims, other| broadcast(&dims, other))
        }
        "Conv" => windows::convolution(inputs),
        "ConvTranspose" => windows::transposed_convolution(inputs),
        "MaxPool" | "AveragePool" => windows::pool(inputs),
        "GlobalAveragePool" | "GlobalMaxPool" => {
            let dims = inputs.dims(0)?;
            Some(
                dims.iter()
                    .enumerate()
                    .map(|(at, &size)| if at < 2 { size } else { Some(1) })
                    .collect(),
            )
        }
        "Resize" => resize(inputs),
        "Pad" => pad(inputs),
        "Reshape" => reshape(inputs),
        "Expand" | "ConstantOfShape" => requested(inputs),
        "Transpose" => {
            let dims = inputs.dims(0)?;
            let order = layout::permutation(dims.len(), node)?;
            Some(order.into_iter().map(|at| dims[at]).collect())
        }
        "Flatten" => flatten(inputs),
        "Squeeze" => {
            let axes = inputs.axes(1);
            // Without axes, the sizes of 1 decide, so that all must be known.
            let known = axes.is_some() || (!inputs.given(1) && inputs.known.first()?.sizes().is_some());
            known
                .then(|| layout::squeezed(inputs.dims(0)?, axes.as_deref(), Some(1)))
                .flatten()
        }
        "Unsqueeze" => layout::unsqueezed(inputs.dims(0)?, &inputs.axes(1)?, Some(1)),
        "Concat" => concat(inputs),
        "Slice" => slice(inputs),
        "Gather" => {
            let (dims, index) = (inputs.dims(0)?, inputs.dims(1)?);
            let at = layout::axis(node.int("axis", 0), dims.len())?;
            let mut dims = dims.clone();
            dims.splice(at..=at, index.iter().copied());
            Some(dims)
        }
        "GatherElements" => inputs.dims(1).cloned(),
        "Gemm" => {
            let size = |at: usize, transposed: &str, first: bool| {
                let dims = inputs.dims(at)?;
                let at = usize::from((node.int(transposed, 0) != 0) == first);
                dims.get(at).copied()
            };
            Some(vec![size(0, "transA", true)?, size(1, "transB", false)?])
        }
        "MatMul" => {
            let (first, second) = (inputs.dims(0)?, inputs.dims(1)?);
            let (Some((rows, leading)), 2) = (second.get(1).zip(first.split_last()), second.len()) else {
                return None;
            };
            Some(leading.1.iter().copied().chain([*rows]).collect())
        }
        "Shape" => Some(vec![inputs.known.first()?.rank()]).filter(|_| node.attribute.is_empty()),
        "NonZero" => Some(vec![inputs.known.first()?.rank(), None]),
        "NonMaxSuppression" => Some(vec![None, Some(3)]),
        "Range" => Some(vec![None]),
        "Size" => Some(Vec::new()),
        "ReduceMax" | "ReduceMin" | "ReduceProd" | "ReduceSum" | "ReduceMean" => reduce(inputs),
        "RoiAlign" => {
            let size = |name| usize::try_from(node.int(name, 1)).ok();
            let channels = inputs.dims(0)?.get(1).copied().flatten();
            let regions = inputs.dims(1)?.first().copied().flatten();
            Some(vec![regions, channels, size("output_height"), size("output_width")])
        }
        _ => None,
    }
}

/// The sizes of tensors that are computed with element by element.
fn broadcast(first: &[Option<usize>], second: &[Option<usize>]) -> Option<Dims> {
    let rank = first.len().max(second.len());
    let size = |dims: &[Option<usize>], at: usize| (at + dims.len()).checked_sub(rank).map_or(Some(1), |at| dims[at]);
    let sizes = (0..rank).map(|at| match (size(first, at), size(second, at)) {
        (Some(1), size) | (size, Some(1)) => Some(size),
        (Some(first), Some(second)) => (first == second).then_some(Some(first)),
        // A size that is not known is 1 or the other one.
        (Some(size), None) | (None, Some(size)) => Some(Some(size)),
        (None, None) => Some(None),
    });
    sizes.collect()
}

fn resize(inputs: &Inputs) -> Option<Dims> {
    let dims = inputs.dims(0)?;
    if let Some(sizes) = inputs.elements(3).filter(|sizes| sizes.len() == dims.len()) {
        return Some(sizes.iter().map(|size| usize::try_from((*size)?).ok()).collect());
    }
    Some(vec![None; dims.len()])
}

fn pad(inputs: &Inputs) -> Option<Dims> {
    let dims = inputs.dims(0)?;
    let unknown = || Some(vec![None; dims.len()]);
    if inputs.given(3) {
        return unknown();
    }
    let pads = match inputs.node.ints("pads") {
        Some(pads) => Some(pads.iter().copied().map(Some).collect()),
        None => inputs.elements(1),
    };
    let Some(pads) = pads.filter(|pads| pads.len() == 2 * dims.len()) else {
        return unknown();
    };
    let size = |at: usize| {
        let size = i64::try_from(dims[at]?).ok()?;
        usize::try_from(size.checked_add(pads[at]?)?.checked_add(pads[at + dims.len()]?)?).ok()
    };
    Some((0..dims.len()).map(size).collect())
}

fn reshape(inputs: &Inputs) -> Option<Dims> {
    let dims = inputs.dims(0);
    if let (Some(sizes), Some(requested)) = (inputs.known.first()?.sizes(), inputs.integers(1)) {
        let allow_zero = inputs.node.int("allowzero", 0) != 0;
        let sizes = layout::reshaped(&sizes, &requested, allow_zero)?;
        return Some(sizes.into_iter().map(Some).collect());
    }
    let requested = match inputs.elements(1) {
        Some(requested) => requested,
        None => vec![None; inputs.dims(1)?.first().copied().flatten()?],
    };
    let size = |(at, size): (usize, &Option<i64>)| match size {
        Some(0) if inputs.node.int("allowzero", 0) == 0 => dims?.get(at).copied().flatten(),
        Some(size) => usize::try_from(*size).ok(),
        None => None,
    };
    Some(requested.iter().enumerate().map(size).collect())
}

/// The sizes that `Expand` or `ConstantOfShape` is asked for.
fn requested(inputs: &Inputs) -> Option<Dims> {
    let at = usize::from(inputs.node.op_type == "Expand");
    let sizes = match inputs.elements(at) {
        Some(sizes) => sizes.iter().map(|size| usize::try_from((*size)?).ok()).collect(),
        None => vec![None; inputs.dims(at)?.first().copied().flatten()?],
    };
    if at == 0 {
        return Some(sizes);
    }
    // A size that is not known may be 1, where the input's is taken, which then must be known.
    let dims = inputs.dims(0)?;
    let rank = sizes.len().max(dims.len());
    let of = |dims: &[Option<usize>], at: usize| (at + dims.len()).checked_sub(rank).map_or(Some(1), |at| dims[at]);
    let size = |at: usize| match (of(dims, at), of(&sizes, at)) {
        (Some(1), size) => size,
        (Some(size), _) => Some(size),
        (None, Some(size)) if size != 1 => Some(size),
        (None, _) => None,
    };
    Some((0..rank).map(size).collect())
}

fn flatten(inputs: &Inputs) -> Option<Dims> {
    let dims = inputs.dims(0)?;
    let at = inputs.node.int("axis", 1);
    let at = if at == dims.len() as i64 {
        dims.len()
    } else {
        layout::axis(at, dims.len())?
    };
    let product = |dims: &[Option<usize>]| dims.iter().try_fold(1usize, |all, &size| all.checked_mul(size?));
    Some(vec![product(&dims[..at]), product(&dims[at..])])
}

fn concat(inputs: &Inputs) -> Option<Dims> {
    let mut dims = inputs.dims(0)?.clone();
    let at = layout::axis(inputs.node.int("axis", 1), dims.len())?;
    for other in 1..inputs.known.len() {
        let other = inputs.dims(other)?;
        (other.len() == dims.len()).then_some(())?;
        for (axis, size) in dims.iter_mut().enumerate() {
            *size = match (axis == at, *size, other[axis]) {
                (true, Some(first), Some(second)) => first.checked_add(second),
                (true, _, _) => None,
                (false, first, second) => first.or(second),
            };
        }
    }
    Some(dims)
}

fn slice(inputs: &Inputs) -> Option<Dims> {
    let mut dims = inputs.dims(0)?.clone();
    let values: Vec<_> = inputs.known.iter().map(|known| known.value.as_deref()).collect();
    match layout::parts(inputs.node, &values, dims.len()) {
        Some(parts) => {
            for part in parts {
                dims[part.axis] = dims[part.axis].and_then(|size| part.len(size));
            }
        }
        // With bounds that are not known, the sizes of the sliced axes are not either.
        None => {
            let axes = if inputs.given(3) {
                inputs.integers(3)?
            } else {
                (0..dims.len() as i64).collect()
            };
            for at in axes {
                let at = layout::axis(at, dims.len())?;
                dims[at] = None;
            }
        }
    }
    Some(dims)
}

fn top(inputs: &Inputs) -> Option<Dims> {
    let mut dims = inputs.dims(0)?.clone();
    let at = layout::axis(inputs.node.int("axis", -1), dims.len())?;
    dims[at] = match inputs.node.attribute("k") {
        Some(k) => usize::try_from(k.i).ok(),
        None => inputs
            .elements(1)
            .and_then(|k| usize::try_from(k.first().copied().flatten()?).ok()),
    };
    Some(dims)
}

/// The sizes that `Split` cuts an axis into: the axis and the sizes.
pub(super) fn split_sizes(inputs: &Inputs) -> Option<(usize, Vec<usize>)> {
    let dims = inputs.dims(0)?;
    let node = inputs.node;
    let at = layout::axis(node.int("axis", 0), dims.len())?;
    let given = match node.ints("split") {
        Some(sizes) => Some(sizes.to_vec()),
        None if inputs.given(1) => Some(inputs.integers(1)?),
        None => None,
    };
    let sizes = match given {
        Some(sizes) => sizes
            .iter()
            .map(|&size| usize::try_from(size).ok())
            .collect::<Option<Vec<_>>>()?,
        None => {
            let (size, parts) = (dims[at]?, node.output.len());
            let part = size.div_ceil(parts.max(1));
            (0..parts).map(|at| part.min(size.saturating_sub(at * part))).collect()
        }
    };
    (sizes.len() == node.output.len()).then_some((at, sizes))
}

fn split(inputs: &Inputs) -> Option<Vec<Option<Dims>>> {
    let dims = inputs.dims(0)?;
    let (at, sizes) = split_sizes(inputs)?;
    let part = |size| {
        let mut dims = dims.clone();
        dims[at] = Some(size);
        Some(dims)
    };
    Some(sizes.into_iter().map(part).collect())
}

fn reduce(inputs: &Inputs) -> Option<Dims> {
    let dims = inputs.dims(0)?;
    let keeps = inputs.node.int("keepdims", 1) != 0;
    let axes = match inputs.axes(1) {
        Some(axes) => axes
            .iter()
            .map(|&at| layout::axis(at, dims.len()))
            .collect::<Option<Vec<_>>>()?,
        None if inputs.given(1) || inputs.node.int("noop_with_empty_axes", 0) != 0 => return None,
        None => (0..dims.len()).collect(),
    };
    let size = |(at, &size): (usize, &Option<usize>)| match (axes.contains(&at), keeps) {
        (false, _) => Some(size),
        (true, true) => Some(Some(1)),
        (true, false) => None,
    };
    Some(dims.iter().enumerate().filter_map(size).collect())
}
