//! A small tensor that the host computes from the sizes of other tensors.

use burn_onnx::ext::proc_macro2::TokenStream;
use burn_onnx::ext::quote::{format_ident, quote};
use burn_onnx::ext::{ArgType, CodegenContext, CustomNode, DType, TensorType, arg_to_ident};
use onnx_ir::BoolStore;

use super::operator::{OwnOperator, refusal};
use crate::error::Error;
use crate::read::tensor::element;

/// The operator's name.
pub(crate) const NAME: &str = "Sizes";
/// The attribute with the Rust code of each element, in row-major order.
pub(crate) const CODE: &str = "code";
/// The attribute with the sizes of the output.
pub(crate) const SIZES: &str = "sizes";
/// The attribute with the ONNX code of the element type.
pub(crate) const ELEMENT: &str = "element";

pub(super) const OPERATORS: &[OwnOperator] = &[OwnOperator::new(NAME, types, code)];

/// The type of the output. A list of i64 becomes an array, which burn-onnx uses for sizes.
fn types(node: &CustomNode) -> Result<Vec<ArgType>, Error> {
    let (sizes, dtype) = (sizes(node)?, dtype(node)?);
    Ok(vec![match (&sizes[..], dtype) {
        ([], dtype) => ArgType::ScalarNative(dtype),
        (&[size], DType::I64) => ArgType::Shape(size),
        (sizes, dtype) => ArgType::Tensor(TensorType::new_known(dtype, sizes.to_vec())),
    }])
}

fn code(node: &CustomNode, context: &mut CodegenContext<'_, '_>) -> Result<TokenStream, Error> {
    let code = node.attrs.get_strings(CODE).unwrap_or_default();
    let elements: Vec<TokenStream> = code
        .iter()
        .map(|code| code.parse().map_err(|_| malformed(node)))
        .collect::<Result<_, _>>()?;
    let read = node.inputs.iter().enumerate().map(|(at, input)| {
        let (name, value) = (format_ident!("burn_roi_sizes{at}"), context.arg(input));
        quote!(let #name = #value.dims();)
    });
    let read: TokenStream = read.collect();
    let output = arg_to_ident(node.outputs.first().ok_or_else(|| malformed(node))?);
    let value = match (&types(node)?[0], &elements[..]) {
        (ArgType::Shape(_), elements) => quote!([#(#elements),*]),
        (ArgType::ScalarNative(DType::I32), [only]) => quote!(#only as i32),
        (ArgType::ScalarNative(_), [only]) => quote!(#only),
        (_, elements) => tensor(node, elements)?,
    };
    Ok(quote! {
        #[allow(unused_parens, clippy::all)]
        let #output = {
            #read
            #value
        };
    })
}

/// The code of a tensor of these elements.
fn tensor(node: &CustomNode, elements: &[TokenStream]) -> Result<TokenStream, Error> {
    let sizes = sizes(node)?;
    let rank = sizes.len();
    let (class, dtype) = match dtype(node)? {
        DType::F32 => (quote!(Float), quote!(F32)),
        DType::I32 => (quote!(Int), quote!(I32)),
        DType::I64 => (quote!(Int), quote!(I64)),
        _ => return Err(malformed(node)),
    };
    Ok(quote! {
        burn::tensor::Tensor::<#rank, burn::tensor::#class>::from_data(
            burn::tensor::TensorData::new(alloc::vec![#(#elements),*], [#(#sizes),*]),
            (&self.device, burn::tensor::DType::#dtype),
        )
    })
}

fn sizes(node: &CustomNode) -> Result<Vec<usize>, Error> {
    let sizes = node.attrs.get_i64s(SIZES).unwrap_or_default();
    let sizes = sizes.iter().map(|&size| usize::try_from(size));
    sizes.collect::<Result<_, _>>().map_err(|_| malformed(node))
}

fn dtype(node: &CustomNode) -> Result<DType, Error> {
    let element = node.attrs.get_i64(ELEMENT);
    match element.and_then(|element| i32::try_from(element).ok()) {
        Some(element::FLOAT) => Ok(DType::F32),
        Some(element::INT32) => Ok(DType::I32),
        Some(element::INT64) => Ok(DType::I64),
        Some(element::BOOL) => Ok(DType::Bool(BoolStore::Native)),
        _ => Err(malformed(node)),
    }
}

fn malformed(node: &CustomNode) -> Error {
    refusal(node, "it is malformed")
}
