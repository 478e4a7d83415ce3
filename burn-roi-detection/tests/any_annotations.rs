//! Any COCO file: what must hold of what is read of it. The tests use it, and fuzzing.

use arbitrary::Unstructured;
use burn_roi_detection::data::coco::{CocoAnnotation, CocoDataset, CocoEffect, CocoImage, CocoList, CocoSegmentation};
use burn_roi_detection::evaluate::coco::{CocoDetection, CocoEvaluationConfig, CocoKind, try_evaluate_coco};
use serde_json::{Map, Value, json};

/// A field of an entry, and what it may be.
type Field = (&'static str, fn() -> Vec<Value>);

/// A file of a few entries. A byte chooses each value, and most are right.
pub fn file(bytes: &[u8]) -> Value {
    let mut bytes = Unstructured::new(bytes);
    let mut entries = |fields: &[Field]| -> Vec<Value> {
        let count = bytes.int_in_range(0..=5).unwrap_or(0);
        let mut entry = || {
            let mut entry = Map::new();
            for (name, values) in fields {
                let values = values();
                // Zeros follow the last byte.
                let choice = usize::from(bytes.arbitrary::<u8>().unwrap_or(0));
                match choice.checked_sub(128).unwrap_or(choice % 2) {
                    odd if odd == values.len() => {}
                    odd => drop(entry.insert(name.to_string(), values[odd % values.len()].clone())),
                }
            }
            Value::Object(entry)
        };
        (0..count).map(|_| entry()).collect()
    };
    json!({
        "images": entries(&[("id", ids), ("height", sides), ("width", sides), ("file_name", names)]),
        "categories": entries(&[("id", ids), ("name", names), ("keypoints", names), ("supercategory", names)]),
        "annotations": entries(&[
            ("id", ids),
            ("image_id", ids),
            ("category_id", ids),
            ("bbox", boxes),
            ("area", numbers),
            ("segmentation", masks),
            ("iscrowd", numbers),
            ("keypoints", keypoints),
            ("num_keypoints", numbers),
        ]),
    })
}

fn ids() -> Vec<Value> {
    let odd = vec![
        json!("1"),
        json!(1.0),
        json!(1.5),
        json!(-1),
        json!(null),
        json!([1]),
        json!(1e300),
        json!(u64::MAX),
    ];
    [vec![json!(1), json!(2), json!(3), json!(0)], odd].concat()
}

fn sides() -> Vec<Value> {
    vec![
        json!(8),
        json!(5),
        json!(8.0),
        json!("5"),
        json!(0),
        json!(-1),
        json!(70_000),
        json!(2.5),
        json!(1e18),
        json!({}),
    ]
}

fn names() -> Vec<Value> {
    vec![
        json!("a"),
        json!(["a", 1]),
        json!(7),
        json!(""),
        json!(null),
        json!(true),
        json!([[]]),
        json!({}),
    ]
}

fn numbers() -> Vec<Value> {
    vec![
        json!(0),
        json!(1),
        json!(1.0),
        json!(true),
        json!(-1),
        json!(1e308),
        json!("2"),
        json!("NaN"),
        json!(null),
        json!([]),
    ]
}

fn boxes() -> Vec<Value> {
    vec![
        json!([1, 1, 4, 4]),
        json!([0, 2, 3, 1.5]),
        json!([1, 1, 0, 0]),
        json!([20, -9, 4, 4]),
        json!([1, 1, -4, 4]),
        json!([1e308, 1e308, 1e308, 1e308]),
        json!(["1", "1", "4", "4"]),
        json!([1, 1, 4]),
        json!([1, 1, null, 4]),
        json!([]),
        json!("box"),
    ]
}

fn masks() -> Vec<Value> {
    vec![
        json!([[1, 1, 5, 1, 5, 5, 1, 5]]),
        json!({"size": [8, 5], "counts": [9, 22, 9]}),
        json!({"size": [8.0, 5.0], "counts": [0, 40]}),
        json!({"size": [8, 5], "counts": [40]}),
        json!({"size": [8, 5], "counts": [41]}),
        json!({"size": [5, 8], "counts": "a1a0"}),
        json!({"size": [0, 8], "counts": []}),
        json!({"size": [-1, 8], "counts": [-1]}),
        json!({"size": [70_000, 70_000], "counts": [1]}),
        json!({"counts": 5}),
        json!([[1, 1, 5, 1, 5, 5, 1], [2, 2], []]),
        json!([[], null, 5]),
        json!([[1e9, 1, 5, 1, 5, 5]]),
        json!([[-1e8, -1e8, 1e8, -1e8, 1e8, 1e8]]),
        json!([1, 1, 5, 1, 5, 5]),
        json!([]),
        json!(null),
        json!("mask"),
    ]
}

fn keypoints() -> Vec<Value> {
    vec![
        json!([1, 1, 2, 0, 0, 0]),
        json!([1, 1, 1]),
        json!([]),
        json!(null),
        json!([1, 1]),
        json!(["x", 1, 1]),
        json!(3),
    ]
}

/// Reads a file of this form, or bytes that are one.
pub fn check(bytes: &[u8]) -> Result<(), String> {
    check_json(bytes, None)?;
    let file = file(bytes);
    let count = ["images", "categories", "annotations"].map(|list| file[list].as_array().map_or(0, Vec::len));
    check_json(file.to_string().as_bytes(), Some(count)).map_err(|wrong| format!("{wrong}, for {file}"))
}

/// - `count`: the number of entries of each list, if the text is a COCO file.
fn check_json(json: &[u8], count: Option<[usize; 3]>) -> Result<(), String> {
    let dataset = match (CocoDataset::from_json_without_broken(json), count) {
        (Ok(dataset), _) => dataset,
        (Err(_), None) => return Ok(()),
        (Err(error), Some(_)) => return Err(error.to_string()),
    };
    if let Some(count) = count {
        check_count(&dataset, count)?;
    }
    dataset.images().iter().try_for_each(check_image)?;
    dataset
        .annotations()
        .iter()
        .try_for_each(|annotation| check_annotation(annotation, &dataset))?;
    check_again(&dataset)?;
    check_evaluation(&dataset)
}

fn holds(condition: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if condition { Ok(()) } else { Err(otherwise()) }
}

/// Each entry is in the data set or is told once as left out.
fn check_count(dataset: &CocoDataset, count: [usize; 3]) -> Result<(), String> {
    let lists = [CocoList::Images, CocoList::Categories, CocoList::Annotations];
    let kept = [
        dataset.images().len(),
        dataset.categories().len(),
        dataset.annotations().len(),
    ];
    for ((list, kept), count) in lists.into_iter().zip(kept).zip(count) {
        let of_list = dataset.problems().iter().filter(|problem| problem.list == list);
        let left_out = of_list
            .filter(|problem| problem.flaw.effect() == CocoEffect::LeftOut)
            .count();
        holds(kept + left_out == count, || {
            format!("{kept} and {left_out} are not {count} of {list:?}")
        })?;
    }
    Ok(())
}

fn check_image(image: &CocoImage) -> Result<(), String> {
    let fits = image
        .size
        .is_none_or(|[height, width]| (1..1 << 32).contains(&(height * width)));
    holds(fits, || format!("image of size {:?}", image.size))
}

fn check_annotation(annotation: &CocoAnnotation, dataset: &CocoDataset) -> Result<(), String> {
    let wrong = |what: &str| format!("{what} of {annotation:?}");
    let image = dataset.image(annotation.image_id).ok_or_else(|| wrong("the image"))?;
    holds(dataset.label_of(annotation.category_id).is_some(), || {
        wrong("the category")
    })?;
    let [.., w, h] = annotation.bbox;
    let is_box = annotation.bbox.iter().all(|value| value.is_finite()) && w >= 0.0 && h >= 0.0;
    holds(is_box, || wrong("the box"))?;
    holds(annotation.area.is_finite() && annotation.area >= 0.0, || {
        wrong("the area")
    })?;
    let values = annotation.keypoints.iter().flatten().flatten();
    holds(values.into_iter().all(|value| value.is_finite()), || wrong("keypoints"))?;
    let mask = dataset.mask_of(annotation);
    let is_drawn = match &annotation.segmentation {
        None => false,
        Some(CocoSegmentation::Polygons(_)) => image.size.is_some(),
        Some(CocoSegmentation::RunLengths(_)) => true,
    };
    holds(mask.is_some() == is_drawn, || wrong("the mask"))?;
    let fits = mask.is_none_or(|mask| image.size.is_none_or(|size| size == mask.size()));
    holds(fits, || wrong("the size of the mask"))
}

/// What was mended needs no mending.
fn check_again(dataset: &CocoDataset) -> Result<(), String> {
    let (images, categories) = (dataset.images().to_vec(), dataset.categories().to_vec());
    let again = CocoDataset::from_entries(images, categories, dataset.annotations().to_vec());
    let again = again.map_err(|error| error.to_string())?;
    let is_same = again.images() == dataset.images()
        && again.categories() == dataset.categories()
        && again.annotations() == dataset.annotations();
    holds(is_same, || format!("{again:?} is not {dataset:?}"))?;
    let mended = again
        .problems()
        .iter()
        .find(|problem| problem.flaw.effect() == CocoEffect::Mended);
    holds(mended.is_none(), || format!("{mended:?} is mended again"))
}

/// Detections that are equal to the truths.
fn check_evaluation(dataset: &CocoDataset) -> Result<(), String> {
    let detections = dataset.annotations().iter().map(|annotation| CocoDetection {
        bbox: Some(annotation.bbox),
        segmentation: dataset.mask_of(annotation),
        keypoints: annotation.keypoints.clone(),
        ..CocoDetection::new(annotation.image_id, annotation.category_id, 0.5)
    });
    let detections: Vec<CocoDetection> = detections.collect();
    for kind in [CocoKind::Bbox, CocoKind::Segm, CocoKind::Keypoints] {
        let sigmas = vec![0.1; 2];
        let config = CocoEvaluationConfig {
            sigmas,
            ..CocoEvaluationConfig::new(kind)
        };
        match try_evaluate_coco(dataset, &detections, &config) {
            Ok(evaluation) => {
                let ap = evaluation.metrics.ap;
                holds(ap.is_none_or(|ap| (0.0..=1.0).contains(&ap)), || {
                    format!("{kind} AP {ap:?}")
                })?;
            }
            Err(error) => holds(kind != CocoKind::Bbox, || error.to_string())?,
        }
    }
    Ok(())
}
