//! What options, truths and detections must be.

use super::detection::wrong;
use super::{CocoDetection, CocoEvaluationConfig, CocoKind};
use crate::arguments::check;
use crate::data::coco::{CocoAnnotation, CocoDataset, CocoFlaw, CocoSegmentation};
use crate::error::DetectionError;
use crate::run_lengths::RunLengths;

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
        let expected = "the id of an image of the data set";
        return wrong(index, format!("`image_id` {image_id}"), expected);
    };
    let Some(category) = dataset.category_index(detection.category_id) else {
        return Ok(None);
    };
    detection.check_finite(index)?;
    if let Some(bbox) = detection.bbox.filter(|[.., w, h]| *w < 0.0 || *h < 0.0) {
        return wrong(index, format!("`bbox` {bbox:?}"), "a width and a height of at least 0");
    }
    let (mask, size) = (detection.segmentation.as_ref(), dataset.images()[image].size);
    let lacks = |value: &str, expected: &str| Some((value.to_string(), expected.to_string()));
    let lacking = match config.kind {
        CocoKind::Bbox if detection.bbox.is_none() && mask.is_none() => {
            lacks("no `bbox` and no `segmentation`", "one of them")
        }
        CocoKind::Segm if mask.is_none() => lacks("no `segmentation`", "one"),
        CocoKind::Bbox | CocoKind::Segm => None,
        CocoKind::Keypoints => keypoint_count(detection.keypoints.as_deref(), config),
    };
    if let Some((value, expected)) = lacking {
        return wrong(index, value, &format!("{expected} to evaluate {}", config.kind));
    }
    match (mask.map(RunLengths::size), size) {
        (Some(found), Some(size)) if config.kind == CocoKind::Segm && found != size => {
            let value = format!("`segmentation` of size {found:?}");
            wrong(index, value, &format!("the size of its image, {size:?}"))
        }
        _ => Ok(Some([category, image])),
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
