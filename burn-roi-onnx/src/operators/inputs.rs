//! The inputs of a node: their rank, their dtype, and the code that reads them. burn-onnx can keep a list of integers
//! as an array, and one element as a scalar.

use burn_onnx::ext::proc_macro2::TokenStream;
use burn_onnx::ext::quote::quote;
use burn_onnx::ext::{ArgType, Argument, CodegenContext, DType};

/// The dtype. burn-onnx has none for an array.
pub(super) fn dtype_of(input: &Argument) -> DType {
    match &input.ty {
        ArgType::Shape(_) => DType::I64,
        kind => kind.elem_type(),
    }
}

pub(super) fn rank_of(input: &Argument) -> usize {
    match &input.ty {
        ArgType::Tensor(tensor) => tensor.rank,
        ArgType::ScalarTensor(_) | ArgType::Shape(_) => 1,
        ArgType::ScalarNative(_) => 0,
    }
}

/// Whether an input is a tensor of this rank, of floats if `float` and of integers or booleans otherwise.
pub(super) fn is_tensor(input: &Argument, rank: usize, float: bool) -> bool {
    matches!(&input.ty, ArgType::Tensor(tensor) if tensor.rank == rank && tensor.dtype.is_float() == float)
}

/// Whether an input is one i64 if `integer`, or one f32.
pub(super) fn is_number(input: &Argument, integer: bool) -> bool {
    let dtype = match &input.ty {
        ArgType::Shape(1) => DType::I64,
        ArgType::ScalarNative(dtype) | ArgType::ScalarTensor(dtype) => *dtype,
        ArgType::Tensor(tensor) if tensor.rank <= 1 => tensor.dtype,
        _ => return false,
    };
    let one = input.value().is_none_or(|value| value.shape().num_elements() == 1);
    one && if integer {
        dtype == DType::I64
    } else {
        dtype == DType::F32
    }
}

/// The code that reads one element.
pub(super) fn number(input: &Argument, kind: &TokenStream, context: &mut CodegenContext<'_, '_>) -> TokenStream {
    let value = context.arg(input);
    match &input.ty {
        ArgType::ScalarNative(_) => value,
        ArgType::Shape(_) => quote!(#value[0]),
        _ => quote!(#value.into_scalar::<#kind>()),
    }
}

/// The code that reads sizes into an array or a `Vec`.
pub(super) fn sizes(sizes: &Argument, context: &mut CodegenContext<'_, '_>) -> TokenStream {
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

/// The code that reads a tensor. An array or a scalar becomes a tensor of rank 1.
pub(super) fn tensor(input: &Argument, context: &mut CodegenContext<'_, '_>) -> TokenStream {
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
