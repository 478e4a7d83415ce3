//! What options, truths and detections must be.

use super::{CocoDetection, CocoEvaluationConfig, CocoKind};
use crate::arguments::option;
use crate::data::coco::{CocoAnnotation, CocoDataset};
use crate::error::DetectionError;

pub fn config(config: &CocoEvaluationConfig) -> Result<(), DetectionError> {
    let wrong = |argument, value: String, expected| Err(option(argument, value, expected));
    let thresholds = &config.iou_thresholds;
    if thresholds.is_empty() || !thresholds.is_sorted() || !thresholds.iter().all(|&value| value > 0.0 && value <= 1.0)
    {
        let expected = "thresholds in ascending order, above 0 and at most 1";
        return wrong("iou_thresholds", format!("{thresholds:?}"), expected);
    }
    let [small, large] = config.area_limits;
    if !(0.0 <= small && small <= large && large.is_finite()) {
        let value = format!("{:?}", config.area_limits);
        return wrong("area_limits", value, "finite, at least 0 and in ascending order");
    }
    let maxima = config.maxima();
    if maxima.is_empty() || maxima[0] == 0 || !maxima.is_sorted_by(|left, right| left < right) {
        return wrong(
            "max_detections",
            format!("{maxima:?}"),
            "numbers above 0, each above the one before",
        );
    }
    let is_deviation = |sigma: &f64| *sigma > 0.0 && sigma.is_finite();
    if config.sigmas.is_empty() || !config.sigmas.iter().all(is_deviation) {
        return wrong(
            "sigmas",
            format!("{:?}", config.sigmas),
            "finite and above 0, one for each keypoint",
        );
    }
    Ok(())
}

/// Checks that a truth has what it is compared by.
pub fn truth(annotation: &CocoAnnotation, config: &CocoEvaluationConfig) -> Result<(), DetectionError> {
    let (value, expected) = match config.kind {
        CocoKind::Segm if annotation.segmentation.is_none() => ("no `segmentation`".to_string(), "one".to_string()),
        CocoKind::Keypoints => match keypoint_count(annotation.keypoints.as_deref(), config) {
            Some(wrong) => wrong,
            None => return Ok(()),
        },
        _ => return Ok(()),
    };
    let entry = format!("annotation {}", annotation.id);
    let expected = format!("{expected} to evaluate {}", config.kind);
    Err(DetectionError::Entry {
        argument: "dataset",
        entry,
        value,
        expected,
    })
}

/// Checks a detection, and returns the indices of its category and of its image.
pub fn detection(
    index: usize,
    detection: &CocoDetection,
    dataset: &CocoDataset,
    config: &CocoEvaluationConfig,
) -> Result<[usize; 2], DetectionError> {
    finite(index, detection)?;
    let (image_id, category_id) = (detection.image_id, detection.category_id);
    let Some(image) = dataset.image_index(image_id) else {
        return wrong(
            index,
            format!("`image_id` {image_id}"),
            "the id of an image of the data set",
        );
    };
    let Some(category) = dataset.category_index(category_id) else {
        return wrong(
            index,
            format!("`category_id` {category_id}"),
            "the id of a category of the data set",
        );
    };
    if let Some(bbox) = detection.bbox.filter(|[.., w, h]| *w < 0.0 || *h < 0.0) {
        return wrong(index, format!("`bbox` {bbox:?}"), "a width and a height of at least 0");
    }
    let size = dataset.images()[image].size();
    if let Some(mask) = detection.segmentation.as_ref().filter(|mask| mask.size() != size) {
        let value = format!("`segmentation` of size {:?}", mask.size());
        return wrong(index, value, &format!("the size of its image, {size:?}"));
    }
    let kind = config.kind;
    match kind {
        CocoKind::Bbox if detection.bbox.is_none() && detection.segmentation.is_none() => wrong(
            index,
            "no `bbox` and no `segmentation`".to_string(),
            &format!("one of them to evaluate {kind}"),
        ),
        CocoKind::Segm if detection.segmentation.is_none() => wrong(
            index,
            "no `segmentation`".to_string(),
            &format!("one to evaluate {kind}"),
        ),
        CocoKind::Keypoints => match keypoint_count(detection.keypoints.as_deref(), config) {
            Some((value, expected)) => wrong(index, value, &format!("{expected} to evaluate {kind}")),
            None => Ok([category, image]),
        },
        _ => Ok([category, image]),
    }
}

/// Checks that all numbers of a detection are finite.
pub fn finite(index: usize, detection: &CocoDetection) -> Result<(), DetectionError> {
    let score = detection.score;
    if !score.is_finite() {
        return wrong(index, format!("`score` {score}"), "a finite one");
    }
    if let Some(bbox) = detection
        .bbox
        .filter(|bbox| !bbox.iter().all(|value| value.is_finite()))
    {
        return wrong(index, format!("`bbox` {bbox:?}"), "finite coordinates");
    }
    let keypoints = detection.keypoints.iter().flatten();
    match keypoints
        .into_iter()
        .find(|keypoint| !keypoint.iter().all(|value| value.is_finite()))
    {
        Some(keypoint) => wrong(index, format!("keypoint {keypoint:?}"), "finite coordinates"),
        None => Ok(()),
    }
}

/// What keypoints are and what they must be, if they are not one for each sigma.
fn keypoint_count(keypoints: Option<&[[f64; 3]]>, config: &CocoEvaluationConfig) -> Option<(String, String)> {
    let expected = config.sigmas.len();
    match keypoints {
        Some(keypoints) if keypoints.len() == expected => None,
        Some(keypoints) => Some((
            format!("{} `keypoints`", keypoints.len()),
            format!("{expected}, one for each of `sigmas`,"),
        )),
        None => Some(("no `keypoints`".to_string(), format!("{expected}"))),
    }
}

fn wrong<T>(index: usize, value: String, expected: &str) -> Result<T, DetectionError> {
    Err(DetectionError::Entry {
        argument: "detections",
        entry: format!("entry {index}"),
        value,
        expected: expected.to_string(),
    })
}
