//! Areas and IoU of boxes, clipping, and the removal of small boxes.

use burn_roi_detection::{box_area, box_iou, clip_boxes_to_image, remove_small_boxes};

use crate::cases::check_all;

#[test]
fn areas_are_those_of_torchvision() {
    check_all("box_area", |case, backend| {
        let boxes = case.floats("boxes", &backend.device);
        case.assert_floats(0, box_area(boxes), 1e-6, backend);
    });
}

#[test]
fn ious_are_those_of_torchvision() {
    check_all("box_iou", |case, backend| {
        let left = case.floats("left", &backend.device);
        let right = case.floats("right", &backend.device);
        case.assert_floats(0, box_iou(left, right), 1e-6, backend);
    });
}

#[test]
fn clipping_is_that_of_torchvision() {
    check_all("clip", |case, backend| {
        let boxes = case.floats("boxes", &backend.device);
        let clipped = clip_boxes_to_image(boxes, case.option("image_size"));
        case.assert_floats(0, clipped, 0.0, backend);
    });
}

#[test]
fn small_boxes_are_those_of_torchvision() {
    check_all("small", |case, backend| {
        let boxes = case.floats("boxes", &backend.device);
        let kept = remove_small_boxes(boxes, case.option("min_size"));
        case.assert_ints(0, kept, backend);
    });
}
