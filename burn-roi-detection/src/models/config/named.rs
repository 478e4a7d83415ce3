//! The configs of torchvision's detectors.

use super::{
    BodyConfig, BoxHeadConfig, DetectorConfig, FeaturePyramidConfig, KeypointHeadConfig, MaskHeadConfig,
    RegionProposalsConfig, ResNetConfig, coco, mobilenet,
};
use crate::NormKind;

impl DetectorConfig {
    /// The names of torchvision's detectors.
    pub const NAMES: [&str; 7] = [
        "fasterrcnn_resnet50_fpn",
        "fasterrcnn_resnet50_fpn_v2",
        "fasterrcnn_mobilenet_v3_large_fpn",
        "fasterrcnn_mobilenet_v3_large_320_fpn",
        "maskrcnn_resnet50_fpn",
        "maskrcnn_resnet50_fpn_v2",
        "keypointrcnn_resnet50_fpn",
    ];

    /// The config of a torchvision detector, as its published weights for COCO need it. Returns `None` for a name that
    /// is not in [`NAMES`](Self::NAMES).
    ///
    /// ```
    /// use burn_roi_detection::models::DetectorConfig;
    ///
    /// let config = DetectorConfig::named("maskrcnn_resnet50_fpn").expect("one of NAMES");
    /// assert_eq!(config.label(1), "person");
    /// assert!(DetectorConfig::named("yolo").is_none());
    /// ```
    pub fn named(name: &str) -> Option<Self> {
        let config = match name {
            "fasterrcnn_resnet50_fpn" => resnet50(),
            "fasterrcnn_resnet50_fpn_v2" => version_2(resnet50()),
            "fasterrcnn_mobilenet_v3_large_fpn" => mobilenet_v3_large(),
            "fasterrcnn_mobilenet_v3_large_320_fpn" => mobilenet_v3_large_320(),
            "maskrcnn_resnet50_fpn" => with_masks(resnet50()),
            "maskrcnn_resnet50_fpn_v2" => version_2(with_masks(resnet50())),
            "keypointrcnn_resnet50_fpn" => with_keypoints(resnet50()),
            _ => return None,
        };
        Some(config.with_name(name))
    }

    fn with_name(mut self, name: &str) -> Self {
        self.name = name.to_string();
        self
    }
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

fn resnet50() -> DetectorConfig {
    // torchvision sets this to 0 when it loads the checkpoints of the first versions, which were trained with 0.
    let body = ResNetConfig {
        batch_norm_epsilon: 0.0,
        ..ResNetConfig::new(64, [64, 128, 256, 512], [3, 4, 6, 3])
    };
    let anchor_sizes = [32.0, 64.0, 128.0, 256.0, 512.0].map(|size| vec![size]).to_vec();
    DetectorConfig::new(
        String::new(),
        names(&coco::CLASSES),
        BodyConfig::ResNet(body),
        Some(FeaturePyramidConfig::new(256)),
        RegionProposalsConfig::new(1, anchor_sizes, vec![0.5, 1.0, 2.0]),
        BoxHeadConfig::new(vec![], vec![1024, 1024]),
    )
}

fn with_masks(mut config: DetectorConfig) -> DetectorConfig {
    config.mask_head = Some(MaskHeadConfig::new(vec![256; 4], 256));
    config
}

fn with_keypoints(mut config: DetectorConfig) -> DetectorConfig {
    config.classes = names(&["no person", "person"]);
    config.keypoint_head = Some(KeypointHeadConfig::new(names(&coco::KEYPOINTS), vec![512; 8]));
    config
}

/// The differences of torchvision's `_v2` models: batch norms everywhere, and deeper heads.
fn version_2(mut config: DetectorConfig) -> DetectorConfig {
    if let BodyConfig::ResNet(body) = &mut config.body {
        body.batch_norm_epsilon = 1e-5;
        body.frozen_norms = false;
    }
    config.feature_pyramid = Some(FeaturePyramidConfig {
        norm: Some(NormKind::Batch),
        ..FeaturePyramidConfig::new(256)
    });
    config.region_proposals.convolutions = 2;
    config.box_head = BoxHeadConfig {
        norm: Some(NormKind::Batch),
        ..BoxHeadConfig::new(vec![256; 4], vec![1024])
    };
    if let Some(head) = &mut config.mask_head {
        head.norm = Some(NormKind::Batch);
    }
    config
}

fn mobilenet_v3_large() -> DetectorConfig {
    let mut config = resnet50();
    config.body = BodyConfig::MobileNetV3(mobilenet::large());
    config.region_proposals.anchor_sizes = vec![vec![32.0, 64.0, 128.0, 256.0, 512.0]; 3];
    config.region_proposals.score_threshold = 0.05;
    config
}

fn mobilenet_v3_large_320() -> DetectorConfig {
    let mut config = mobilenet_v3_large();
    config.region_proposals.pre_nms_top_n = 150;
    config.region_proposals.post_nms_top_n = 150;
    (config.preprocessing.min_size, config.preprocessing.max_size) = (320, 640);
    config
}
