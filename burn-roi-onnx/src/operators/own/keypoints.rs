//! Keypoints from heatmaps. torchvision's export computes them in a `Loop`.

use burn_onnx::ext::proc_macro2::TokenStream;
use burn_onnx::ext::quote::quote;
use burn_onnx::ext::{ArgType, CodegenContext, CustomNode, DType, TensorType, arg_to_ident};

use super::operator::{OwnOperator, refusal};
use crate::error::Error;
use crate::operators::inputs::is_tensor;

/// The operator's name.
pub(crate) const NAME: &str = "Keypoints";

/// Inputs: heatmaps and boxes. Outputs: keypoints `[K, 3, P]`, which is the loop's order of axes, and scores `[K, P]`.
pub(super) const OPERATORS: &[OwnOperator] = &[OwnOperator::new(NAME, types, code)];

fn types(node: &CustomNode) -> Result<Vec<ArgType>, Error> {
    let dtype = match &node.inputs[..] {
        [heatmaps, _] if heatmaps.ty.elem_type().is_float() => heatmaps.ty.elem_type(),
        _ => DType::F32,
    };
    let points = node.inputs.first().and_then(|heatmaps| heatmaps.ty.static_shape());
    let points = points.and_then(|sizes| sizes.get(1).copied()).flatten();
    Ok(vec![
        ArgType::Tensor(TensorType::new(dtype, 3, Some(vec![None, Some(3), points]))),
        ArgType::Tensor(TensorType::new(dtype, 2, Some(vec![None, points]))),
    ])
}

fn code(node: &CustomNode, context: &mut CodegenContext<'_, '_>) -> Result<TokenStream, Error> {
    let ([heatmaps, boxes], [keypoints, scores]) = (&node.inputs[..], &node.outputs[..]) else {
        return Err(refusal(node, "it must have two inputs and two outputs"));
    };
    for (input, rank) in [(heatmaps, 4), (boxes, 2)] {
        if !is_tensor(input, rank, true) {
            return Err(refusal(
                node,
                format!("its input {input} must be floats of rank {rank}"),
            ));
        }
    }
    let (heatmaps, boxes) = (context.arg(heatmaps), context.arg(boxes));
    let (keypoints, scores) = (arg_to_ident(keypoints), arg_to_ident(scores));
    Ok(quote! {
        let (#keypoints, #scores) = {
            let (burn_roi_keypoints, burn_roi_scores) =
                burn_roi_detection::heatmaps_to_keypoints(#heatmaps, #boxes);
            (burn_roi_keypoints.swap_dims(1, 2), burn_roi_scores)
        };
    })
}
