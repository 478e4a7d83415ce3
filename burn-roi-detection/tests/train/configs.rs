//! The configs of the recorded detectors.

use burn_roi_detection::NormKind;
use burn_roi_detection::models::{
    Background, BodyConfig, BoxHeadConfig, DetectorConfig, FeaturePyramidConfig, KeypointHeadConfig, MaskHeadConfig,
    RegionProposalsConfig, ResNetConfig, ViTConfig,
};

use super::parity::SIDE;

/// The config of a recorded detector.
pub fn config(kind: &str) -> DetectorConfig {
    let body = ResNetConfig::new(8, [4, 4, 6, 8], [1; 4]);
    let anchors = [8.0, 16.0, 32.0, 48.0, 64.0].map(|size| vec![size]).to_vec();
    let keypoints = ["nose", "left_eye", "right_eye"].map(String::from).to_vec();
    let mut config = DetectorConfig::new(
        kind.to_string(),
        ["background", "one", "two"].map(String::from).to_vec(),
        BodyConfig::ResNet(body),
        Some(FeaturePyramidConfig::new(8)),
        RegionProposalsConfig::new(1, anchors, vec![0.5, 1.0, 2.0]),
        BoxHeadConfig::new(vec![], vec![16, 16]),
    );
    let has_masks = ["mask", "cascade", "groups", "vit"].contains(&kind);
    config.mask_head = has_masks.then(|| MaskHeadConfig::new(vec![8, 8], 8));
    config.keypoint_head = (kind == "keypoint").then(|| KeypointHeadConfig::new(keypoints, vec![8, 8]));
    (config.preprocessing.min_size, config.preprocessing.max_size) = (SIDE, SIDE);
    if kind == "groups" {
        with_group_norms(&mut config);
    }
    if kind == "vit" {
        with_vit(&mut config);
    }
    if kind == "cascade" {
        config.classes.rotate_left(1);
        config.background = Background::Last;
        config.box_head.class_agnostic_regression = true;
        config.box_head.later_stages = vec![[20.0, 20.0, 10.0, 10.0], [30.0, 30.0, 15.0, 15.0]];
    }
    config
}

fn with_group_norms(config: &mut DetectorConfig) {
    let groups = NormKind::Group(2);
    if let BodyConfig::ResNet(body) = &mut config.body {
        (body.norm, body.frozen_norms) = (groups, false);
    }
    if let Some(pyramid) = &mut config.feature_pyramid {
        pyramid.norm = Some(groups);
    }
    config.box_head = BoxHeadConfig::new(vec![8], vec![16]);
    config.box_head.norm = Some(groups);
    if let Some(head) = &mut config.mask_head {
        head.norm = Some(groups);
    }
}

/// ViTDet's body, pyramid and norms.
fn with_vit(config: &mut DetectorConfig) {
    config.body = BodyConfig::ViT(ViTConfig {
        window_size: 3,
        input_size: 96,
        pretrained_size: Some(48),
        ..ViTConfig::new(8, 3, 2, vec![1])
    });
    if let Some(pyramid) = &mut config.feature_pyramid {
        (pyramid.simple, pyramid.norm) = (true, Some(NormKind::Layer));
    }
    config.box_head = BoxHeadConfig::new(vec![8], vec![16]);
    config.box_head.norm = Some(NormKind::Layer);
    if let Some(head) = &mut config.mask_head {
        head.norm = Some(NormKind::Layer);
    }
}
