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
    check(TwoMlpHeadConfig::new(7, 7), &["in_channels", "representation_size"]);
    check(
        FastRcnnConvFcHeadConfig::new(7, [7, 7], vec![8], vec![8]),
        &["in_channels", "pooled_size", "conv_layers", "fc_layers"],
    );
    check(FastRcnnPredictorConfig::new(7, 7), &["in_channels", "num_classes"]);
    check(
        ConvBlockConfig::new(7, 7, 7),
        &["in_channels", "out_channels", "kernel_size"],
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
    check(onnx::NonMaxSuppression::new(), &[]);
    check(tensorrt::CropAndResize::new(7, 7), &["crop_height", "crop_width"]);
    check(tensorrt::PyramidRoiAlign::new(), &[]);
}

/// The list above is that of the public interface.
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
