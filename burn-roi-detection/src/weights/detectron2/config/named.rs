//! The configs of detectron2's model zoo.

use super::detector::detector;
use super::settings::Settings;
use super::vitdet::{self, vitdet};
use crate::models::DetectorConfig;

/// The names of the models of detectron2's model zoo that [`named`] knows, and of its project ViTDet: each is the path
/// of a file in `configs` or in `projects/ViTDet/configs`.
pub const NAMES: [&str; 35] = [
    "COCO-Detection/faster_rcnn_R_50_C4_1x",
    "COCO-Detection/faster_rcnn_R_50_DC5_1x",
    "COCO-Detection/faster_rcnn_R_50_FPN_1x",
    "COCO-Detection/faster_rcnn_R_50_C4_3x",
    "COCO-Detection/faster_rcnn_R_50_DC5_3x",
    "COCO-Detection/faster_rcnn_R_50_FPN_3x",
    "COCO-Detection/faster_rcnn_R_101_C4_3x",
    "COCO-Detection/faster_rcnn_R_101_DC5_3x",
    "COCO-Detection/faster_rcnn_R_101_FPN_3x",
    "COCO-Detection/faster_rcnn_X_101_32x8d_FPN_3x",
    "COCO-InstanceSegmentation/mask_rcnn_R_50_C4_1x",
    "COCO-InstanceSegmentation/mask_rcnn_R_50_DC5_1x",
    "COCO-InstanceSegmentation/mask_rcnn_R_50_FPN_1x",
    "COCO-InstanceSegmentation/mask_rcnn_R_50_C4_3x",
    "COCO-InstanceSegmentation/mask_rcnn_R_50_DC5_3x",
    "COCO-InstanceSegmentation/mask_rcnn_R_50_FPN_3x",
    "COCO-InstanceSegmentation/mask_rcnn_R_101_C4_3x",
    "COCO-InstanceSegmentation/mask_rcnn_R_101_DC5_3x",
    "COCO-InstanceSegmentation/mask_rcnn_R_101_FPN_3x",
    "COCO-InstanceSegmentation/mask_rcnn_X_101_32x8d_FPN_3x",
    "COCO-Keypoints/keypoint_rcnn_R_50_FPN_1x",
    "COCO-Keypoints/keypoint_rcnn_R_50_FPN_3x",
    "COCO-Keypoints/keypoint_rcnn_R_101_FPN_3x",
    "COCO-Keypoints/keypoint_rcnn_X_101_32x8d_FPN_3x",
    "Misc/cascade_mask_rcnn_R_50_FPN_1x",
    "Misc/cascade_mask_rcnn_R_50_FPN_3x",
    "Misc/mask_rcnn_R_50_FPN_3x_gn",
    "Misc/scratch_mask_rcnn_R_50_FPN_3x_gn",
    "Misc/scratch_mask_rcnn_R_50_FPN_9x_gn",
    "COCO/mask_rcnn_vitdet_b_100ep",
    "COCO/mask_rcnn_vitdet_l_100ep",
    "COCO/mask_rcnn_vitdet_h_75ep",
    "COCO/cascade_mask_rcnn_vitdet_b_100ep",
    "COCO/cascade_mask_rcnn_vitdet_l_100ep",
    "COCO/cascade_mask_rcnn_vitdet_h_75ep",
];

// What differs from detectron2's defaults, which are those of a C4 model of ResNet-50.
const FPN: &str = "MODEL: {
    BACKBONE: {NAME: build_resnet_fpn_backbone},
    RESNETS: {OUT_FEATURES: [res2, res3, res4, res5]},
    FPN: {IN_FEATURES: [res2, res3, res4, res5]},
    ANCHOR_GENERATOR: {SIZES: [[32], [64], [128], [256], [512]]},
    RPN: {IN_FEATURES: [p2, p3, p4, p5, p6], PRE_NMS_TOPK_TEST: 1000},
    ROI_HEADS: {NAME: StandardROIHeads, IN_FEATURES: [p2, p3, p4, p5]},
    ROI_BOX_HEAD: {NUM_FC: 2, POOLER_RESOLUTION: 7},
    ROI_MASK_HEAD: {NUM_CONV: 4}}";
const DC5: &str = "MODEL: {
    RESNETS: {OUT_FEATURES: [res5], RES5_DILATION: 2},
    RPN: {IN_FEATURES: [res5]},
    ROI_HEADS: {NAME: StandardROIHeads, IN_FEATURES: [res5]},
    ROI_BOX_HEAD: {NUM_FC: 2, POOLER_RESOLUTION: 7},
    ROI_MASK_HEAD: {NUM_CONV: 4}}";
const RESNET_101: &str = "MODEL: {RESNETS: {DEPTH: 101}}";
const RESNEXT_101: &str = "MODEL: {
    PIXEL_STD: [57.375, 57.120, 58.395],
    RESNETS: {STRIDE_IN_1X1: false, NUM_GROUPS: 32, WIDTH_PER_GROUP: 8, DEPTH: 101}}";
const COCO: &str = "DATASETS: {TRAIN: [coco_2017_train]}";
const MASKS: &str = "MODEL: {MASK_ON: true}";
const CASCADE: &str = "MODEL: {
    MASK_ON: true,
    ROI_HEADS: {NAME: CascadeROIHeads},
    ROI_BOX_HEAD: {CLS_AGNOSTIC_BBOX_REG: true}}";
const GROUP_NORMS: &str = "MODEL: {
    RESNETS: {NORM: GN, STRIDE_IN_1X1: false},
    FPN: {NORM: GN},
    ROI_BOX_HEAD: {NAME: FastRCNNConvFCHead, NUM_CONV: 4, NUM_FC: 1, NORM: GN},
    ROI_MASK_HEAD: {NORM: GN}}";
const DIVIDED: &str = "MODEL: {PIXEL_STD: [57.375, 57.12, 58.395]}";
const KEYPOINTS: &str = "{
    DATASETS: {TRAIN: [keypoints_coco_2017_train]},
    MODEL: {KEYPOINT_ON: true, ROI_HEADS: {NUM_CLASSES: 1}}}";

/// The config of a model of detectron2's model zoo or of its project ViTDet, as its published weights need it. Returns
/// `None` for a name that is not in [`NAMES`].
///
/// ```
/// use burn_roi_detection::weights::detectron2;
///
/// let config = detectron2::named("COCO-InstanceSegmentation/mask_rcnn_R_50_FPN_3x").unwrap();
/// assert_eq!(config.label(0), "person");
/// assert_eq!(config.box_head.sampling_ratio, 0);
/// ```
pub fn named(name: &str) -> Option<DetectorConfig> {
    if !NAMES.contains(&name) {
        return None;
    }
    let is_vitdet = name.contains("_vitdet_");
    let parts = [
        (true, COCO),
        (name.contains("_FPN_") || is_vitdet, FPN),
        (is_vitdet, vitdet::SETTINGS),
        (name.contains("_DC5_"), DC5),
        (name.contains("_R_101_"), RESNET_101),
        (name.contains("_X_101_"), RESNEXT_101),
        (
            name.contains("/mask_rcnn") || name.contains("/scratch_mask_rcnn"),
            MASKS,
        ),
        (name.contains("/keypoint_rcnn"), KEYPOINTS),
        (name.contains("/cascade_mask_rcnn"), CASCADE),
        (name.ends_with("_gn"), GROUP_NORMS),
        (name.ends_with("_9x_gn"), DIVIDED),
    ];
    let mut settings = Settings::default();
    for (_, text) in parts.iter().filter(|(is_part, _)| *is_part) {
        settings.replace(Settings::read(text).ok()?);
    }
    let config = detector(settings, name).ok()?;
    Some(if is_vitdet { vitdet(config) } else { config })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_a_config() {
        for name in NAMES {
            let config = named(name).unwrap_or_else(|| panic!("{name}"));
            config.check().unwrap();
            assert_eq!(config.name, name);
        }
        assert!(named("COCO-Detection/retinanet_R_50_FPN_1x").is_none());
    }
}
