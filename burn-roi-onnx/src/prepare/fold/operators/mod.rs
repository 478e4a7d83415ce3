//! What is known of a node's outputs, from what is known of its inputs: a row for each operator.

mod binary;
mod cast;
mod choose;
mod created;
mod moved;
mod one_hot;
mod reduce;
mod shapes;
mod split;
mod unary;
mod windows;

use super::dims::Dims;
use super::inputs::Inputs;
use super::known::Known;
use super::symbols::Symbols;
use crate::read::tensor::Tensor;
use moved::{Order, moved};

/// Returns the sizes of the output.
type Shape = fn(&Inputs) -> Option<Dims>;

/// How the output is computed.
enum Value {
    /// Only when the model runs.
    Unknown,
    /// It is the elements of the first input, in their order.
    Kept,
    /// It is elements of the first input, in another order.
    Moved(Order),
    /// From constants, or from expressions of sizes.
    Computed(fn(&Inputs) -> Option<Tensor>, fn(&Inputs) -> Option<Symbols>),
}

/// Operators that are not computed, whose output has the sizes of the first input.
#[rustfmt::skip]
const OF_FIRST_INPUT: [&str; 21] = [
    "Relu", "LeakyRelu", "Sigmoid", "HardSigmoid", "HardSwish", "Exp", "Log", "Softmax", "LogSoftmax",
    "BatchNormalization", "InstanceNormalization", "Dropout", "Tanh", "Erf", "ScatterElements", "ScatterND", "CumSum",
    "Elu", "Selu", "Softplus", "PRelu",
];

/// The sizes of an operator's first output, and how the output is computed.
fn row(operator: &str) -> Option<(Shape, Value)> {
    use Value::{Computed, Kept, Moved, Unknown};
    Some(match operator {
        "Constant" => (unknown, Computed(created::constant, unknown)),
        "ConstantOfShape" => (created::filled_shape, Computed(created::filled, unknown)),
        "Range" => (|_| Some(vec![None]), Computed(created::range, unknown)),
        "Shape" => (created::shape_shape, Computed(unknown, created::shape)),
        "Size" => (|_| Some(Vec::new()), Computed(created::size, created::product)),

        "Identity" => (shapes::first, Kept),
        "Reshape" => (moved::reshape, Kept),
        "Flatten" => (moved::flatten, Kept),
        "Squeeze" => (moved::squeeze, Kept),
        "Unsqueeze" => (moved::unsqueeze, Kept),
        "Transpose" => (moved::transpose, Moved(moved::transposed)),
        "Expand" => (moved::expand, Moved(moved::expanded)),
        "Gather" => (moved::gather, Moved(moved::gathered)),
        "Slice" => (moved::slice, Moved(moved::sliced)),
        "Concat" => (moved::concat, Computed(moved::joined_constants, moved::joined_symbols)),

        "Add" | "Sub" | "Mul" | "Div" | "Min" | "Max" => {
            (shapes::broadcast, Computed(binary::constant, binary::arithmetic))
        }
        "Equal" | "Less" | "Greater" | "LessOrEqual" | "GreaterOrEqual" | "And" | "Or" | "Xor" => {
            (shapes::broadcast, Computed(binary::constant, binary::comparison))
        }
        "Floor" | "Ceil" | "Round" | "Sqrt" | "Reciprocal" | "Neg" | "Abs" | "Not" => {
            (shapes::first, Computed(unary::constant, unary::symbols))
        }
        "Cast" => (shapes::first, Computed(cast::constant, cast::symbols)),
        "Clip" => (shapes::first, Computed(unknown, binary::clip)),
        "Where" => (shapes::broadcast, Computed(choose::constant, choose::symbols)),
        "OneHot" => (one_hot::shape, Computed(unknown, one_hot::symbols)),
        "ReduceMax" | "ReduceMin" | "ReduceProd" | "ReduceSum" => {
            (reduce::shape, Computed(reduce::constant, reduce::symbols))
        }

        operator if OF_FIRST_INPUT.contains(&operator) => (shapes::first, Unknown),
        "Pow" | "Mod" | "Sum" => (shapes::broadcast, Unknown),
        "Conv" => (windows::convolution, Unknown),
        "ConvTranspose" => (windows::transposed_convolution, Unknown),
        "MaxPool" | "AveragePool" => (windows::pool, Unknown),
        "GlobalAveragePool" | "GlobalMaxPool" => (windows::global_pool, Unknown),
        "Gemm" => (shapes::gemm, Unknown),
        "MatMul" => (shapes::matrix_product, Unknown),
        "ReduceMean" => (reduce::shape, Unknown),
        "RoiAlign" => (shapes::roi_align, Unknown),
        "NonZero" => (|inputs| Some(vec![inputs.known.first()?.rank(), None]), Unknown),
        "NonMaxSuppression" => (|_| Some(vec![None, Some(3)]), Unknown),
        "GatherElements" => (|inputs| inputs.dims(1).cloned(), Unknown),
        "GatherND" => (shapes::gather_nd, Unknown),
        "Tile" => (shapes::tile, Unknown),
        "Resize" => (shapes::resize, Unknown),
        "Pad" => (shapes::pad, Unknown),
        "TopK" => (shapes::top_k, Unknown),
        _ => return None,
    })
}

fn unknown<T>(_: &Inputs) -> Option<T> {
    None
}

/// What is known of each output.
pub(super) fn outputs(inputs: &Inputs) -> Vec<Known> {
    let outputs = inputs.node.output.len();
    match inputs.node.op_type.as_str() {
        "Split" => split::outputs(inputs).unwrap_or_else(|| vec![Known::default(); outputs]),
        "TopK" => vec![first_output(inputs); outputs],
        _ => {
            let others = std::iter::repeat_n(Known::default(), outputs.saturating_sub(1));
            std::iter::once(first_output(inputs))
                .chain(others)
                .take(outputs)
                .collect()
        }
    }
}

fn first_output(inputs: &Inputs) -> Known {
    let Some((shape, value)) = row(&inputs.node.op_type) else {
        return Known::default();
    };
    let constant = || match value {
        Value::Unknown => None,
        Value::Kept => moved(inputs, inputs.value(0)?, shape, None),
        Value::Moved(order) => moved(inputs, inputs.value(0)?, shape, Some(order)),
        Value::Computed(constant, _) => constant(inputs),
    };
    let symbols = || match value {
        Value::Unknown => None,
        Value::Kept => moved(inputs, inputs.symbols(0)?, shape, None),
        Value::Moved(order) => moved(inputs, inputs.symbols(0)?, shape, Some(order)),
        Value::Computed(_, symbols) => symbols(inputs),
    };
    constant()
        .map(Known::of_tensor)
        .or_else(|| symbols().map(Known::of_symbols))
        .or_else(|| shape(inputs).map(Known::of_dims))
        .unwrap_or_default()
}
