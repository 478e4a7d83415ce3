//! mmdeploy's `NMSRotated`.

use burn_onnx::ext::proc_macro2::TokenStream;
use burn_onnx::ext::quote::quote;
use burn_onnx::ext::{ArgType, CodegenContext, CustomNode, DType, ProcessError, TensorType, arg_to_ident};

use super::operator::OwnOperator;
use crate::error::Error;
use crate::operators::attributes::Attributes;
use crate::operators::inputs::is_tensor;

/// The operator's name.
pub(crate) const NAME: &str = "NMSRotated";
/// The operator set that it is in.
pub(crate) const OF: &str = "mmdeploy";

pub(crate) struct RotatedSuppression;

impl OwnOperator for RotatedSuppression {
    fn name(&self) -> &'static str {
        NAME
    }

    fn output_types(&self, _node: &CustomNode) -> Result<Vec<ArgType>, ProcessError> {
        let sizes = vec![None, Some(3)];
        Ok(vec![ArgType::Tensor(TensorType::new(DType::I64, 2, Some(sizes)))])
    }

    fn code(&self, node: &CustomNode, context: &mut CodegenContext<'_, '_>) -> Result<TokenStream, ProcessError> {
        let attributes = Attributes::of_custom(node);
        let [iou, score] = thresholds(&attributes).map_err(Error::into_process_error)?;
        for (input, name) in node.inputs.iter().zip(["boxes", "scores"]) {
            if !is_tensor(input, 3, true) {
                let expected = "a tensor of floats of rank 3";
                return Err(attributes
                    .wrong_input(name, input.to_string(), expected)
                    .into_process_error());
            }
        }
        let (boxes, scores) = (context.arg(&node.inputs[0]), context.arg(&node.inputs[1]));
        let output = arg_to_ident(&node.outputs[0]);
        Ok(quote! {
            let #output = burn_roi_detection::onnx::mmdeploy::nms_rotated(
                #boxes,
                #scores,
                &burn_roi_detection::onnx::mmdeploy::NmsRotated::new(#iou, #score),
            )
            .cast(burn::tensor::DType::I64);
        })
    }
}

/// Checks a node of mmdeploy's operator set, as the model has it.
pub(crate) fn check(attributes: &Attributes, inputs: &[String], outputs: usize) -> Result<(), Error> {
    attributes.check_count("inputs", inputs.len(), &(2..=2))?;
    attributes.check_count("outputs", outputs, &(1..=1))?;
    thresholds(attributes).map(|_| ())
}

/// The thresholds of the IoU and of the score, which mmdeploy's code has no defaults for.
fn thresholds(attributes: &Attributes) -> Result<[f32; 2], Error> {
    attributes.only(&["iou_threshold", "score_threshold"])?;
    Ok([
        attributes.number("iou_threshold")?,
        attributes.number("score_threshold")?,
    ])
}
