//! What [`try_evaluate_coco`] refuses.

use burn_roi_detection::RunLengths;
use burn_roi_detection::data::coco::CocoDataset;
use burn_roi_detection::evaluate::coco::{
    CocoDetection, CocoEvaluationConfig, CocoKind, detections_from_json, try_detections_to_json, try_evaluate_coco,
};

use crate::bad_input::assert_error;

fn dataset() -> CocoDataset {
    let json = br#"{
        "images": [{"id": 9, "height": 4, "width": 5}],
        "categories": [{"id": 17, "name": "cat"}],
        "annotations": [{"id": 1, "image_id": 9, "category_id": 17, "area": 4, "bbox": [1, 1, 2, 2]}]
    }"#;
    CocoDataset::from_json(json).expect("it is whole")
}

fn found(score: f64) -> CocoDetection {
    CocoDetection::new(9, 17, score).with_corners([1.0, 1.0, 3.0, 3.0])
}

#[track_caller]
fn check_detection(kind: CocoKind, detection: CocoDetection, expected: &str) {
    // Only the detections are checked.
    let (images, categories) = (dataset().images().to_vec(), dataset().categories().to_vec());
    let dataset = CocoDataset::from_entries(images, categories, Vec::new()).expect("it is whole");
    let detections = [
        CocoDetection {
            segmentation: Some(RunLengths::from_counts(&[20], [4, 5])),
            keypoints: Some(vec![[1.0; 3]; 17]),
            ..found(0.5)
        },
        detection,
    ];
    let result = try_evaluate_coco(&dataset, &detections, &CocoEvaluationConfig::new(kind));
    assert_error(result, &format!("`detections`: entry 1 has {expected}"));
}

#[test]
fn a_broken_detection_is_an_error() {
    use CocoKind::{Bbox, Keypoints, Segm};
    check_detection(Bbox, found(f64::NAN), "`score` NaN, but must have a finite one");
    check_detection(
        Bbox,
        CocoDetection::new(8, 17, 0.5),
        "`image_id` 8, but must have the id of an image of the data set",
    );
    check_detection(
        Bbox,
        found(0.5).with_corners([0.0, 0.0, -1.0, 1.0]),
        "`bbox` [0.0, 0.0, -1.0, 1.0], but must have a width and a height of at least 0",
    );
    check_detection(
        Bbox,
        CocoDetection {
            bbox: Some([f64::INFINITY; 4]),
            ..found(0.5)
        },
        "`bbox` [inf, inf, inf, inf], but must have finite coordinates",
    );
    check_detection(
        Bbox,
        CocoDetection::new(9, 17, 0.5),
        "no `bbox` and no `segmentation`, but must have one of them to evaluate bbox",
    );
    check_detection(
        Segm,
        found(0.5),
        "no `segmentation`, but must have one to evaluate segm",
    );
    check_detection(
        Segm,
        CocoDetection {
            segmentation: Some(RunLengths::from_counts(&[20], [5, 4])),
            ..found(0.5)
        },
        "`segmentation` of size [5, 4], but must have the size of its image, [4, 5]",
    );
    check_detection(
        Keypoints,
        found(0.5),
        "no `keypoints`, but must have 17 to evaluate keypoints",
    );
    check_detection(
        Keypoints,
        CocoDetection {
            keypoints: Some(vec![[1.0; 3]; 2]),
            ..found(0.5)
        },
        "2 `keypoints`, but must have 17, one for each of `sigmas`, to evaluate keypoints",
    );
}

#[test]
fn a_truth_without_what_is_compared_is_an_error() {
    for (kind, expected) in [
        (CocoKind::Segm, "no `segmentation`, but must have one to evaluate segm"),
        (
            CocoKind::Keypoints,
            "no `keypoints`, but must have 17 to evaluate keypoints",
        ),
    ] {
        let result = try_evaluate_coco(&dataset(), &[], &CocoEvaluationConfig::new(kind));
        assert_error(result, &format!("`dataset`: annotation 1 has {expected}"));
    }
}

#[test]
fn an_option_out_of_its_range_is_an_error() {
    let check = |config: CocoEvaluationConfig, expected: &str| {
        assert_error(try_evaluate_coco(&dataset(), &[], &config), expected);
    };
    let config = || CocoEvaluationConfig::new(CocoKind::Bbox);
    check(
        CocoEvaluationConfig {
            iou_thresholds: vec![0.5, f64::NAN],
            ..config()
        },
        "`iou_thresholds` is [0.5, NaN], but must be thresholds in ascending order, above 0 and at most 1",
    );
    check(
        CocoEvaluationConfig {
            area_limits: [2.0, 1.0],
            ..config()
        },
        "`area_limits` is [2.0, 1.0], but must be finite, at least 0 and in ascending order",
    );
    check(
        CocoEvaluationConfig {
            max_detections: Some(vec![0, 1]),
            ..config()
        },
        "`max_detections` is [0, 1], but must be numbers above 0, each above the one before",
    );
    check(
        CocoEvaluationConfig {
            sigmas: vec![0.0],
            ..config()
        },
        "`sigmas` is [0.0], but must be finite and above 0, one for each keypoint",
    );
}

#[test]
fn json_holds_finite_numbers() {
    let result = try_detections_to_json(&[found(f64::INFINITY)]);
    assert_error(
        result,
        "`detections`: entry 0 has `score` inf, but must have a finite one",
    );
    let json = br#"[{"image_id": 9, "category_id": 17, "score": null}]"#;
    let error = detections_from_json(json).expect_err("there is no score").to_string();
    assert_eq!(
        error,
        "this is no COCO file: invalid type: null, expected f64 at line 1 column 49"
    );
}
