//! Makes a tensor of sizes, which burn-onnx keeps as an array.

use burn_onnx::ext::quote::quote;

use super::{Call, Channels, DOMAIN, Input, NEWEST_VERSION, Operator, TENSOR};
use crate::attributes::Attributes;
use crate::error::Error;

pub(super) const OPERATORS: &[Operator] = &[Operator {
    domain: DOMAIN,
    name: TENSOR,
    versions: 1..=NEWEST_VERSION,
    inputs: 1..=1,
    outputs: 1..=1,
    read: tensor,
}];

fn tensor(attributes: &Attributes, _inputs: usize) -> Result<Call, Error> {
    attributes.only(&[])?;
    Ok(Call {
        inputs: vec![Input::int("sizes", 1)],
        output: vec![None],
        channels: Channels::NONE,
        code: Box::new(move |inputs| quote!(#(#inputs)*)),
        repeated: Vec::new(),
    })
}
