//! ONNX `NonMaxSuppression`. burn-onnx's code for it calls `burn::vision`, which compiles the decoders of all image
//! formats.

use burn_onnx::ext::proc_macro2::TokenStream;
use burn_onnx::ext::quote::quote;
use burn_onnx::ext::{ArgType, CodegenContext, CustomNode, DType, ProcessError, TensorType, arg_to_ident};

use super::operator::OwnOperator;
use crate::error::Error;
use crate::operators::attributes::Attributes;
use crate::operators::inputs::{is_number, is_tensor, number};
use crate::read::opset::NEWEST_VERSION;

/// The operator's name.
pub(crate) const NAME: &str = "NonMaxSuppression";

/// The first version of the default operator set with this operator.
const FIRST_VERSION: usize = 10;

/// The inputs after boxes and scores: optional scalars.
const NUMBERS: [&str; 3] = ["max_output_boxes_per_class", "iou_threshold", "score_threshold"];

pub(crate) struct Suppression;

impl OwnOperator for Suppression {
    fn name(&self) -> &'static str {
        NAME
    }

    fn output_types(&self, _node: &CustomNode) -> Result<Vec<ArgType>, ProcessError> {
        let sizes = vec![None, Some(3)];
        Ok(vec![ArgType::Tensor(TensorType::new(DType::I64, 2, Some(sizes)))])
    }

    fn code(&self, node: &CustomNode, context: &mut CodegenContext<'_, '_>) -> Result<TokenStream, ProcessError> {
        check_inputs(node).map_err(Error::into_process_error)?;
        let center = center_point_box(&Attributes::of_custom(node)).map_err(Error::into_process_error)?;
        let (boxes, scores) = (context.arg(&node.inputs[0]), context.arg(&node.inputs[1]));
        let mut number = |at: usize, kind: TokenStream| {
            let input = node.inputs.get(at).filter(|input| !input.is_optional())?;
            Some(number(input, &kind, context))
        };
        let most = number(2, quote!(i64)).map(|most| quote!(.with_max_output_boxes_per_class(#most)));
        let iou = number(3, quote!(f32)).map(|threshold| quote!(.with_iou_threshold(#threshold)));
        let score = number(4, quote!(f32)).map(|threshold| quote!(.with_score_threshold(Some(#threshold))));
        let output = arg_to_ident(&node.outputs[0]);
        Ok(quote! {
            let #output = burn_roi_detection::onnx::non_max_suppression(
                #boxes,
                #scores,
                &burn_roi_detection::onnx::NonMaxSuppression::new().with_center_point_box(#center) #most #iou #score,
            )
            .cast(burn::tensor::DType::I64);
        })
    }
}

/// Checks a node of the default operator set, as the model has it.
pub(crate) fn check(attributes: &Attributes, inputs: &[String], outputs: usize) -> Result<(), Error> {
    attributes.check_version(&(FIRST_VERSION..=NEWEST_VERSION))?;
    attributes.check_count("inputs", inputs.len(), &(2..=2 + NUMBERS.len()))?;
    attributes.check_count("outputs", outputs, &(1..=1))?;
    for (input, name) in inputs.iter().zip(["boxes", "scores"]) {
        if input.is_empty() {
            return Err(attributes.wrong_input(name, "missing", "there"));
        }
    }
    center_point_box(attributes).map(|_| ())
}

fn center_point_box(attributes: &Attributes) -> Result<bool, Error> {
    attributes.only(&["center_point_box"])?;
    attributes.flag("center_point_box", false)
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
