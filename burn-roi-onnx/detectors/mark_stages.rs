//! Marks the end of each stage in a rewritten model, so that the generated code can time the stages.
//!
//! A mark is an identity node behind the last value of a stage. Its code calls `crate::stages::end`.

use burn_onnx::ext::proc_macro2::TokenStream;
use burn_onnx::ext::quote::quote;
use burn_onnx::ext::{ArgType, CodegenContext, CustomNode, CustomOp, ProcessError, arg_to_ident};
use onnx_ir::{AttributeProto, AttributeType, GraphProto, ModelProto, NodeProto};

const DOMAIN: &str = "onnx_detectors";
const OPERATOR: &str = "EndOfStage";
const STAGE: &str = "stage";

/// A node belongs to the first stage with a prefix of its name. `time_onnxruntime.py` has the same stages.
const STAGES: [(&str, &str); 13] = [
    ("/transform/", "preprocessing"),
    ("/backbone/body/", "body"),
    ("/backbone/fpn/", "feature pyramid"),
    ("/rpn/head/", "region predictions"),
    ("/rpn/", "proposals"),
    ("/roi_heads/box_roi_pool/", "box pooling"),
    ("/roi_heads/box_head/", "box head"),
    ("/roi_heads/box_predictor/", "box head"),
    ("/roi_heads/mask_roi_pool/", "mask pooling"),
    ("/roi_heads/keypoint_roi_pool/", "keypoint pooling"),
    ("/roi_heads/mask_", "mask head"),
    ("/roi_heads/keypoint_", "keypoint head"),
    ("/roi_heads/", "detections"),
];
const FIRST: &str = "preprocessing";
/// The stage after the last head, which maps boxes and masks to the image. Its nodes have no module in their names.
const LAST: &str = "masks in the picture";

/// The operator of the marks.
pub struct EndOfStage;

impl CustomOp for EndOfStage {
    fn op_type(&self) -> &str {
        OPERATOR
    }

    fn domain(&self) -> &str {
        DOMAIN
    }

    fn infer_output_types(&self, node: &CustomNode) -> Result<Vec<ArgType>, ProcessError> {
        Ok(node.inputs.iter().map(|input| input.ty.clone()).collect())
    }

    fn forward(&self, node: &CustomNode, context: &mut CodegenContext<'_, '_>) -> Result<TokenStream, ProcessError> {
        let (input, output) = (context.arg(&node.inputs[0]), arg_to_ident(&node.outputs[0]));
        let stage = node.attrs.get_string(STAGE).unwrap_or_default();
        Ok(quote! {
            let #output = #input;
            crate::stages::end(#stage);
        })
    }
}

/// Marks the end of each stage but the last.
pub fn mark(model: &mut ModelProto) {
    if let Some(mut set) = model.opset_import.first().cloned() {
        set.domain = DOMAIN.to_string();
        set.version = 1;
        model.opset_import.push(set);
    }
    let Some(graph) = model.graph.as_mut() else { return };
    let stages = stages(graph);
    let ends = (1..stages.len()).filter(|&at| stages[at] != stages[at - 1]);
    // Backwards, since an inserted mark moves the nodes after it.
    for next in ends.collect::<Vec<_>>().into_iter().rev() {
        end(graph, next, stages[next - 1]);
    }
}

/// The stage of each node. One that has no module in its name belongs to the stage of the node before it.
fn stages(graph: &GraphProto) -> Vec<&'static str> {
    let mut stage = FIRST;
    let of_node = |node: &NodeProto| {
        let known = STAGES.iter().find(|(start, _)| node.name.starts_with(start));
        let after_the_heads = node.name.starts_with('/') && stage != FIRST;
        stage = match known {
            Some((_, known)) => known,
            None if after_the_heads => LAST,
            None => stage,
        };
        stage
    };
    graph.node.iter().map(of_node).collect()
}

/// Ends a stage before the node `next`.
fn end(graph: &mut GraphProto, next: usize, stage: &str) {
    let before = graph.node[..next].iter().rev();
    let Some(last) = before.clone().find(|node| node.op_type != "Constant") else {
        return;
    };
    let value = last.output[0].clone();
    let marked = format!("{value}/end of {stage}");
    for input in graph.node[next..].iter_mut().flat_map(|node| &mut node.input) {
        if *input == value {
            input.clone_from(&marked);
        }
    }
    let attribute = AttributeProto {
        name: STAGE.to_string(),
        type_: AttributeType::STRING.into(),
        s: stage.as_bytes().to_vec().into(),
        ..AttributeProto::default()
    };
    let mark = NodeProto {
        domain: DOMAIN.to_string(),
        op_type: OPERATOR.to_string(),
        name: marked.clone(),
        input: vec![value],
        output: vec![marked],
        attribute: vec![attribute],
        ..NodeProto::default()
    };
    graph.node.insert(next, mark);
}
