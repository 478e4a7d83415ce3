//! The region operators of all operator sets.

mod hook;
mod microsoft;
mod mmcv;
pub(crate) mod multi_scale;
mod onnx;
mod openvino;
mod operator;
pub(crate) mod paste_masks;
mod tensorrt;

pub(crate) use hook::check_inputs;
pub(crate) use operator::Operator;

/// All of them.
pub(crate) fn all() -> impl Iterator<Item = &'static Operator> {
    [
        onnx::OPERATORS,
        microsoft::OPERATORS,
        mmcv::OPERATORS,
        tensorrt::OPERATORS,
        openvino::OPERATORS,
        paste_masks::OPERATORS,
        multi_scale::OPERATORS,
    ]
    .into_iter()
    .flatten()
}

/// The operator of a name in an operator set.
pub(crate) fn find(domain: &str, name: &str) -> Option<&'static Operator> {
    all().find(|operator| operator.domain == domain && operator.name == name)
}
