//! COCO files as programs write them: what is wrong with each, what is done, and how it is then evaluated. pycocotools
//! computes the same AP, unless a test says that it refuses a file.

mod entries;
mod masks;

use burn_roi_detection::data::coco::{CocoDataset, CocoFlaw};
use burn_roi_detection::evaluate::coco::{CocoEvaluationConfig, CocoKind, detections_from_json, evaluate_coco};
use serde_json::{Value, json};

/// The box of the annotation as a polygon.
const SQUARE: [i64; 8] = [10, 10, 10, 30, 30, 30, 30, 10];

/// A file with an image of 80 x 100 pixels and an annotation.
fn file() -> Value {
    json!({
        "images": [{"id": 154, "height": 80, "width": 100}],
        "categories": [{"id": 7, "name": "cat"}],
        "annotations": [{
            "id": 1, "image_id": 154, "category_id": 7, "iscrowd": 0, "area": 400,
            "bbox": [10, 10, 20, 20], "segmentation": [SQUARE],
        }],
    })
}

/// A file whose annotation has another value, or none of this name.
fn with(field: &str, value: Option<Value>) -> Value {
    let mut file = file();
    let annotation = file["annotations"][0].as_object_mut().expect("an object");
    match value {
        Some(value) => annotation.insert(field.to_string(), value),
        None => annotation.remove(field),
    };
    file
}

/// The run lengths of the box.
fn run_lengths() -> Value {
    let mut counts = vec![810, 20];
    counts.extend([60, 20].repeat(19));
    counts.push(8000 - counts.iter().sum::<i32>());
    json!({"size": [80, 100], "counts": counts})
}

/// A detection that is equal to the annotation.
fn found() -> Value {
    json!({"image_id": 154, "category_id": 7, "score": 0.9, "bbox": [10, 10, 20, 20], "segmentation": run_lengths()})
}

/// The data set, which has all entries, and its flaws.
fn read(file: &Value) -> (CocoDataset, Vec<CocoFlaw>) {
    let dataset = CocoDataset::from_json(file.to_string().as_bytes()).expect("nothing should be left out");
    let flaws = dataset.problems().iter().map(|problem| problem.flaw).collect();
    (dataset, flaws)
}

fn ap(dataset: &CocoDataset, detections: &Value, kind: CocoKind) -> f64 {
    let detections = detections_from_json(detections.to_string().as_bytes()).expect("results should be read");
    let metrics = evaluate_coco(dataset, &detections, &CocoEvaluationConfig::new(kind)).metrics;
    metrics.ap.expect("there is a truth")
}

/// Checks that an equal detection has an AP of 1, for boxes or also for masks, and what is said about the file.
#[track_caller]
fn check(file: &Value, kinds: &[CocoKind], expected: &[CocoFlaw]) {
    let (dataset, flaws) = read(file);
    for &kind in kinds {
        let ap = ap(&dataset, &json!([found()]), kind);
        assert!((ap - 1.0).abs() < 1e-9, "{kind} AP is {ap}");
    }
    assert_eq!(flaws, expected);
}

const BOXES: &[CocoKind] = &[CocoKind::Bbox];
const BOTH: &[CocoKind] = &[CocoKind::Bbox, CocoKind::Segm];

#[test]
fn an_unflawed_file_has_no_problem() {
    check(&file(), BOTH, &[]);
    check(&with("segmentation", Some(run_lengths())), BOTH, &[]);
}
