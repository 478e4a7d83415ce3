//! `NonMaxSuppression` is moved to this crate's operator set, and malformed nodes are refused.

use onnx_ir::{AttributeProto, GraphProto, ModelProto};

use super::build::{float, graph, import, int, model, node, operators, prepared, refusal, value};

fn suppression(version: i64, inputs: &[&str], attributes: Vec<AttributeProto>) -> ModelProto {
    let mut suppression = node("NonMaxSuppression", inputs, &["kept"]);
    suppression.attribute = attributes;
    let given = ["boxes", "scores", "most", "iou", "least", "more"];
    let values = given.map(|name| value(name, if name.ends_with('s') { &[1, 8, 4] } else { &[1] }));
    model(
        version,
        vec![suppression],
        values.to_vec(),
        vec![value("kept", &[0, 3])],
    )
}

#[test]
fn it_is_moved_with_any_of_its_inputs() {
    for inputs in [&["boxes", "scores"][..], &["boxes", "scores", "", "iou"]] {
        for version in [10, 11, 22] {
            let model = prepared(&suppression(version, inputs, vec![int("center_point_box", 1)])).unwrap();
            assert_eq!(operators(&model), ["burn_roi::NonMaxSuppression"]);
        }
    }
}

#[test]
fn a_malformed_one_is_refused_by_node() {
    let cases = [
        (suppression(9, &["boxes", "scores"], Vec::new()), "version 9"),
        (
            suppression(11, &["boxes"], Vec::new()),
            "it has 1 inputs; it must have 2 to 5",
        ),
        (
            suppression(11, &["boxes", "scores", "most", "iou", "least", "more"], Vec::new()),
            "it has 6 inputs; it must have 2 to 5",
        ),
        (
            suppression(11, &["boxes", ""], Vec::new()),
            "`scores` is missing; it must be there",
        ),
        (
            suppression(11, &["boxes", "scores"], vec![int("center_point_box", 2)]),
            "`center_point_box` is 2; it must be 0 to 1",
        ),
        (
            suppression(11, &["boxes", "scores"], vec![int("soft", 1)]),
            "`soft` is 1; it must be absent",
        ),
    ];
    for (model, reason) in cases {
        let error = refusal(&model);
        assert!(
            error.contains("\"the NonMaxSuppression\"") && error.contains(reason),
            "{error}"
        );
    }
}

#[test]
fn in_a_body_it_stays_in_its_operator_set() {
    // burn-onnx has code of its own for it, and takes no custom operator there.
    let mut model = suppression(11, &["boxes", "scores"], Vec::new());
    let whole = model.graph.mut_or_insert_default();
    let branch = GraphProto {
        node: std::mem::take(&mut whole.node),
        output: vec![value("kept", &[])],
        ..GraphProto::default()
    };
    let mut choice = node("If", &["most"], &["kept"]);
    choice.attribute = vec![graph("then_branch", branch.clone()), graph("else_branch", branch)];
    whole.node = vec![choice];
    let model = prepared(&model).unwrap();
    let body = model.graph.node[0].attribute[0].g.as_ref().unwrap();
    assert_eq!(
        (body.node[0].domain.as_str(), body.node[0].op_type.as_str()),
        ("", "NonMaxSuppression")
    );
}

#[test]
fn a_rotated_one_has_both_thresholds() {
    let rotated = |attributes: Vec<AttributeProto>, inputs: &[&str]| {
        let mut suppression = node("NMSRotated", inputs, &["kept"]);
        suppression.domain = "mmdeploy".to_string();
        suppression.attribute = attributes;
        let given = vec![value("boxes", &[1, 8, 5]), value("scores", &[1, 2, 8])];
        let mut whole = model(16, vec![suppression], given, vec![value("kept", &[0, 3])]);
        import(&mut whole, "mmdeploy", 1);
        whole
    };
    let both = vec![float("iou_threshold", 0.5), float("score_threshold", 0.1)];
    let moved = prepared(&rotated(both.clone(), &["boxes", "scores"])).unwrap();
    assert_eq!(operators(&moved), ["burn_roi::NMSRotated"]);
    let cases = [
        (rotated(both.clone(), &["boxes"]), "it has 1 inputs; it must have 2"),
        (
            rotated(both[..1].to_vec(), &["boxes", "scores"]),
            "`score_threshold` is missing",
        ),
        (
            rotated([&both[..], &[int("most", 1)]].concat(), &["boxes", "scores"]),
            "`most` is 1; it must be absent",
        ),
    ];
    for (model, reason) in cases {
        let error = refusal(&model);
        assert!(
            error.contains("\"the NMSRotated\"") && error.contains(reason),
            "{error}"
        );
    }
}
