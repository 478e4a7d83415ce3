//! What burn-onnx asks about a region operator: the types of its outputs, and its code.

use burn_onnx::ext::proc_macro2::TokenStream;
use burn_onnx::ext::quote::quote;
use burn_onnx::ext::{
    ArgType, Argument, CodegenContext, CustomNode, CustomOp, DType, OpsetRange, ProcessError, TensorType, arg_to_ident,
};

use crate::attributes::Attributes;
use crate::error::{Error, NodeId};
use crate::operators::{Call, Input, Kind, Operator};

/// A region operator, as burn-onnx takes it.
pub(crate) struct Hook(pub &'static Operator);

impl CustomOp for Hook {
    fn op_type(&self) -> &str {
        self.0.name
    }

    fn domain(&self) -> &str {
        self.0.domain
    }

    fn opset_range(&self) -> OpsetRange {
        OpsetRange {
            min: *self.0.versions.start(),
            max: Some(*self.0.versions.end()),
        }
    }

    fn infer_output_types(&self, node: &CustomNode) -> Result<Vec<ArgType>, ProcessError> {
        output_types(self.0, node).map_err(refusal)
    }

    fn forward(&self, node: &CustomNode, context: &mut CodegenContext<'_, '_>) -> Result<TokenStream, ProcessError> {
        check_inputs(self.0, node).map_err(refusal)?;
        let call = read(self.0, node).map_err(refusal)?;
        let inputs: Vec<_> = node.inputs.iter().map(|input| tensor(input, context)).collect();
        let Some((first, others)) = node.outputs.split_first() else {
            unreachable!("the number of outputs was checked")
        };
        let repeats = others.iter().zip(&call.repeated).map(|(output, &input)| {
            let (output, input) = (arg_to_ident(output), &inputs[input]);
            quote!(let #output = #input.clone();)
        });
        // Before the call, which may consume the input.
        let repeats: TokenStream = repeats.collect();
        let (output, code) = (arg_to_ident(first), (call.code)(&inputs));
        Ok(quote! {
            #repeats
            let #output = #code;
        })
    }
}

fn refusal(error: Error) -> ProcessError {
    ProcessError::Custom(error.to_string())
}

/// Reads a node's attributes, and counts its inputs and outputs.
fn read(operator: &Operator, node: &CustomNode) -> Result<Call, Error> {
    let attributes = Attributes::of_custom(node);
    count(&attributes.node, "inputs", node.inputs.len(), &operator.inputs)?;
    count(&attributes.node, "outputs", node.outputs.len(), &operator.outputs)?;
    (operator.read)(&attributes, node.inputs.len())
}

/// An error if a node has too few or too many inputs or outputs.
pub(crate) fn count(
    node: &NodeId,
    what: &str,
    count: usize,
    expected: &std::ops::RangeInclusive<usize>,
) -> Result<(), Error> {
    if expected.contains(&count) {
        return Ok(());
    }
    let (least, most) = (expected.start(), expected.end());
    let expected = if least == most {
        least.to_string()
    } else {
        format!("{least} to {most}")
    };
    Err(Error::Node {
        node: Box::new(node.clone()),
        reason: format!("it has {count} {what}; it must have {expected}"),
    })
}

/// The dtype of a value; burn-onnx gives none for sizes.
fn element_type(kind: &ArgType) -> DType {
    match kind {
        ArgType::Shape(_) => DType::I64,
        kind => kind.elem_type(),
    }
}

/// The types of a node's outputs.
pub(crate) fn output_types(operator: &Operator, node: &CustomNode) -> Result<Vec<ArgType>, Error> {
    let call = read(operator, node)?;
    let mut sizes = call.output.clone();
    let features = &node.inputs[call.channels.of_input].ty;
    if let Some(size) = sizes.get_mut(call.channels.at) {
        let channels = features.static_shape().and_then(|sizes| sizes.get(1).copied());
        *size = channels.flatten();
    }
    let dtype = element_type(features);
    let first = ArgType::Tensor(TensorType::new(dtype, sizes.len(), Some(sizes)));
    let repeated = call.repeated.iter().map(|&input| node.inputs[input].ty.clone());
    Ok(std::iter::once(first)
        .chain(repeated)
        .take(node.outputs.len())
        .collect())
}

/// Checks the types of a node's inputs, once they are known.
pub(crate) fn check_inputs(operator: &Operator, node: &CustomNode) -> Result<(), Error> {
    let call = read(operator, node)?;
    let id = Attributes::of_custom(node).node;
    let mut float = None;
    for (argument, expected) in node.inputs.iter().zip(&call.inputs) {
        let wrong = |value: String, expected: String, name: &str| {
            Err(Error::Input {
                node: Box::new(id.clone()),
                input: name.to_string(),
                value,
                expected,
            })
        };
        if !fits(argument, expected) {
            return wrong(argument.to_string(), describe(expected), expected.name);
        }
        if expected.kind == Kind::Float {
            let dtype = argument.ty.elem_type();
            let first = *float.get_or_insert(dtype);
            if dtype != first {
                return wrong(
                    format!("of {dtype:?}"),
                    format!("of {first:?}, as the first input is"),
                    expected.name,
                );
            }
        }
    }
    Ok(())
}

fn fits(argument: &Argument, expected: &Input) -> bool {
    // burn-onnx keeps sizes as an array of integers, which has no dtype.
    let (rank, dtype) = match &argument.ty {
        ArgType::Shape(_) => (1, DType::I64),
        ArgType::Tensor(tensor) => (tensor.rank, tensor.dtype),
        ArgType::ScalarTensor(dtype) => (1, *dtype),
        ArgType::ScalarNative(dtype) => (0, *dtype),
    };
    let kind = match expected.kind {
        Kind::Float => dtype.is_float(),
        Kind::Int => dtype.is_int() || dtype.is_uint(),
    };
    kind && rank == expected.rank && !argument.is_optional()
}

fn describe(input: &Input) -> String {
    let kind = match input.kind {
        Kind::Float => "floats",
        Kind::Int => "integers",
    };
    format!("a tensor of {kind} of rank {}", input.rank)
}

/// The code of an input, as a tensor.
fn tensor(input: &Argument, context: &mut CodegenContext<'_, '_>) -> TokenStream {
    let value = context.arg(input);
    match &input.ty {
        // burn-onnx keeps sizes as an array.
        ArgType::Shape(_) => quote! {
            burn::tensor::Tensor::<1, burn::tensor::Int>::from_data(
                burn::tensor::TensorData::from(#value.as_slice()),
                (&self.device, burn::tensor::DType::I64),
            )
        },
        _ => value,
    }
}
