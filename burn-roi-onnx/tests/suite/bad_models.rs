//! Malformed protobufs and malformed graphs.

use burn_roi_onnx::prepare;
use onnx_ir::{GraphProto, Message, ModelProto};

use super::build::{graph, model, node, prepared, refusal, roi_align, tensor, value};

#[test]
fn what_is_no_protobuf_is_refused() {
    assert!(prepare(b"", None).unwrap_err().to_string().contains("version 0"));
    for bytes in [
        &b"\xff\xff\xff\xff"[..],
        b"<html></html>",
        &[0x3a, 0xff, 0xff, 0xff, 0xff, 0x0f],
    ] {
        let error = prepare(bytes, None).unwrap_err().to_string();
        assert!(
            error.contains("not an ONNX model") || error.contains("version 0"),
            "{error}"
        );
    }
    let mut without_graph = model(16, Vec::new(), Vec::new(), Vec::new());
    without_graph.graph = None.into();
    assert!(refusal(&without_graph).contains("it has no graph"));
}

#[test]
fn no_truncation_panics() {
    let bytes = roi_align(16, Vec::new()).write_to_bytes().unwrap();
    for end in 0..bytes.len() {
        // Some truncated files are valid models with fewer fields, so an error is not required.
        let _ = prepare(&bytes[..end], None);
    }
    assert!(prepare(&bytes, None).is_ok());
}

#[test]
fn a_value_that_nothing_gives_is_refused() {
    let relu = node("Relu", &["nothing"], &["y"]);
    let error = refusal(&model(16, vec![relu], Vec::new(), vec![value("y", &[1])]));
    assert!(
        error.contains("\"the Relu\"") && error.contains("\"nothing\""),
        "{error}"
    );

    let error = refusal(&model(16, Vec::new(), Vec::new(), vec![value("y", &[1])]));
    assert!(error.contains("the output \"y\", which nothing gives"), "{error}");
}

#[test]
fn a_value_that_is_given_twice_is_refused() {
    let nodes = vec![node("Relu", &["x"], &["y"]), node("Sigmoid", &["x"], &["y"])];
    let error = refusal(&model(16, nodes, vec![value("x", &[1])], vec![value("y", &[1])]));
    assert!(
        error.contains("\"the Sigmoid\"") && error.contains("given before"),
        "{error}"
    );

    let twice = vec![value("x", &[1]), value("x", &[1])];
    assert!(refusal(&model(16, Vec::new(), twice, Vec::new())).contains("gives the value \"x\" twice"));
}

#[test]
fn a_node_before_its_input_is_refused() {
    let nodes = vec![node("Relu", &["y"], &["z"]), node("Sigmoid", &["x"], &["y"])];
    let error = refusal(&model(16, nodes, vec![value("x", &[1])], vec![value("z", &[1])]));
    assert!(
        error.contains("\"the Relu\"") && error.contains("nothing before it gives"),
        "{error}"
    );
}

#[test]
fn a_region_operator_in_a_body_is_refused() {
    for operator in ["RoiAlign", "Resize", "Upsample"] {
        check_in_a_body(operator);
    }
}

fn check_in_a_body(operator: &str) {
    let mut model = roi_align(16, Vec::new());
    let whole = model.graph.mut_or_insert_default();
    whole.node[0].op_type = operator.to_string();
    let branch = GraphProto {
        node: std::mem::take(&mut whole.node),
        output: vec![value("pooled", &[])],
        ..GraphProto::default()
    };
    let mut choice = node("If", &["condition"], &["chosen"]);
    choice.attribute = vec![graph("then_branch", branch.clone()), graph("else_branch", branch)];
    whole.node = vec![choice];
    whole.input.push(value("condition", &[]));
    whole.output[0].name = "chosen".to_string();
    let error = refusal(&model);
    assert!(
        error.contains("\"the RoiAlign\"") && error.contains("in the body of the node \"the If\""),
        "{operator}: {error}"
    );
}

#[test]
fn bodies_within_bodies_end() {
    let mut body = GraphProto::default();
    for _ in 0..20_000 {
        let mut nested = node("If", &["x"], &["y"]);
        nested.attribute = vec![graph("then_branch", body)];
        body = GraphProto {
            node: vec![nested],
            ..GraphProto::default()
        };
        // The encoder is recursive as well.
        if body.compute_size() > 2000 {
            break;
        }
    }
    let deep = ModelProto {
        graph: Some(body).into(),
        ..ModelProto::default()
    };
    assert!(prepared(&deep).is_err());
}

#[test]
fn a_tensor_of_impossible_sizes_is_refused() {
    for sizes in [&[-1][..], &[i64::MAX, 2], &[i64::MAX, i64::MAX]] {
        let mut model = roi_align(16, Vec::new());
        model.graph.mut_or_insert_default().initializer = vec![tensor("weights", sizes, &[1])];
        let error = refusal(&model);
        assert!(error.contains("`weights`") && error.contains("sizes"), "{error}");
    }
}

#[test]
fn a_constant_of_any_size_takes_bounded_memory() {
    let mut filled = node("ConstantOfShape", &["sizes"], &["filled"]);
    filled.attribute = Vec::new();
    let mut model = model(16, vec![filled], Vec::new(), vec![value("filled", &[])]);
    model.graph.mut_or_insert_default().initializer = vec![tensor("sizes", &[3], &[1 << 40, 1 << 40, 3])];
    let model = prepared(&model).unwrap();
    assert!(model.compute_size() < 1000);
}
