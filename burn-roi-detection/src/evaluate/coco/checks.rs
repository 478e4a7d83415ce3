//! What options, truths and detections must be.

use super::{CocoDetection, CocoEvaluationConfig, CocoKind};
use crate::arguments::check;
use crate::data::coco::{CocoAnnotation, CocoDataset, CocoFlaw, CocoSegmentation};
use crate::error::DetectionError;

pub fn config(config: &CocoEvaluationConfig) -> Result<(), DetectionError> {
    let thresholds = &config.iou_thresholds;
    let is_threshold = |&value: &f64| value > 0.0 && value <= 1.0;
    let fits = !thresholds.is_empty() && thresholds.is_sorted() && thresholds.iter().all(is_threshold);
    let expected = "thresholds in ascending order, above 0 and at most 1";
    check("iou_thresholds", fits, format_args!("{thresholds:?}"), expected)?;

    let limits @ [small, large] = config.area_limits;
    let fits = 0.0 <= small && small <= large && large.is_finite();
    let expected = "finite, at least 0 and in ascending order";
    check("area_limits", fits, format_args!("{limits:?}"), expected)?;

    let maxima = config.maxima();
    let fits = maxima.first().is_some_and(|&first| first > 0) && maxima.is_sorted_by(|left, right| left < right);
    let expected = "numbers above 0, each above the one before";
    check("max_detections", fits, format_args!("{maxima:?}"), expected)?;

    let sigmas = &config.sigmas;
    let fits = !sigmas.is_empty() && sigmas.iter().all(|&sigma| sigma > 0.0 && sigma.is_finite());
    let expected = "finite and above 0, one for each keypoint";
    check("sigmas", fits, format_args!("{sigmas:?}"), expected)
}

/// Checks that a truth has what it is compared by.
pub fn truth(
    annotation: &CocoAnnotation,
    dataset: &CocoDataset,
    config: &CocoEvaluationConfig,
) -> Result<(), DetectionError> {
    let (value, expected) = match config.kind {
        CocoKind::Bbox => return Ok(()),
        CocoKind::Segm => match maskless(annotation, dataset) {
            Some(value) => (value, "one".to_string()),
            None => return Ok(()),
        },
        CocoKind::Keypoints => match keypoint_count(annotation.keypoints.as_deref(), config) {
            Some(wrong) => wrong,
            None => return Ok(()),
        },
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

/// Why the mask of an annotation can't be drawn.
fn maskless(annotation: &CocoAnnotation, dataset: &CocoDataset) -> Option<String> {
    match &annotation.segmentation {
        Some(CocoSegmentation::RunLengths(_)) => None,
        Some(CocoSegmentation::Polygons(_)) => {
            let size = dataset.image(annotation.image_id).and_then(|image| image.size);
            let unsized_image = || format!("polygons in image {}, which has no size", annotation.image_id);
            size.is_none().then(unsized_image)
        }
        None => {
            let is_its_mask = |flaw, id| flaw == CocoFlaw::Mask && id == Some(annotation.id);
            let mut problems = dataset.problems().iter();
            let refused = problems.find(|problem| is_its_mask(problem.flaw, problem.id));
            Some(match refused {
                Some(problem) => format!("no usable `segmentation` ({})", problem.message),
                None => "no `segmentation`".to_string(),
            })
        }
    }
}

/// Checks a detection, and returns the indices of its category and of its image. As in pycocotools, a detection of a
/// category that the data set does not have is ignored: there is none.
pub fn detection(
    index: usize,
    detection: &CocoDetection,
    dataset: &CocoDataset,
    config: &CocoEvaluationConfig,
) -> Result<Option<[usize; 2]>, DetectionError> {
    let image_id = detection.image_id;
    let Some(image) = dataset.image_index(image_id) else {
        return wrong(
            index,
            format!("`image_id` {image_id}"),
            "the id of an image of the data set",
        );
    };
    let Some(category) = dataset.category_index(detection.category_id) else {
        return Ok(None);
    };
    finite(index, detection)?;
    if let Some(bbox) = detection.bbox.filter(|[.., w, h]| *w < 0.0 || *h < 0.0) {
        return wrong(index, format!("`bbox` {bbox:?}"), "a width and a height of at least 0");
    }
    let (kind, place) = (config.kind, Some([category, image]));
    match kind {
        CocoKind::Bbox if detection.bbox.is_none() && detection.segmentation.is_none() => wrong(
            index,
            "no `bbox` and no `segmentation`".to_string(),
            &format!("one of them to evaluate {kind}"),
        ),
        CocoKind::Bbox => Ok(place),
        CocoKind::Segm => match (&detection.segmentation, dataset.images()[image].size) {
            (None, _) => wrong(
                index,
                "no `segmentation`".to_string(),
                &format!("one to evaluate {kind}"),
            ),
            (Some(mask), Some(size)) if mask.size() != size => {
                let value = format!("`segmentation` of size {:?}", mask.size());
                wrong(index, value, &format!("the size of its image, {size:?}"))
            }
            _ => Ok(place),
        },
        CocoKind::Keypoints => match keypoint_count(detection.keypoints.as_deref(), config) {
            Some((value, expected)) => wrong(index, value, &format!("{expected} to evaluate {kind}")),
            None => Ok(place),
        },
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
