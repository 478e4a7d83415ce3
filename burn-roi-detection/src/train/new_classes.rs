//! [`with_new_classes`]: a trained detector for other classes.

use super::error::TrainingError;
use crate::models::Detector;

/// A detector for other classes: the weights stay, but the last layers, which have a row for each class, are replaced
/// by layers with Burn's initial weights. It is torchvision's way to fine-tune a detector.
///
/// - `classes`: the names of all classes, with the background where the detector has it.
///
/// # Errors
///
/// Those of [`Detector::try_new`].
pub fn with_new_classes(detector: Detector, classes: Vec<String>) -> Result<Detector, TrainingError> {
    let device = detector.device().clone();
    let (mut config, model) = detector.into_parts();
    config.classes = classes;
    let (config, mut new) = Detector::try_new(config, &device)?.into_parts();
    new.backbone = model.backbone;
    new.rpn = model.rpn;
    new.roi_heads.layer4 = model.roi_heads.layer4;
    new.roi_heads.box_head = model.roi_heads.box_head;
    new.roi_heads.mask_head = model.roi_heads.mask_head;
    if let (Some(new), Some(trained)) = (&mut new.roi_heads.mask_predictor, model.roi_heads.mask_predictor) {
        new.conv5_mask = trained.conv5_mask;
    }
    new.roi_heads.keypoint_head = model.roi_heads.keypoint_head;
    new.roi_heads.keypoint_predictor = model.roi_heads.keypoint_predictor;
    Ok(Detector::try_from_model(config, new, &device)?)
}
