//! ONNX `Expand`, `Reshape` and `Flatten` of tensors without elements, which Burn's own refuse.

use burn_onnx::ext::proc_macro2::TokenStream;
use burn_onnx::ext::quote::quote;
use burn_onnx::ext::{ArgType, Argument, CodegenContext, CustomNode, DType, ProcessError, TensorType, arg_to_ident};

use crate::own::OwnOperator;

/// One of the operators, as burn-onnx takes it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shaping {
    Expand,
    Reshape,
    Flatten,
}

impl Shaping {
    fn rank(self, node: &CustomNode) -> Result<usize, ProcessError> {
        let asked = || match node.inputs.get(1).and_then(|sizes| sizes.ty.first_dim_static_len()) {
            Some(asked) => Ok(asked),
            None => Err(refusal(node, "how many sizes it is asked for is not known")),
        };
        match self {
            Self::Expand => Ok(asked()?.max(rank_of(input(node)?)).max(1)),
            Self::Reshape => asked(),
            Self::Flatten => Ok(2),
        }
    }
}

impl OwnOperator for Shaping {
    fn name(&self) -> &'static str {
        match self {
            Self::Expand => "Expand",
            Self::Reshape => "Reshape",
            Self::Flatten => "Flatten",
        }
    }

    fn output_types(&self, node: &CustomNode) -> Result<Vec<ArgType>, ProcessError> {
        let dtype = dtype_of(input(node)?);
        Ok(vec![ArgType::Tensor(TensorType::new(dtype, self.rank(node)?, None))])
    }

    fn code(&self, node: &CustomNode, context: &mut CodegenContext<'_, '_>) -> Result<TokenStream, ProcessError> {
        let input = input(node)?;
        let given = rank_of(input).max(1);
        let rank = self.rank(node)?;
        let tensor = tensor(input, context);
        let output = match &node.outputs[..] {
            [output] => arg_to_ident(output),
            _ => return Err(refusal(node, "it must have one output")),
        };
        let value = match self {
            Self::Flatten => {
                let axis = node.attrs.get_i64("axis").unwrap_or(1);
                let axis = if axis < 0 { axis + given as i64 } else { axis };
                let fits = usize::try_from(axis).ok().filter(|&axis| axis <= given);
                let axis = fits.ok_or_else(|| refusal(node, "its axis is beyond the rank"))?;
                quote!(burn_roi_detection::onnx::flatten(#tensor, #axis))
            }
            Self::Expand => {
                let sizes = sizes(&node.inputs[1], context);
                quote!(burn_roi_detection::onnx::expand::<#given, #rank, _>(#tensor, &#sizes))
            }
            Self::Reshape => {
                let sizes = sizes(&node.inputs[1], context);
                let allow_zero = node.attrs.get_i64("allowzero").unwrap_or(0) != 0;
                quote!(burn_roi_detection::onnx::reshape::<#given, #rank, _>(#tensor, &#sizes, #allow_zero))
            }
        };
        Ok(quote!(let #output = #value;))
    }
}

fn input(node: &CustomNode) -> Result<&Argument, ProcessError> {
    node.inputs
        .first()
        .ok_or_else(|| refusal(node, "it must have an input"))
}

/// The dtype of a value; burn-onnx gives none for sizes.
fn dtype_of(input: &Argument) -> DType {
    match &input.ty {
        ArgType::Shape(_) => DType::I64,
        kind => kind.elem_type(),
    }
}

fn rank_of(input: &Argument) -> usize {
    match &input.ty {
        ArgType::Tensor(tensor) => tensor.rank,
        ArgType::ScalarTensor(_) | ArgType::Shape(_) => 1,
        ArgType::ScalarNative(_) => 0,
    }
}

fn refusal(node: &CustomNode, reason: &str) -> ProcessError {
    let output = node.outputs.first().map(|output| output.name.as_str());
    ProcessError::Custom(format!("{} with the output {output:?}: {reason}", node.op_type))
}

/// The code of the sizes that are asked for, an array or a list.
fn sizes(sizes: &Argument, context: &mut CodegenContext<'_, '_>) -> TokenStream {
    if let Some(values) = sizes.value() {
        let values = values.iter::<i64>();
        return quote!([#(#values),*]);
    }
    let value = context.arg(sizes);
    match &sizes.ty {
        ArgType::Shape(_) => value,
        _ => quote!(#value.into_data().iter::<i64>().collect::<alloc::vec::Vec<_>>()),
    }
}

/// The code of the input, as a tensor.
fn tensor(input: &Argument, context: &mut CodegenContext<'_, '_>) -> TokenStream {
    let value = context.arg(input);
    let data = match &input.ty {
        ArgType::Shape(_) => quote!(burn::tensor::TensorData::from(#value.as_slice())),
        ArgType::ScalarNative(_) => quote!(burn::tensor::TensorData::from([#value])),
        ArgType::Tensor(_) | ArgType::ScalarTensor(_) => return value,
    };
    let (kind, dtype) = match dtype_of(input) {
        DType::Bool(_) => {
            let store = quote!(burn::tensor::BoolStore::Native);
            (quote!(burn::tensor::Bool), quote!(burn::tensor::DType::Bool(#store)))
        }
        DType::F64 => (quote!(burn::tensor::Float), quote!(burn::tensor::DType::F64)),
        dtype if dtype.is_float() => (quote!(burn::tensor::Float), quote!(burn::tensor::DType::F32)),
        DType::I32 => (quote!(burn::tensor::Int), quote!(burn::tensor::DType::I32)),
        _ => (quote!(burn::tensor::Int), quote!(burn::tensor::DType::I64)),
    };
    quote!(burn::tensor::Tensor::<1, #kind>::from_data(#data, (&self.device, #dtype)))
}
