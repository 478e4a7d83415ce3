//! A trained detector for other classes or keypoints.

use super::error::TrainingError;
use crate::data::coco::CocoDataset;
use crate::models::{Detector, RoiHeads, check_weights};

/// A detector for the categories of a data set, and for the keypoints of the first category that has some: the weights
/// stay, but the last layers are replaced, as [`with_new_classes`] and [`with_new_keypoints`] do.
///
/// # Errors
///
/// All errors of [`Detector::try_new`].
pub fn with_categories(detector: Detector, dataset: &CocoDataset) -> Result<Detector, TrainingError> {
    let classes = dataset.classes(detector.config().background);
    let detector = with_new_classes(detector, classes)?;
    let mut keypoints = dataset.categories().iter().map(|category| &category.keypoints);
    match keypoints.find(|names| !names.is_empty()) {
        Some(names) => with_new_keypoints(detector, names.clone()),
        None => Ok(detector),
    }
}

/// A detector for other classes: the weights stay, but the last layers, which have a row for each class, are replaced
/// by layers with Burn's initial weights. torchvision's detectors are fine-tuned in this way.
///
/// - `classes`: the names of all classes, including the background, at the position that
///   [`DetectorConfig::background`](crate::models::DetectorConfig::background) says: first in torchvision's models,
///   last in detectron2's.
///
/// # Errors
///
/// All errors of [`Detector::try_new`].
pub fn with_new_classes(detector: Detector, classes: Vec<String>) -> Result<Detector, TrainingError> {
    let device = detector.device().clone();
    let (mut config, mut model) = detector.into_parts();
    config.classes = classes;
    config.check()?;
    let new = RoiHeads::new(&config, &device);
    check_weights(&new, &device)?;
    model.roi_heads.box_predictor = new.box_predictor;
    for (trained, new) in model.roi_heads.later_stages.iter_mut().zip(new.later_stages) {
        trained.box_predictor = new.box_predictor;
    }
    if let (Some(trained), Some(new)) = (&mut model.roi_heads.mask_predictor, new.mask_predictor) {
        trained.mask_fcn_logits = new.mask_fcn_logits;
    }
    Ok(Detector::try_from_model(config, model, &device)?)
}

/// A detector for other keypoints: the weights stay. If the number of keypoints changes, the last layer of the keypoint
/// head is replaced by one with Burn's initial weights. A detector without a keypoint head stays as it is.
///
/// - `keypoints`: the names of the keypoints.
///
/// # Errors
///
/// All errors of [`Detector::try_new`].
pub fn with_new_keypoints(detector: Detector, keypoints: Vec<String>) -> Result<Detector, TrainingError> {
    let device = detector.device().clone();
    let (mut config, mut model) = detector.into_parts();
    if let Some(head) = &mut config.keypoint_head {
        let has_same_number = head.keypoints.len() == keypoints.len();
        head.keypoints = keypoints;
        if !has_same_number {
            config.check()?;
            model.roi_heads.keypoint_predictor = RoiHeads::new(&config, &device).keypoint_predictor;
        }
    }
    Ok(Detector::try_from_model(config, model, &device)?)
}
