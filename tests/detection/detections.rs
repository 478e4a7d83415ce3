//! Detections from a box head's numbers.

use burn_roi::detection::{DetectionConfig, postprocess_detections};

use crate::cases::check_all;

#[test]
fn detections_are_those_of_torchvision() {
    check_all("detections", |case, backend| {
        let config = DetectionConfig::new()
            .with_score_threshold(case.option("score"))
            .with_nms_threshold(case.option("overlap"))
            .with_detections_per_image(case.option("limit"));
        let image_sizes: Vec<[usize; 2]> = case.option("image_sizes");
        let images = postprocess_detections(
            case.floats("logits", &backend.device),
            case.floats("codes", &backend.device),
            case.list("proposals", &backend.device),
            &image_sizes,
            &config,
        );
        assert_eq!(3 * images.len(), case.results());
        for (image, found) in images.into_iter().enumerate() {
            let [count] = found.labels.dims();
            assert_eq!(found.len(), count);
            assert_eq!(found.is_empty(), count == 0);
            case.assert_ints(3 * image + 2, found.labels, backend);
            case.assert_floats(3 * image, found.boxes, 1e-5, backend);
            case.assert_floats(3 * image + 1, found.scores, 1e-5, backend);
        }
    });
}
