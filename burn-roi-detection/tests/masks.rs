//! The masks of detections.

use burn::tensor::DType;
use burn_roi_detection::{maskrcnn_inference, paste_masks_in_image};

use crate::cases::check_all;

#[test]
fn class_masks_are_those_of_torchvision() {
    check_all("class_masks", |case, backend| {
        let logits = case.floats("logits", &backend.device);
        let labels = case.ints("labels", &backend.device);
        let masks = maskrcnn_inference(logits, labels);
        case.assert_floats(0, masks, 1e-5, backend);
    });
}

#[test]
fn pasted_masks_are_those_of_torchvision() {
    check_all("paste", |case, backend| {
        let masks = case.floats("masks", &backend.device);
        let boxes = case.floats("boxes", &backend.device);
        let tolerance = match masks.dtype() {
            DType::F16 => 1e-3,
            _ => 1e-5,
        };
        let (image_size, padding) = (case.option("image_size"), case.option("padding"));
        let pasted = paste_masks_in_image(masks, boxes, image_size, padding);
        case.assert_floats(0, pasted, tolerance, backend);
    });
}
