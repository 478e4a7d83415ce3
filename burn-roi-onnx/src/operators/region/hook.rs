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

impl CustomOp for &'static Operator {
    fn op_type(&self) -> &str {
        self.name
    }

    fn domain(&self) -> &str {
        self.domain
    }

    fn opset_range(&self) -> OpsetRange {
        OpsetRange {
            min: *self.versions.start(),
            max: Some(*self.versions.end()),
        }
    }

    fn infer_output_types(&self, node: &CustomNode) -> Result<Vec<ArgType>, ProcessError> {
        let call = call(self, node).map_err(Error::into_process_error)?;
        Ok(output_types(&call, node))
    }

    fn forward(&self, node: &CustomNode, context: &mut CodegenContext<'_, '_>) -> Result<TokenStream, ProcessError> {
        let call = check_inputs(self, node).map_err(Error::into_process_error)?;
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
    let features = &node.inputs[call.features];
    let mut sizes = vec![None; call.rank];
    if call.rank > 3 {
        let channels = features.ty.static_shape().and_then(|sizes| sizes.get(1).copied());
        sizes[call.rank - 3] = channels.flatten();
    }
    if let Some(size) = call.size {
        sizes[call.rank - 2..].copy_from_slice(&size.map(Some));
    }
    let first = ArgType::Tensor(TensorType::new(dtype_of(features), call.rank, Some(sizes)));
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
