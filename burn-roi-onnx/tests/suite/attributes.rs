//! The attributes of region operators: by version, and out of range.

use super::build::{
    float, floats, import, int, ints, model, node, operators, prepared, refusal, roi_align, text, value,
};

#[test]
fn a_roi_align_is_moved_with_the_version_of_its_operator_set() {
    for version in [10, 16, 22] {
        let model = prepared(&roi_align(version, vec![int("output_height", 7)])).unwrap();
        assert_eq!(operators(&model), ["burn_roi::RoiAlign"]);
        let import = model
            .opset_import
            .iter()
            .find(|import| import.domain == "burn_roi")
            .unwrap();
        assert_eq!(import.version, version);
    }
}

#[test]
fn a_version_that_is_not_known_is_refused() {
    for version in [-1, 0, 25, i64::MAX] {
        let error = refusal(&roi_align(version, Vec::new()));
        assert!(
            error.contains(&format!("version {version} ")) && error.contains("1 to 24"),
            "{error}"
        );
    }
    let error = refusal(&roi_align(9, Vec::new()));
    assert!(
        error.contains("\"the RoiAlign\"") && error.contains("version 9") && error.contains("10 to 24"),
        "{error}"
    );
}

#[test]
fn two_versions_of_an_operator_set_are_refused() {
    let mut model = roi_align(10, Vec::new());
    import(&mut model, "ai.onnx", 16);
    let error = refusal(&model);
    assert!(
        error.contains("version 16") && error.contains("10, which the model imports as well"),
        "{error}"
    );
}

#[test]
fn an_own_version_of_the_operator_set_that_nodes_are_moved_to_does_not_count() {
    let mut model = roi_align(10, Vec::new());
    import(&mut model, "burn_roi", 16);
    let model = prepared(&model).unwrap();
    let versions = model.opset_import.iter().filter(|import| import.domain == "burn_roi");
    assert_eq!(versions.map(|import| import.version).collect::<Vec<_>>(), [10]);
}

#[test]
fn an_attribute_out_of_range_is_refused_by_node_and_name() {
    let attributes = [
        (int("output_height", 0), "`output_height` is 0; it must be 1 to 32767"),
        (
            int("output_width", 32768),
            "`output_width` is 32768; it must be 1 to 32767",
        ),
        (int("output_width", i64::MIN), "1 to 32767"),
        (
            int("sampling_ratio", -1),
            "`sampling_ratio` is -1; it must be 0 to 1024",
        ),
        (int("sampling_ratio", 1025), "0 to 1024"),
        (
            float("spatial_scale", 0.0),
            "`spatial_scale` is 0; it must be finite and above 0",
        ),
        (float("spatial_scale", f32::NAN), "finite"),
        (float("spatial_scale", f32::INFINITY), "finite"),
        (int("spatial_scale", 1), "it must be a float"),
        (
            float("output_height", 7.0),
            "`output_height` is 7; it must be an integer",
        ),
        (
            text("mode", "sum"),
            "`mode` is \"sum\"; it must be one of [\"avg\", \"max\"]",
        ),
        (int("mode", 1), "it must be a string"),
        (
            text("coordinate_transformation_mode", "asymmetric"),
            "one of [\"half_pixel\", \"output_half_pixel\"]",
        ),
        (int("aligned", 1), "`aligned` is 1; it must be absent"),
    ];
    for (attribute, expected) in attributes {
        let error = refusal(&roi_align(16, vec![attribute]));
        assert!(
            error.contains("\"the RoiAlign\"") && error.contains(expected),
            "{error}"
        );
    }
}

#[test]
fn opset_10_has_no_coordinate_transformation_mode() {
    let mode = || vec![text("coordinate_transformation_mode", "half_pixel")];
    let error = refusal(&roi_align(10, mode()));
    assert!(
        error.contains("`coordinate_transformation_mode` is \"half_pixel\"; it must be absent"),
        "{error}"
    );
    assert!(prepared(&roi_align(16, mode())).is_ok());
}

#[test]
fn an_attribute_that_is_there_twice_is_refused() {
    let error = refusal(&roi_align(16, vec![int("output_height", 7), int("output_height", 14)]));
    assert!(
        error.contains("`output_height`") && error.contains("there only once"),
        "{error}"
    );
}

#[test]
fn inputs_are_counted() {
    for inputs in [&["features", "rois"][..], &["features", "rois", "rois", "rois"], &[]] {
        let mut model = roi_align(16, Vec::new());
        model.graph.mut_or_insert_default().node[0].input = inputs.iter().map(|name| name.to_string()).collect();
        let error = refusal(&model);
        assert!(
            error.contains(&format!("it has {} inputs; it must have 3", inputs.len())),
            "{error}"
        );
    }
    let mut model = roi_align(16, Vec::new());
    model.graph.mut_or_insert_default().node[0].input[2] = String::new();
    assert!(refusal(&model).contains("the input `batch_indices` is missing"));
}

#[test]
fn max_roi_pool_needs_two_sizes() {
    for (sizes, expected) in [
        (vec![], "`pooled_shape` is missing"),
        (
            vec![ints("pooled_shape", &[7])],
            "`pooled_shape` is [7]; it must be a height and a width",
        ),
        (
            vec![ints("pooled_shape", &[7, 0])],
            "`pooled_shape` is 0; it must be 1 to 32767",
        ),
    ] {
        let mut pool = node("MaxRoiPool", &["features", "rois"], &["pooled"]);
        pool.attribute = sizes;
        let inputs = vec![value("features", &[1, 3, 8, 8]), value("rois", &[0, 5])];
        let error = refusal(&model(16, vec![pool], inputs, vec![value("pooled", &[])]));
        assert!(
            error.contains("\"the MaxRoiPool\"") && error.contains(expected),
            "{error}"
        );
    }
}

#[test]
fn mmdeploy_boxes_are_not_made_smaller() {
    let prepare = |factor| {
        let mut align = node("MMCVMultiLevelRoiAlign", &["rois", "features"], &["pooled"]);
        align.domain = "mmdeploy".to_string();
        align.attribute = vec![floats("featmap_strides", &[4.0]), float("roi_scale_factor", factor)];
        let inputs = vec![value("features", &[1, 3, 8, 8]), value("rois", &[0, 5])];
        let mut model = model(16, vec![align], inputs, vec![value("pooled", &[])]);
        import(&mut model, "mmdeploy", 1);
        model
    };
    let error = refusal(&prepare(0.5));
    assert!(
        error.contains("`roi_scale_factor` is 0.5; it must be 1 or more, or 0 or less"),
        "{error}"
    );
    for factor in [-1.0, 0.0, 1.0, 1.3] {
        assert!(prepared(&prepare(factor)).is_ok());
    }
}
