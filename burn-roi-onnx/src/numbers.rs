//! Inputs that are one number: of any of the types that burn-onnx gives a number.

use burn_onnx::ext::proc_macro2::TokenStream;
use burn_onnx::ext::quote::quote;
use burn_onnx::ext::{ArgType, Argument, CodegenContext, DType};

/// Whether an input is one number, an integer or a float.
pub(crate) fn is_number(input: &Argument, integer: bool) -> bool {
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

/// The code of a number.
pub(crate) fn number(input: &Argument, kind: &TokenStream, context: &mut CodegenContext<'_, '_>) -> TokenStream {
    let value = context.arg(input);
    match &input.ty {
        ArgType::ScalarNative(_) => value,
        ArgType::Shape(_) => quote!(#value[0]),
        _ => quote!(#value.into_scalar::<#kind>()),
    }
}
