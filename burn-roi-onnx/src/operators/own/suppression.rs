//! ONNX `NonMaxSuppression` and mmdeploy's `NMSRotated`. burn-onnx's code for the first calls `burn::vision`, which
//! compiles the decoders of all image formats.

use burn_onnx::ext::proc_macro2::TokenStream;
use burn_onnx::ext::quote::quote;
use burn_onnx::ext::{ArgType, CodegenContext, CustomNode, DType, TensorType};
use onnx_ir::NodeProto;

use super::operator::{OwnOperator, assign};
use crate::error::Error;
use crate::operators::attributes::Attributes;
use crate::operators::inputs::{is_number, is_tensor, number};
use crate::read::node;
use crate::read::opset::NEWEST_VERSION;

/// ONNX's operator.
pub(crate) const NAME: &str = "NonMaxSuppression";
/// mmdeploy's operator.
const ROTATED: &str = "NMSRotated";

/// The first version of the default operator set with this operator.
const FIRST_VERSION: usize = 10;

/// The inputs after boxes and scores: optional scalars.
const NUMBERS: [&str; 3] = ["max_output_boxes_per_class", "iou_threshold", "score_threshold"];

pub(super) const OPERATORS: &[OwnOperator] = &[
    OwnOperator::new(NAME, types, code),
    OwnOperator::new(ROTATED, types, rotated_code),
];

/// The kept boxes: batch, class and box.
fn types(_node: &CustomNode) -> Result<Vec<ArgType>, Error> {
    let sizes = vec![None, Some(3)];
    Ok(vec![ArgType::Tensor(TensorType::new(DType::I64, 2, Some(sizes)))])
}

fn code(node: &CustomNode, context: &mut CodegenContext<'_, '_>) -> Result<TokenStream, Error> {
    check_inputs(node)?;
    let center = center_point_box(&Attributes::of_custom(node))?;
    let (boxes, scores) = (context.arg(&node.inputs[0]), context.arg(&node.inputs[1]));
    let mut number = |at: usize, kind: TokenStream| {
        let input = node.inputs.get(at).filter(|input| !input.is_optional())?;
        Some(number(input, &kind, context))
    };
    let most = number(2, quote!(i64)).map(|most| quote!(.with_max_output_boxes_per_class(#most)));
    let iou = number(3, quote!(f32)).map(|threshold| quote!(.with_iou_threshold(#threshold)));
    let score = number(4, quote!(f32)).map(|threshold| quote!(.with_score_threshold(Some(#threshold))));
    let kept = quote! {
        burn_roi_detection::onnx::non_max_suppression(
            #boxes,
            #scores,
            &burn_roi_detection::onnx::NonMaxSuppression::new().with_center_point_box(#center) #most #iou #score,
        )
        .cast(burn::tensor::DType::I64)
    };
    Ok(assign(node, kept))
}

fn rotated_code(node: &CustomNode, context: &mut CodegenContext<'_, '_>) -> Result<TokenStream, Error> {
    check_inputs(node)?;
    let [iou, score] = thresholds(&Attributes::of_custom(node))?;
    let (boxes, scores) = (context.arg(&node.inputs[0]), context.arg(&node.inputs[1]));
    let kept = quote! {
        burn_roi_detection::onnx::mmdeploy::nms_rotated(
            #boxes,
            #scores,
            &burn_roi_detection::onnx::mmdeploy::NmsRotated::new(#iou, #score),
        )
        .cast(burn::tensor::DType::I64)
    };
    Ok(assign(node, kept))
}

/// Whether a node of a model is one of these operators.
pub(crate) fn is_suppression(node: &NodeProto) -> bool {
    node::is(node, NAME) || is_rotated(node)
}

pub(crate) fn is_rotated(node: &NodeProto) -> bool {
    node.op_type == ROTATED && node.domain == "mmdeploy"
}

/// Checks a node as the model has it. `version` is that of the default operator set.
pub(crate) fn check(node: &NodeProto, version: usize) -> Result<(), Error> {
    let attributes = Attributes::of(node, version);
    let most_numbers = if is_rotated(node) { 0 } else { NUMBERS.len() };
    if !is_rotated(node) {
        attributes.check_version(&(FIRST_VERSION..=NEWEST_VERSION))?;
    }
    attributes.check_count("inputs", node.input.len(), &(2..=2 + most_numbers))?;
    attributes.check_count("outputs", node.output.len(), &(1..=1))?;
    for (input, name) in node.input.iter().zip(["boxes", "scores"]) {
        if input.is_empty() {
            return Err(attributes.wrong_input(name, "missing", "there"));
        }
    }
    if is_rotated(node) {
        thresholds(&attributes).map(|_| ())
    } else {
        center_point_box(&attributes).map(|_| ())
    }
}

fn center_point_box(attributes: &Attributes) -> Result<bool, Error> {
    attributes.only(&["center_point_box"])?;
    attributes.flag("center_point_box", false)
}

/// The thresholds of the IoU and of the score, which mmdeploy's code has no defaults for.
fn thresholds(attributes: &Attributes) -> Result<[f32; 2], Error> {
    attributes.only(&["iou_threshold", "score_threshold"])?;
    Ok([
        attributes.finite("iou_threshold", None)?,
        attributes.finite("score_threshold", None)?,
    ])
}

/// Checks the types of a node's inputs, which onnx-ir infers.
pub(crate) fn check_inputs(node: &CustomNode) -> Result<(), Error> {
    let attributes = Attributes::of_custom(node);
    for (input, name) in node.inputs.iter().zip(["boxes", "scores"]) {
        if !is_tensor(input, 3, true) || input.is_optional() {
            return Err(attributes.wrong_input(name, input.to_string(), "a tensor of floats of rank 3"));
        }
    }
    for (input, name) in node.inputs.iter().skip(2).zip(NUMBERS) {
        if !input.is_optional() && !is_number(input, name == NUMBERS[0]) {
            let expected = if name == NUMBERS[0] { "an integer" } else { "a float" };
            return Err(attributes.wrong_input(name, input.to_string(), expected));
        }
    }
    Ok(())
}
