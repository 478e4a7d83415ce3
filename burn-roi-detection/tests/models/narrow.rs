//! Models of few channels with Burn's initial weights.

use burn_roi_detection::models::{BodyConfig, DetectorConfig};

/// torchvision's model of that name, with few channels, small pictures and no threshold on scores.
pub fn narrow(name: &str) -> DetectorConfig {
    let mut config = DetectorConfig::named(name).unwrap();
    config.classes.truncate(3);
    match &mut config.body {
        BodyConfig::ResNet(body) => {
            body.stem_channels = 4;
            body.bottleneck_channels = [2, 2, 4, 4];
            body.blocks = [1, 2, 1, 1];
        }
        BodyConfig::MobileNetV3(body) => {
            body.stem_channels = 2;
            body.blocks.iter_mut().for_each(|block| {
                block.expanded_channels = 4;
                block.output_channels = 2;
            });
            body.last_channels = 4;
        }
        _ => unreachable!("torchvision has no other bodies"),
    }
    config.feature_pyramid.as_mut().unwrap().channels = 4;
    config.box_head.convolutions.fill(4);
    config.box_head.fully_connected.fill(8);
    if let Some(head) = &mut config.mask_head {
        head.convolutions.fill(4);
        head.predictor_channels = 4;
    }
    if let Some(head) = &mut config.keypoint_head {
        head.convolutions.fill(4);
        head.keypoints.truncate(3);
    }
    config.preprocessing.min_size = 64;
    config.preprocessing.max_size = 96;
    config.region_proposals.post_nms_top_n = 20;
    config.region_proposals.score_threshold = 0.0;
    config.box_head.score_threshold = 1e-6;
    config.box_head.detections_per_image = 3;
    config
}
