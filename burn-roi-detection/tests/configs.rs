//! Every config read from JSON.

use burn_roi_detection::evaluate::coco::{CocoEvaluationConfig, CocoKind};
use burn_roi_detection::onnx::{self, tensorrt};
use burn_roi_detection::*;

use crate::strict_config::check;

#[test]
fn every_config_reads_what_it_writes_and_nothing_else() {
    check(
        AnchorGeneratorConfig::new(vec![vec![32.0]], vec![vec![32.0]]),
        &["sizes", "aspect_ratios"],
    );
    check(
        AnchorGenerator3dConfig::new(vec![vec![32.0]], vec![vec![32.0]], vec![vec![32.0]]),
        &["sizes", "aspect_ratios", "depths"],
    );
    check(
        AnchorGenerator3dSConfig::new(vec![vec![32.0]], vec![vec![32.0]], vec![vec![32.0]]),
        &["widths", "heights", "depths"],
    );
    check(
        FastRcnnConvFcHeadConfig::new(7, [7, 7], vec![8], vec![8]),
        &["in_channels", "pooled_size", "conv_layers", "fc_layers"],
    );
    check(FastRcnnPredictorConfig::new(7, 7), &["in_channels", "num_classes"]);
    check(
        ConvBlockConfig::new(7, 7, 7),
        &["in_channels", "out_channels", "kernel_size"],
    );
    check(
        KeypointRcnnPredictorConfig::new(7, 7),
        &["in_channels", "num_keypoints"],
    );
    check(MaskRcnnHeadsConfig::new(7, vec![8]), &["in_channels", "layers"]);
    check(
        MaskRcnnPredictorConfig::new(7, 7, 7),
        &["in_channels", "dim_reduced", "num_classes"],
    );
    check(DetectionConfig::new(), &[]);
    check(ProposalConfig::new(), &[]);
    check(MaskTargets::new(), &[]);
    check(TrainingSamplesConfig::new(), &[]);
    check(CocoEvaluationConfig::new(CocoKind::Segm), &["kind"]);
}

/// These are hidden, and so not in the listing of the public interface.
#[test]
fn so_does_every_config_of_imported_graphs() {
    use crate::strict_config;

    strict_config::check(onnx::NonMaxSuppression::new(), &[]);
    strict_config::check(onnx::Resize::new(), &[]);
    strict_config::check(tensorrt::CropAndResize::new(7, 7), &["crop_height", "crop_width"]);
    strict_config::check(tensorrt::PyramidRoiAlign::new(), &[]);
}

#[cfg(feature = "models")]
#[test]
fn so_does_every_config_of_a_detector() {
    use burn_roi_detection::models::*;

    let body = ResNetConfig::new(7, [8; 4], [1; 4]);
    let proposals = RegionProposalsConfig::new(1, vec![vec![32.0]], vec![1.0]);
    let boxes = BoxHeadConfig::new(vec![8], vec![8]);
    check(
        DetectorConfig::new(
            "detector".to_string(),
            vec!["background".to_string(), "thing".to_string()],
            BodyConfig::ResNet(body.clone()),
            None,
            proposals.clone(),
            boxes.clone(),
        ),
        &[
            "name",
            "classes",
            "body",
            "feature_pyramid",
            "region_proposals",
            "box_head",
        ],
    );
    check(body, &["stem_channels", "bottleneck_channels", "blocks"]);
    check(
        MobileNetV3Config::new(7, vec![InvertedResidualConfig::new(3, 7, 7)], 7, vec![1]),
        &["stem_channels", "blocks", "last_channels", "outputs"],
    );
    check(
        InvertedResidualConfig::new(3, 7, 7),
        &["kernel_size", "expanded_channels", "output_channels"],
    );
    check(
        CustomBodyConfig::new(vec![BodyMap::new("map".to_string(), 7)]),
        &["maps"],
    );
    check(BodyMap::new("map".to_string(), 7), &["name", "channels"]);
    check(
        ViTConfig::new(8, 2, 2, vec![1]),
        &["channels", "blocks", "heads", "global_blocks"],
    );
    check(FeaturePyramidConfig::new(7), &["channels"]);
    check(proposals, &["convolutions", "anchor_sizes", "aspect_ratios"]);
    check(boxes, &["convolutions", "fully_connected"]);
    check(MaskHeadConfig::new(vec![8], 7), &["convolutions", "predictor_channels"]);
    check(
        KeypointHeadConfig::new(vec!["nose".to_string()], vec![8]),
        &["keypoints", "convolutions"],
    );
    check(PreprocessingConfig::new(), &[]);
}

/// The lists above are those of the public interface.
#[cfg(feature = "train")]
#[test]
fn so_does_every_config_of_training() {
    use burn_roi_detection::train::*;

    check(BatchConfig::new(7), &["batch_size"]);
    check(DetectorLossConfig::new(), &[]);
    check(LearningRateSchedule::new(0.5), &["peak"]);
    check(TrainerConfig::new(LearningRateSchedule::new(0.5)), &["learning_rate"]);
}

#[test]
fn no_config_is_left_out() {
    let configs = include_str!("../public-api.txt")
        .lines()
        .filter(|line| line.starts_with("impl burn_core::config::Config for burn_roi_detection::"));
    let checks = include_str!("configs.rs")
        .lines()
        .filter(|line| line.starts_with("    check("));
    assert_eq!(configs.count(), checks.count());
}
