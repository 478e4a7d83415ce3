//! What a training of detectron2 leaves: `config.yaml` and `model_final.pkl`.

use burn_roi_detection::models::Detector;
use burn_roi_detection::weights::{StateDict, detectron2};

use super::pickle::{Pickle, Tensors};

/// detectron2's Mask R-CNN with FPN and few channels, as a training writes its `config.yaml`.
pub const YAML: &str = "MODEL:
  MASK_ON: true
  BACKBONE: {NAME: build_resnet_fpn_backbone}
  RESNETS:
    {OUT_FEATURES: [res2, res3, res4, res5], STEM_OUT_CHANNELS: 4, RES2_OUT_CHANNELS: 8, WIDTH_PER_GROUP: 2}
  FPN: {IN_FEATURES: [res2, res3, res4, res5], OUT_CHANNELS: 4}
  ANCHOR_GENERATOR: {SIZES: [[32], [64], [128], [256], [512]]}
  RPN: {IN_FEATURES: [p2, p3, p4, p5, p6], PRE_NMS_TOPK_TEST: 100, POST_NMS_TOPK_TEST: 20}
  ROI_HEADS: {NAME: StandardROIHeads, IN_FEATURES: [p2, p3, p4, p5], NUM_CLASSES: 3}
  ROI_BOX_HEAD: {NUM_FC: 2, FC_DIM: 8, POOLER_RESOLUTION: 7}
  ROI_MASK_HEAD: {NUM_CONV: 2, CONV_DIM: 4}
INPUT: {MIN_SIZE_TEST: 64, MAX_SIZE_TEST: 96}
";

/// The weights of a detector under detectron2's names.
pub fn weights(detector: &Detector) -> Tensors {
    StateDict::of(detector, detectron2::names).expect("weights").tensors
}

/// Weights as `model_final.pkl`, with what else detectron2 puts there.
pub fn checkpoint(mut weights: Tensors) -> Vec<u8> {
    let pickle = Pickle { is_python_2: false };
    weights.insert("pixel_mean".to_string(), [103.53_f32, 116.28, 123.675].into());
    let model = [pickle.text("model"), pickle.dictionary(&weights), b"s".to_vec()].concat();
    pickle.file(&[b"}".to_vec(), model].concat())
}
