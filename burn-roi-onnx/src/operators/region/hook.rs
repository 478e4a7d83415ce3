//! Tells burn-onnx the types of a region operator's outputs, and its code.

use burn_onnx::ext::proc_macro2::TokenStream;
use burn_onnx::ext::quote::quote;
use burn_onnx::ext::{
    ArgType, Argument, CodegenContext, CustomNode, CustomOp, DType, OpsetRange, ProcessError, TensorType, arg_to_ident,
};

use super::operator::{Call, Input, Kind, Operator};
use crate::error::Error;
use crate::operators::attributes::Attributes;
use crate::operators::inputs::{dtype_of, rank_of, tensor};

/// Passes burn-onnx's calls to a region operator.
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
        let call = call(self.0, node).map_err(Error::into_process_error)?;
        Ok(output_types(&call, node))
    }

    fn forward(&self, node: &CustomNode, context: &mut CodegenContext<'_, '_>) -> Result<TokenStream, ProcessError> {
        let call = check_inputs(self.0, node).map_err(Error::into_process_error)?;
        let inputs: Vec<_> = node.inputs.iter().map(|input| tensor(input, context)).collect();
        let repeats = node.outputs[1..].iter().zip(&call.repeated).map(|(output, &input)| {
            let (output, input) = (arg_to_ident(output), &inputs[input]);
            quote!(let #output = #input.clone();)
        });
        // Before the call, which may consume the input.
        let repeats: TokenStream = repeats.collect();
        let (output, code) = (arg_to_ident(&node.outputs[0]), (call.code)(&inputs));
        Ok(quote! {
            #repeats
            let #output = #code;
        })
    }
}

fn call(operator: &Operator, node: &CustomNode) -> Result<Call, Error> {
    operator.call(&Attributes::of_custom(node), node.inputs.len(), node.outputs.len())
}

fn output_types(call: &Call, node: &CustomNode) -> Vec<ArgType> {
    let mut sizes = call.output.clone();
    let features = &node.inputs[call.features];
    if let Some(axis) = call.channel_axis {
        let channels = features.ty.static_shape().and_then(|sizes| sizes.get(1).copied());
        sizes[axis] = channels.flatten();
    }
    let first = ArgType::Tensor(TensorType::new(dtype_of(features), sizes.len(), Some(sizes)));
    let repeated = call.repeated.iter().map(|&input| node.inputs[input].ty.clone());
    std::iter::once(first)
        .chain(repeated)
        .take(node.outputs.len())
        .collect()
}

/// Checks a node and the types of its inputs, which onnx-ir infers.
pub(crate) fn check_inputs(operator: &Operator, node: &CustomNode) -> Result<Call, Error> {
    let call = call(operator, node)?;
    let attributes = Attributes::of_custom(node);
    let of_features = dtype_of(&node.inputs[call.features]);
    for (at, (argument, expected)) in node.inputs.iter().zip(&call.inputs).enumerate() {
        if !fits(argument, expected) {
            return Err(attributes.wrong_input(expected.name, argument.to_string(), describe(expected)));
        }
        // Converters to half precision leave coordinates in f32.
        let is_map = at == call.features || expected.name == call.inputs[call.features].name;
        let may_be_f32 = !is_map && matches!(of_features, DType::F16 | DType::BF16);
        let dtype = dtype_of(argument);
        if expected.kind == Kind::Float && dtype != of_features && !(may_be_f32 && dtype == DType::F32) {
            let or_f32 = if may_be_f32 { " or of F32" } else { "" };
            let expected_dtype = format!("of {of_features:?}, as the feature map is{or_f32}");
            return Err(attributes.wrong_input(expected.name, format!("of {dtype:?}"), expected_dtype));
        }
    }
    Ok(call)
}

fn fits(argument: &Argument, expected: &Input) -> bool {
    let dtype = dtype_of(argument);
    let kind = match expected.kind {
        Kind::Float => dtype.is_float(),
        Kind::Int => dtype.is_int() || dtype.is_uint(),
    };
    kind && rank_of(argument) == expected.rank && !argument.is_optional()
}

fn describe(input: &Input) -> String {
    let kind = match input.kind {
        Kind::Float => "floats",
        Kind::Int => "integers",
    };
    format!("a tensor of {kind} of rank {}", input.rank)
}
