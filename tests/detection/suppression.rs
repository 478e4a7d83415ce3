//! Suppression: the same boxes, in the same order.

use burn_roi::detection::{batched_nms, nms};

use crate::cases::check_all;

#[test]
fn nms_keeps_what_torchvision_keeps() {
    check_all("nms", |case, backend| {
        let boxes = case.floats("boxes", &backend.device);
        let scores = case.floats("scores", &backend.device);
        let kept = nms(boxes, scores, case.option("threshold"));
        case.assert_ints(0, kept, backend);
    });
}

#[test]
fn batched_nms_keeps_what_torchvision_keeps() {
    check_all("batched_nms", |case, backend| {
        let boxes = case.floats("boxes", &backend.device);
        let scores = case.floats("scores", &backend.device);
        let classes = case.ints("classes", &backend.device);
        let kept = batched_nms(boxes, scores, classes, case.option("threshold"));
        case.assert_ints(0, kept, backend);
    });
}
