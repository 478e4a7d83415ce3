//! The settings of the heads.

use super::error::ConfigError;
use super::labels::keypoints;
use super::layout::Layout;
use super::region_proposals::ABOVE_0;
use super::settings::{Settings, setting};
use crate::models::{BoxHeadConfig, KeypointHeadConfig, KeypointScores, MaskHeadConfig, MaskPaste};

/// What a box head of the body's last layer has no use for.
const RES5_IGNORES: [&str; 5] = [
    "MODEL.ROI_BOX_HEAD.CONV_DIM",
    "MODEL.ROI_BOX_HEAD.FC_DIM",
    "MODEL.ROI_BOX_HEAD.NAME",
    "MODEL.ROI_BOX_HEAD.NORM",
    "MODEL.ROI_BOX_HEAD.NUM_",
];

/// Whether a head's pooling moves regions by half a pixel.
fn is_aligned(settings: &mut Settings, head: &str) -> Result<bool, ConfigError> {
    let types = ["ROIAlignV2", "ROIAlign"];
    Ok(settings.one_of(&format!("MODEL.{head}.POOLER_TYPE"), &types)? == types[0])
}

pub(super) fn box_head(settings: &mut Settings, layout: &Layout) -> Result<BoxHeadConfig, ConfigError> {
    let maps = layout.maps(&["p2", "p3", "p4", "p5"]);
    settings.must_list("MODEL.ROI_HEADS.IN_FEATURES", &["res4"], maps)?;
    settings.must_be("MODEL.ROI_BOX_HEAD.USE_SIGMOID_CE", false)?;
    let (convolutions, linear, norm) = match layout.is_res5_on_regions {
        // Its box head is the last layer and a mean.
        true => {
            settings.ignore(&RES5_IGNORES);
            (vec![], vec![], None)
        }
        false => {
            settings.one_of("MODEL.ROI_BOX_HEAD.NAME", &["", "FastRCNNConvFCHead"])?;
            let convolutions = settings.count("MODEL.ROI_BOX_HEAD.NUM_CONV", 0)?;
            let linear = settings.count("MODEL.ROI_BOX_HEAD.NUM_FC", 0)?;
            let norm = settings.norm("MODEL.ROI_BOX_HEAD.NORM")?;
            let channels = settings.size("MODEL.ROI_BOX_HEAD.CONV_DIM", 256)?;
            let features = settings.size("MODEL.ROI_BOX_HEAD.FC_DIM", 1024)?;
            (vec![channels; convolutions], vec![features; linear], norm)
        }
    };
    let (weights, later_stages) = box_weights(settings, layout)?;
    Ok(BoxHeadConfig {
        norm,
        pooled_size: settings.size("MODEL.ROI_BOX_HEAD.POOLER_RESOLUTION", 14)?,
        sampling_ratio: settings.size("MODEL.ROI_BOX_HEAD.POOLER_SAMPLING_RATIO", 0)?,
        aligned: is_aligned(settings, "ROI_BOX_HEAD")?,
        class_agnostic_regression: settings.bool("MODEL.ROI_BOX_HEAD.CLS_AGNOSTIC_BBOX_REG", false)?,
        weights,
        later_stages,
        score_threshold: settings.float("MODEL.ROI_HEADS.SCORE_THRESH_TEST", 0.05)?,
        nms_threshold: settings.float("MODEL.ROI_HEADS.NMS_THRESH_TEST", 0.5)?,
        detections_per_image: settings.size("TEST.DETECTIONS_PER_IMAGE", 100)?,
        min_size: ABOVE_0,
        ..BoxHeadConfig::new(convolutions, linear)
    })
}

/// The weights of the box deltas of the first stage, and those of the later stages of a cascade.
fn box_weights(settings: &mut Settings, layout: &Layout) -> Result<([f64; 4], Vec<[f64; 4]>), ConfigError> {
    let single = settings.floats("MODEL.ROI_BOX_HEAD.BBOX_REG_WEIGHTS", [10.0, 10.0, 5.0, 5.0])?;
    let key = "MODEL.ROI_BOX_CASCADE_HEAD.BBOX_REG_WEIGHTS";
    let default: [&[f64]; 3] = [
        &[10.0, 10.0, 5.0, 5.0],
        &[20.0, 20.0, 10.0, 10.0],
        &[30.0, 30.0, 15.0, 15.0],
    ];
    if !layout.is_cascade {
        settings.ignore(&[key]);
        return Ok((single, Vec::new()));
    }
    let stages = settings.float_lists(key, &default)?;
    let weights: Option<Vec<[f64; 4]>> = stages.iter().map(|stage| stage.as_slice().try_into().ok()).collect();
    match weights.as_deref() {
        Some([first, later @ ..]) => Ok((*first, later.to_vec())),
        _ => {
            let expected = "a list of lists of 4 numbers, at least one";
            Err(setting(key, format_args!("{stages:?}"), expected))
        }
    }
}

pub(super) fn mask_head(
    settings: &mut Settings,
    layout: &Layout,
    boxes: &BoxHeadConfig,
) -> Result<Option<MaskHeadConfig>, ConfigError> {
    if !settings.bool("MODEL.MASK_ON", false)? {
        settings.ignore(&["MODEL.ROI_MASK_HEAD."]);
        return Ok(None);
    }
    settings.one_of("MODEL.ROI_MASK_HEAD.NAME", &["MaskRCNNConvUpsampleHead"])?;
    let channels = settings.size("MODEL.ROI_MASK_HEAD.CONV_DIM", 256)?;
    let convolutions = settings.count("MODEL.ROI_MASK_HEAD.NUM_CONV", 0)?;
    let norm = settings.norm("MODEL.ROI_MASK_HEAD.NORM")?;
    let mut head = MaskHeadConfig {
        norm,
        class_agnostic: settings.bool("MODEL.ROI_MASK_HEAD.CLS_AGNOSTIC_MASK", false)?,
        paste: MaskPaste::PixelCentres,
        ..MaskHeadConfig::new(vec![channels; convolutions], channels)
    };
    if layout.is_res5_on_regions {
        // Both heads pool as the box head does.
        settings.ignore(&["MODEL.ROI_MASK_HEAD.POOLER_"]);
        head.pooled_size = boxes.pooled_size;
        head.sampling_ratio = boxes.sampling_ratio;
        head.aligned = boxes.aligned;
    } else {
        head.pooled_size = settings.size("MODEL.ROI_MASK_HEAD.POOLER_RESOLUTION", 14)?;
        head.sampling_ratio = settings.size("MODEL.ROI_MASK_HEAD.POOLER_SAMPLING_RATIO", 0)?;
        head.aligned = is_aligned(settings, "ROI_MASK_HEAD")?;
    }
    Ok(Some(head))
}

pub(super) fn keypoint_head(settings: &mut Settings) -> Result<Option<KeypointHeadConfig>, ConfigError> {
    if !settings.bool("MODEL.KEYPOINT_ON", false)? {
        settings.ignore(&["MODEL.ROI_KEYPOINT_HEAD."]);
        return Ok(None);
    }
    settings.one_of("MODEL.ROI_KEYPOINT_HEAD.NAME", &["KRCNNConvDeconvUpsampleHead"])?;
    let count = settings.count("MODEL.ROI_KEYPOINT_HEAD.NUM_KEYPOINTS", 17)?;
    let convolutions = settings.sizes("MODEL.ROI_KEYPOINT_HEAD.CONV_DIMS", &[512; 8])?;
    Ok(Some(KeypointHeadConfig {
        pooled_size: settings.size("MODEL.ROI_KEYPOINT_HEAD.POOLER_RESOLUTION", 14)?,
        sampling_ratio: settings.size("MODEL.ROI_KEYPOINT_HEAD.POOLER_SAMPLING_RATIO", 0)?,
        aligned: is_aligned(settings, "ROI_KEYPOINT_HEAD")?,
        scores: KeypointScores::Probabilities,
        ..KeypointHeadConfig::new(keypoints(count), convolutions)
    }))
}
