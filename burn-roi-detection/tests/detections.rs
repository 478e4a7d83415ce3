//! Detections from the outputs of a box head.

use burn_roi_detection::{DetectionConfig, postprocess_detections};

use crate::cases::check_all;

#[test]
fn detections_are_those_of_torchvision() {
    check_all("detections", |case, backend| {
        let config = DetectionConfig {
            score_threshold: case.option("score_threshold"),
            nms_threshold: case.option("nms_threshold"),
            detections_per_image: case.option("detections_per_image"),
            ..DetectionConfig::new()
        };
        let image_sizes: Vec<[usize; 2]> = case.option("image_sizes");
        let images = postprocess_detections(
            case.floats("logits", &backend.device),
            case.floats("deltas", &backend.device),
            case.list("proposals", &backend.device),
            &image_sizes,
            &config,
        );
        assert_eq!(3 * images.len(), case.results());
        for (image, detections) in images.into_iter().enumerate() {
            let [count] = detections.labels.dims();
            assert_eq!(detections.len(), count);
            assert_eq!(detections.is_empty(), count == 0);
            case.assert_ints(3 * image + 2, detections.labels, backend);
            case.assert_floats(3 * image, detections.boxes, 1e-5, backend);
            case.assert_floats(3 * image + 1, detections.scores, 1e-5, backend);
        }
    });
}
