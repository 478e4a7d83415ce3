//! From detectron2's settings to the config of a detector. A setting that is absent has detectron2's default.

use burn_roi::PyramidConfig;

use super::error::ConfigError;
use super::heads::{box_head, keypoint_head, mask_head};
use super::labels::classes;
use super::layout::Layout;
use super::region_proposals::region_proposals;
use super::resnet::resnet;
use super::settings::{Settings, setting};
use crate::models::{
    Background, BodyConfig, ChannelOrder, DetectorConfig, FeaturePyramidConfig, PreprocessingConfig, Resize,
};

/// Settings of `MODEL` that inference does not depend on, by the start of their keys: files, training, and the parts of
/// other architectures.
const IGNORED: [&str; 19] = [
    "MODEL.BACKBONE.FREEZE_AT",
    "MODEL.DEVICE",
    "MODEL.PANOPTIC_FPN.",
    "MODEL.RETINANET.",
    "MODEL.ROI_BOX_CASCADE_HEAD.IOUS",
    "MODEL.ROI_BOX_HEAD.BBOX_REG_LOSS_",
    "MODEL.ROI_BOX_HEAD.FED_LOSS_",
    "MODEL.ROI_BOX_HEAD.SMOOTH_L1_BETA",
    "MODEL.ROI_BOX_HEAD.TRAIN_ON_PRED_BOXES",
    "MODEL.ROI_BOX_HEAD.USE_FED_LOSS",
    "MODEL.ROI_HEADS.BATCH_SIZE_PER_IMAGE",
    "MODEL.ROI_HEADS.IOU_",
    "MODEL.ROI_HEADS.POSITIVE_FRACTION",
    "MODEL.ROI_HEADS.PROPOSAL_APPEND_GT",
    "MODEL.ROI_KEYPOINT_HEAD.LOSS_WEIGHT",
    "MODEL.ROI_KEYPOINT_HEAD.MIN_KEYPOINTS_PER_IMAGE",
    "MODEL.ROI_KEYPOINT_HEAD.NORMALIZE_LOSS_BY_VISIBLE_KEYPOINTS",
    "MODEL.SEM_SEG_HEAD.",
    "MODEL.WEIGHTS",
];

/// The config of a detector.
pub(super) fn detector(mut settings: Settings, name: &str) -> Result<DetectorConfig, ConfigError> {
    let settings = &mut settings;
    if let Some(version) = settings.take("VERSION").filter(|version| version.describe() != "2") {
        return Err(setting("VERSION", version.describe(), "2"));
    }
    settings.one_of("MODEL.META_ARCHITECTURE", &["GeneralizedRCNN"])?;
    settings.must_be("MODEL.LOAD_PROPOSALS", false)?;
    let layout = Layout::read(settings)?;
    let class_count = settings.size("MODEL.ROI_HEADS.NUM_CLASSES", 80)?;
    let mut config = DetectorConfig::new(
        name.to_string(),
        classes(class_count, &settings.texts("DATASETS.TRAIN", &[]).unwrap_or_default()),
        BodyConfig::ResNet(resnet(settings, &layout)?),
        pyramid(settings, &layout)?,
        region_proposals(settings, &layout)?,
        box_head(settings, &layout)?,
    );
    config.mask_head = mask_head(settings, &layout, &config.box_head)?;
    config.keypoint_head = keypoint_head(settings)?;
    config.preprocessing = preprocessing(settings, &layout)?;
    config.background = Background::Last;
    config.pooling_levels = PyramidConfig::new().with_ratio_epsilon(1e-8).with_level_epsilon(0.0);
    settings.ignore(&IGNORED);
    settings.refuse_others("MODEL.")?;
    config.check().map_err(|error| ConfigError::Model {
        reason: error.to_string(),
    })?;
    Ok(config)
}

fn pyramid(settings: &mut Settings, layout: &Layout) -> Result<Option<FeaturePyramidConfig>, ConfigError> {
    if !layout.is_pyramid {
        settings.ignore(&["MODEL.FPN."]);
        return Ok(None);
    }
    settings.must_list("MODEL.FPN.IN_FEATURES", &[], &["res2", "res3", "res4", "res5"])?;
    settings.one_of("MODEL.FPN.FUSE_TYPE", &["sum"])?;
    let channels = settings.size("MODEL.FPN.OUT_CHANNELS", 256)?;
    let norm = settings.norm("MODEL.FPN.NORM")?;
    Ok(Some(FeaturePyramidConfig {
        norm,
        ..FeaturePyramidConfig::new(channels)
    }))
}

fn preprocessing(settings: &mut Settings, layout: &Layout) -> Result<PreprocessingConfig, ConfigError> {
    let order = match settings.one_of("INPUT.FORMAT", &["BGR", "RGB"])? {
        "RGB" => ChannelOrder::Rgb,
        _ => ChannelOrder::Bgr,
    };
    let mean = settings.floats("MODEL.PIXEL_MEAN", [103.53, 116.28, 123.675])?;
    let std = settings.floats("MODEL.PIXEL_STD", [1.0; 3])?;
    Ok(PreprocessingConfig {
        min_size: settings.size("INPUT.MIN_SIZE_TEST", 800)?,
        max_size: settings.size("INPUT.MAX_SIZE_TEST", 1333)?,
        mean: mean.map(|value| value as f32),
        std: std.map(|value| value as f32),
        maximum: 255.0,
        channel_order: order,
        resize: Resize::Pillow,
        // Only the pyramid asks for padding.
        size_divisible: if layout.is_pyramid { 32 } else { 1 },
        square_pad: None,
    })
}
