//! ONNX `Expand` that takes sizes of 0, which Burn's `expand` refuses.

use burn_onnx::ext::proc_macro2::TokenStream;
use burn_onnx::ext::quote::quote;
use burn_onnx::ext::{
    ArgType, Argument, CodegenContext, CustomNode, CustomOp, DType, OpsetRange, ProcessError, TensorType, arg_to_ident,
};

use crate::operators::{DOMAIN, NEWEST_VERSION};

/// The operator's name.
pub(crate) const NAME: &str = "Expand";

/// The operator, as burn-onnx takes it.
pub(crate) struct Expand;

impl CustomOp for Expand {
    fn op_type(&self) -> &str {
        NAME
    }

    fn domain(&self) -> &str {
        DOMAIN
    }

    fn opset_range(&self) -> OpsetRange {
        OpsetRange {
            min: 8,
            max: Some(NEWEST_VERSION),
        }
    }

    fn infer_output_types(&self, node: &CustomNode) -> Result<Vec<ArgType>, ProcessError> {
        output_types(node)
    }

    fn forward(&self, node: &CustomNode, context: &mut CodegenContext<'_, '_>) -> Result<TokenStream, ProcessError> {
        let ([input, sizes], [output]) = (&node.inputs[..], &node.outputs[..]) else {
            return Err(refusal(node, "it must have two inputs and one output"));
        };
        let rank = rank(node)?;
        let requested = requested(sizes, context);
        let dtype = input.ty.elem_type();
        let kind = match dtype {
            DType::Bool(_) => quote!(burn::tensor::Bool),
            dtype if dtype.is_float() => quote!(burn::tensor::Float),
            _ => quote!(burn::tensor::Int),
        };
        let dtype = dtype_code(dtype);
        let tensor = tensor(input, &kind, &dtype, context);
        let output = arg_to_ident(output);
        Ok(quote! {
            let #output = {
                let (burn_roi_input, burn_roi_requested) = (#tensor, #requested);
                let burn_roi_given = burn_roi_input.dims();
                let mut burn_roi_sizes = [1i64; #rank];
                for (burn_roi_at, burn_roi_size) in burn_roi_sizes.iter_mut().rev().enumerate() {
                    let burn_roi_given = burn_roi_given.iter().rev().nth(burn_roi_at).map_or(1, |size| *size as i64);
                    let burn_roi_asked = burn_roi_requested.iter().rev().nth(burn_roi_at).map_or(1, |size| *size);
                    *burn_roi_size = if burn_roi_asked == 1 { burn_roi_given } else { burn_roi_asked };
                }
                if burn_roi_sizes.contains(&0) {
                    burn::tensor::Tensor::<#rank, #kind>::empty(
                        burn_roi_sizes.map(|burn_roi_size| burn_roi_size as usize),
                        (&burn_roi_input.device(), burn_roi_input.dtype()),
                    )
                } else {
                    burn_roi_input.expand(burn_roi_sizes)
                }
            };
        })
    }
}

/// The type of the output.
pub(crate) fn output_types(node: &CustomNode) -> Result<Vec<ArgType>, ProcessError> {
    let dtype = match node.inputs.first() {
        Some(input) => input.ty.elem_type(),
        None => return Err(refusal(node, "it must have two inputs")),
    };
    Ok(vec![ArgType::Tensor(TensorType::new(dtype, rank(node)?, None))])
}

/// The rank of the output: the larger one of the input and of what is asked for.
fn rank(node: &CustomNode) -> Result<usize, ProcessError> {
    let [input, sizes] = &node.inputs[..] else {
        return Err(refusal(node, "it must have two inputs"));
    };
    let given = match &input.ty {
        ArgType::Tensor(tensor) => tensor.rank,
        ArgType::ScalarTensor(_) | ArgType::Shape(_) => 1,
        ArgType::ScalarNative(_) => 0,
    };
    let asked = sizes.ty.first_dim_static_len();
    asked
        .map(|asked| asked.max(given).max(1))
        .ok_or_else(|| refusal(node, "how many sizes it is asked for is not known"))
}

fn refusal(node: &CustomNode, reason: &str) -> ProcessError {
    ProcessError::Custom(format!(
        "Expand with the output {:?}: {reason}",
        node.outputs.first().map(|o| &o.name)
    ))
}

/// The code of the sizes that are asked for, an array or a list.
fn requested(sizes: &Argument, context: &mut CodegenContext<'_, '_>) -> TokenStream {
    let value = context.arg(sizes);
    match &sizes.ty {
        ArgType::Shape(_) => value,
        _ => quote!(#value.into_data().iter::<i64>().collect::<alloc::vec::Vec<_>>()),
    }
}

/// The code of the input, as a tensor.
fn tensor(
    input: &Argument,
    kind: &TokenStream,
    dtype: &TokenStream,
    context: &mut CodegenContext<'_, '_>,
) -> TokenStream {
    let value = context.arg(input);
    let data = match &input.ty {
        ArgType::Shape(_) => quote!(burn::tensor::TensorData::from(#value.as_slice())),
        ArgType::ScalarNative(_) => quote!(burn::tensor::TensorData::from([#value])),
        ArgType::Tensor(_) | ArgType::ScalarTensor(_) => return value,
    };
    quote!(burn::tensor::Tensor::<1, #kind>::from_data(#data, (&self.device, #dtype)))
}

fn dtype_code(dtype: DType) -> TokenStream {
    match dtype {
        DType::Bool(_) => quote!(burn::tensor::DType::Bool(burn::tensor::BoolStore::Native)),
        DType::F64 => quote!(burn::tensor::DType::F64),
        DType::F16 => quote!(burn::tensor::DType::F16),
        DType::BF16 => quote!(burn::tensor::DType::BF16),
        DType::I32 => quote!(burn::tensor::DType::I32),
        dtype if dtype.is_float() => quote!(burn::tensor::DType::F32),
        _ => quote!(burn::tensor::DType::I64),
    }
}
