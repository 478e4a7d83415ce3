//! Proposals from the outputs of a region proposal network.

use burn_roi_detection::{ProposalConfig, filter_proposals};

use crate::cases::check_all;

#[test]
fn proposals_are_those_of_torchvision() {
    check_all("proposals", |case, backend| {
        let config = ProposalConfig {
            pre_nms_top_n: case.option("pre_nms_top_n"),
            post_nms_top_n: case.option("post_nms_top_n"),
            nms_threshold: case.option("nms_threshold"),
            score_threshold: case.option("score_threshold"),
            ..ProposalConfig::new()
        };
        let image_sizes: Vec<[usize; 2]> = case.option("image_sizes");
        let anchors_per_level: Vec<usize> = case.option("anchors_per_level");
        let (boxes, scores) = filter_proposals(
            case.floats("proposals", &backend.device),
            case.floats("objectness", &backend.device),
            &image_sizes,
            &anchors_per_level,
            &config,
        );
        assert_eq!(2 * boxes.len(), case.results());
        for (image, (boxes, scores)) in boxes.into_iter().zip(scores).enumerate() {
            case.assert_floats(2 * image, boxes, 0.0, backend);
            case.assert_floats(2 * image + 1, scores, 1e-5, backend);
        }
    });
}
