//! The models of detectron2's project ViTDet, whose configs are programs of Python.

use crate::models::{BodyConfig, DetectorConfig, ViTConfig};

/// What differs from an FPN model, in settings of detectron2's other configs.
pub(super) const SETTINGS: &str = "{
    INPUT: {FORMAT: RGB, MIN_SIZE_TEST: 1024, MAX_SIZE_TEST: 1024},
    MODEL: {
        PIXEL_MEAN: [123.675, 116.28, 103.53],
        PIXEL_STD: [58.395, 57.12, 57.375],
        RPN: {CONV_DIMS: [-1, -1]},
        FPN: {NORM: LN},
        ROI_BOX_HEAD: {NAME: FastRCNNConvFCHead, NUM_CONV: 4, NUM_FC: 1, NORM: LN},
        ROI_MASK_HEAD: {NORM: LN}}}";

/// The config of a model, of that with [`SETTINGS`].
pub(super) fn vitdet(mut config: DetectorConfig) -> DetectorConfig {
    let (channels, blocks, heads) = match &config.name {
        name if name.contains("_l_") => (1024, 24, 16),
        name if name.contains("_h_") => (1280, 32, 16),
        _ => (768, 12, 12),
    };
    // The last block of each quarter.
    let global_blocks = (1..=4).map(|quarter| quarter * blocks / 4 - 1).collect();
    config.body = BodyConfig::ViT(ViTConfig::new(channels, blocks, heads, global_blocks));
    if let Some(pyramid) = &mut config.feature_pyramid {
        pyramid.simple = true;
    }
    config.preprocessing.square_pad = Some(1024);
    config
}
