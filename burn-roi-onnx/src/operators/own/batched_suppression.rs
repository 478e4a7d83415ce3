//! Class-wise NMS. torchvision's export computes it in a branch of an `If`.

use burn_onnx::ext::proc_macro2::TokenStream;
use burn_onnx::ext::quote::quote;
use burn_onnx::ext::{ArgType, CodegenContext, CustomNode, DType, TensorType};

use super::operator::{OwnOperator, assign, refusal};
use crate::error::Error;
use crate::operators::inputs::is_tensor;

/// The operator's name.
pub(crate) const NAME: &str = "BatchedSuppression";
/// The attribute with the IoU above which a box is dropped.
pub(crate) const THRESHOLD: &str = "iou_threshold";

/// Inputs: boxes, scores and labels. Output: the indices of the kept boxes.
pub(super) const OPERATORS: &[OwnOperator] = &[OwnOperator::new(NAME, types, code)];

fn types(_node: &CustomNode) -> Result<Vec<ArgType>, Error> {
    Ok(vec![ArgType::Tensor(TensorType::new(DType::I64, 1, Some(vec![None])))])
}

fn code(node: &CustomNode, context: &mut CodegenContext<'_, '_>) -> Result<TokenStream, Error> {
    let ([boxes, scores, labels], [_]) = (&node.inputs[..], &node.outputs[..]) else {
        return Err(refusal(node, "it must have three inputs and one output"));
    };
    for (input, rank, float) in [(boxes, 2, true), (scores, 1, true), (labels, 1, false)] {
        if !is_tensor(input, rank, float) {
            return Err(refusal(node, format!("its input {input} has another rank or dtype")));
        }
    }
    let threshold = node.attrs.get_f32(THRESHOLD);
    let threshold = threshold.ok_or_else(|| refusal(node, "it has no threshold"))?;
    let (boxes, scores, labels) = (context.arg(boxes), context.arg(scores), context.arg(labels));
    // As torch does, moves the boxes of each class by an offset, so that coordinates are rounded alike.
    let kept = quote! {{
        let (burn_roi_boxes, burn_roi_scores, burn_roi_labels) = (#boxes, #scores, #labels);
        let (burn_roi_device, burn_roi_count) = (burn_roi_boxes.device(), burn_roi_boxes.dims()[0]);
        if burn_roi_count == 0 {
            burn::tensor::Tensor::<1, burn::tensor::Int>::empty(
                [0],
                (&burn_roi_device, burn::tensor::DType::I64),
            )
        } else {
            let burn_roi_step = burn_roi_boxes.clone().max().add_scalar(1.0);
            let burn_roi_offsets =
                burn_roi_labels.float().cast(burn_roi_boxes.dtype()).mul(burn_roi_step);
            let burn_roi_moved = burn_roi_boxes.add(burn_roi_offsets.unsqueeze_dim::<2>(1));
            let burn_roi_kept = burn_roi_detection::onnx::non_max_suppression(
                burn_roi_moved.unsqueeze_dim::<3>(0),
                burn_roi_scores.reshape([1, 1, burn_roi_count]),
                &burn_roi_detection::onnx::NonMaxSuppression::new()
                    .with_max_output_boxes_per_class(i64::MAX)
                    .with_iou_threshold(#threshold),
            );
            burn_roi_kept
                .slice_dim(1, 2..3)
                .squeeze_dim::<1>(1)
                .cast(burn::tensor::DType::I64)
        }
    }};
    Ok(assign(node, kept))
}
