//! Flaws of ids, types, boxes, areas and keypoints, and detections of other categories.

use burn_roi_detection::data::coco::{CocoEffect, CocoFlaw};
use burn_roi_detection::evaluate::coco::{CocoEvaluationConfig, CocoKind, detections_from_json, evaluate_coco};
use serde_json::{Value, json};

use super::{BOTH, ap, check, file, found, read, run_lengths, with};

#[test]
fn example_4_a_detection_of_an_unlisted_category_is_ignored() {
    let (dataset, _) = read(&file());
    let mut other = found();
    other["category_id"] = json!(9);
    other["score"] = json!(0.95);
    for &kind in BOTH {
        let ap = ap(&dataset, &json!([other, found()]), kind);
        assert!((ap - 1.0).abs() < 1e-9, "{kind} AP is {ap}");
    }
    // A crowd without a mask, and a detection of it.
    for mask in [Value::Null, json!([]), json!({"size": [80, 100], "counts": []})] {
        let mut file = file();
        let crowd = json!({"id": 2, "image_id": 154, "category_id": 7, "iscrowd": 1, "area": 400,
            "bbox": [50, 50, 20, 20], "segmentation": mask});
        file["annotations"].as_array_mut().expect("a list").push(crowd);
        let (dataset, flaws) = read(&file);
        let of_crowd = json!({"image_id": 154, "category_id": 7, "score": 0.95, "bbox": [50, 50, 20, 20]});
        let ap = ap(&dataset, &json!([of_crowd, found()]), CocoKind::Bbox);
        assert!((ap - 1.0).abs() < 1e-9, "AP is {ap}");
        assert_eq!(flaws.len(), usize::from(mask.is_object()));
    }
}

/// pycocotools tells 154 from "154", and takes both. A crowd alone has no AP.
#[test]
fn example_5_other_types_of_json() {
    for id in [json!("154"), json!(154.0), json!("154.0")] {
        check(&with("image_id", Some(id.clone())), BOTH, &[]);
        let mut detection = found();
        detection["image_id"] = id;
        detection["category_id"] = json!(7.0);
        let (dataset, _) = read(&file());
        assert!(ap(&dataset, &json!([detection]), CocoKind::Bbox) > 0.99);
    }
    let mut file_of_floats = with("id", Some(json!(1.0)));
    file_of_floats["images"][0]["id"] = json!(154.0);
    file_of_floats["images"][0]["file_name"] = json!(154);
    file_of_floats["categories"][0]["id"] = json!("7");
    check(&file_of_floats, BOTH, &[]);
    let (dataset, _) = read(&file_of_floats);
    assert_eq!(dataset.images()[0].file_name.as_deref(), Some("154"));

    let is_crowd = |value: Option<Value>| {
        let (dataset, flaws) = read(&with("iscrowd", value));
        (dataset.annotations()[0].is_crowd, flaws)
    };
    for value in [Some(json!(false)), Some(json!(0.0)), Some(Value::Null), None] {
        assert_eq!(is_crowd(value), (false, vec![]));
    }
    for value in [json!(true), json!(1.0)] {
        assert_eq!(is_crowd(Some(value)), (true, vec![]));
    }
    assert_eq!(is_crowd(Some(json!(2))), (true, vec![CocoFlaw::Crowd]));

    let mut floats = run_lengths();
    floats["size"] = json!([80.0, 100.0]);
    check(&with("segmentation", Some(floats.clone())), BOTH, &[]);
    let mut detection = found();
    detection["segmentation"] = floats;
    detection["bbox"] = json!([]);
    assert!(ap(&dataset, &json!([detection]), CocoKind::Segm) > 0.99);
    assert!(ap(&dataset, &json!([detection]), CocoKind::Bbox) > 0.99);

    for (category, name, expected) in [
        (json!({"id": 7}), "7", vec![CocoFlaw::Name]),
        (json!({"id": 7, "name": ""}), "7", vec![CocoFlaw::Name]),
        (json!({"id": 7, "name": 5}), "5", vec![]),
        (
            json!({"id": 7, "name": "cat", "keypoints": null, "supercategory": null}),
            "cat",
            vec![],
        ),
        (
            json!({"id": 7, "name": "cat", "keypoints": "nose"}),
            "cat",
            vec![CocoFlaw::Keypoints],
        ),
    ] {
        let mut file = file();
        file["categories"][0] = category;
        check(&file, BOTH, &expected);
        assert_eq!(read(&file).0.categories()[0].name, name);
    }
}

/// pycocotools refuses the files without an area, and for boxes those without a box.
#[test]
fn example_6_an_area_or_a_box_is_computed() {
    let triangle = json!([[10, 10, 10, 30, 30, 30]]);
    for area in [None, Some(Value::Null), Some(json!(-1)), Some(json!("large"))] {
        let mut file = with("area", area);
        check(&file, BOTH, &[CocoFlaw::Area]);
        let area = |file: &Value| read(file).0.annotations()[0].area;
        assert_eq!(area(&file), 400.0);
        // Of the mask, not of the box.
        file["annotations"][0]["segmentation"] = triangle.clone();
        let drawn = burn_roi_detection::RunLengths::from_polygons(&[vec![10., 10., 10., 30., 30., 30.]], [80, 100]);
        assert_eq!(area(&file), f64::from(drawn.area()));
        assert!((150.0..250.0).contains(&area(&file)));
        file["images"][0] = json!({"id": 154});
        assert_eq!(area(&file), 400.0);
    }
    // An area that is there counts: this object is a large one.
    let (dataset, flaws) = read(&with("area", Some(json!(10_000))));
    let detections = detections_from_json(json!([found()]).to_string().as_bytes()).expect("a result");
    let metrics = evaluate_coco(&dataset, &detections, &CocoEvaluationConfig::new(CocoKind::Bbox)).metrics;
    assert!(flaws.is_empty() && metrics.ap_small.is_none());
    assert!(metrics.ap_large.is_some_and(|ap| ap > 0.99));

    for bbox in [
        None,
        Some(Value::Null),
        Some(json!([])),
        Some(json!([10, 10, 20])),
        Some(json!([30, 30, -20, -20])),
    ] {
        let mut file = with("bbox", bbox);
        check(&file, BOTH, &[CocoFlaw::Box]);
        file["annotations"][0]["segmentation"] = run_lengths();
        check(&file, BOTH, &[CocoFlaw::Box]);
    }
}

#[test]
fn example_7_a_box_outside_of_the_image_counts() {
    let outside = json!([120, 10, 20, 20]);
    let (dataset, flaws) = read(&with("bbox", Some(outside.clone())));
    let mut detection = found();
    detection["bbox"] = outside;
    let ap = ap(&dataset, &json!([detection]), CocoKind::Bbox);
    assert!((ap - 1.0).abs() < 1e-9, "AP is {ap}");
    assert_eq!(flaws, [CocoFlaw::EmptyBox]);
    assert_eq!(flaws[0].effect(), CocoEffect::OnlyTraining);
    let problem = "annotation 1: `bbox` is [120.0, 10.0, 20.0, 20.0], [x, y, w, h], which has no area in the image of \
        80 x 100 pixels (height, width)";
    assert_eq!(dataset.problems()[0].to_string(), problem);
    let (_, flaws) = read(&with("bbox", Some(json!([10, 10, 0, 20]))));
    assert_eq!(flaws, [CocoFlaw::EmptyBox]);
    let (_, flaws) = read(&with("bbox", Some(json!([-19.5, 10, 20, 20]))));
    assert_eq!(flaws, []);
}

/// Flaws of keypoints do not cost the box either.
#[test]
fn bad_keypoints_do_not_cost_the_box() {
    check(&with("keypoints", Some(json!([1, 2]))), BOTH, &[CocoFlaw::Keypoints]);
    check(
        &with("keypoints", Some(json!(["x", 2, 3]))),
        BOTH,
        &[CocoFlaw::Keypoints],
    );
    let mut file = with("keypoints", Some(json!([1, 2, 2, 0, 0, 0])));
    for count in [json!(3), json!(-1), json!("many")] {
        file["annotations"][0]["num_keypoints"] = count;
        check(&file, BOTH, &[CocoFlaw::KeypointCount]);
        assert_eq!(read(&file).0.annotations()[0].num_keypoints, 1);
    }
}
