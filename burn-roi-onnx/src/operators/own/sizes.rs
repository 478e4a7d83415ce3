//! A small tensor that the host computes from the sizes of other tensors.

use burn_onnx::ext::proc_macro2::TokenStream;
use burn_onnx::ext::quote::{format_ident, quote};
use burn_onnx::ext::{ArgType, CodegenContext, CustomNode, DType, ProcessError, TensorType, arg_to_ident};

use onnx_ir::BoolStore;

use super::operator::OwnOperator;
use crate::read::tensor::element;

/// The operator's name.
pub(crate) const NAME: &str = "Sizes";
/// The attribute with the Rust code of each element, in row-major order.
pub(crate) const CODE: &str = "code";
/// The attribute with the sizes of the output.
pub(crate) const SIZES: &str = "sizes";
/// The attribute with the ONNX code of the element type.
pub(crate) const ELEMENT: &str = "element";

pub(crate) struct Sizes;

impl OwnOperator for Sizes {
    fn name(&self) -> &'static str {
        NAME
    }

    fn output_types(&self, node: &CustomNode) -> Result<Vec<ArgType>, ProcessError> {
        output_types(node)
    }

    fn code(&self, node: &CustomNode, context: &mut CodegenContext<'_, '_>) -> Result<TokenStream, ProcessError> {
        let sizes = sizes(node)?;
        let kind = kind(node)?;
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
        let value = match (&output_types(node)?[0], &elements[..]) {
            (ArgType::Shape(_), elements) => quote!([#(#elements),*]),
            (ArgType::ScalarNative(DType::I32), [only]) => quote!(#only as i32),
            (ArgType::ScalarNative(_), [only]) => quote!(#only),
            (_, elements) => {
                let rank = sizes.len();
                let (class, dtype) = match kind {
                    DType::F32 => (quote!(burn::tensor::Float), quote!(burn::tensor::DType::F32)),
                    DType::I32 => (quote!(burn::tensor::Int), quote!(burn::tensor::DType::I32)),
                    DType::I64 => (quote!(burn::tensor::Int), quote!(burn::tensor::DType::I64)),
                    _ => return Err(malformed(node)),
                };
                quote! {
                    burn::tensor::Tensor::<#rank, #class>::from_data(
                        burn::tensor::TensorData::new(alloc::vec![#(#elements),*], [#(#sizes),*]),
                        (&self.device, #dtype),
                    )
                }
            }
        };
        Ok(quote! {
            #[allow(unused_parens, clippy::all)]
            let #output = {
                #read
                #value
            };
        })
    }
}

/// The type of the output. A list of i64 becomes an array, which burn-onnx uses for sizes.
fn output_types(node: &CustomNode) -> Result<Vec<ArgType>, ProcessError> {
    let (sizes, dtype) = (sizes(node)?, kind(node)?);
    let kind = match (&sizes[..], dtype) {
        ([], dtype) => ArgType::ScalarNative(dtype),
        (&[size], DType::I64) => ArgType::Shape(size),
        (sizes, dtype) => ArgType::Tensor(TensorType::new_known(dtype, sizes.to_vec())),
    };
    Ok(vec![kind])
}

fn sizes(node: &CustomNode) -> Result<Vec<usize>, ProcessError> {
    let sizes = node.attrs.get_i64s(SIZES).unwrap_or_default();
    let sizes = sizes.iter().map(|&size| usize::try_from(size));
    sizes.collect::<Result<_, _>>().map_err(|_| malformed(node))
}

fn kind(node: &CustomNode) -> Result<DType, ProcessError> {
    match node
        .attrs
        .get_i64(ELEMENT)
        .and_then(|element| i32::try_from(element).ok())
    {
        Some(element::FLOAT) => Ok(DType::F32),
        Some(element::INT32) => Ok(DType::I32),
        Some(element::INT64) => Ok(DType::I64),
        Some(element::BOOL) => Ok(DType::Bool(BoolStore::Native)),
        _ => Err(malformed(node)),
    }
}

fn malformed(node: &CustomNode) -> ProcessError {
    ProcessError::Custom(format!("the node {} is malformed", node.name))
}
