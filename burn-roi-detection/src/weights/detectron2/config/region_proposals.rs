//! The settings of the region proposal network.

use super::error::ConfigError;
use super::layout::Layout;
use super::settings::{Settings, setting};
use crate::BaseAnchors;
use crate::models::RegionProposalsConfig;

/// Keeps the boxes that have an area, as detectron2 does: the smallest float above 0.
pub(super) const ABOVE_0: f64 = f32::from_bits(1) as f64;

/// What only training reads, and the angles of rotated boxes.
const IGNORED: [&str; 10] = [
    "MODEL.ANCHOR_GENERATOR.ANGLES",
    "MODEL.RPN.BATCH_SIZE_PER_IMAGE",
    "MODEL.RPN.BBOX_REG_LOSS_",
    "MODEL.RPN.BOUNDARY_THRESH",
    "MODEL.RPN.IOU_",
    "MODEL.RPN.LOSS_WEIGHT",
    "MODEL.RPN.POSITIVE_FRACTION",
    "MODEL.RPN.POST_NMS_TOPK_TRAIN",
    "MODEL.RPN.PRE_NMS_TOPK_TRAIN",
    "MODEL.RPN.SMOOTH_L1_BETA",
];

pub(super) fn region_proposals(settings: &mut Settings, layout: &Layout) -> Result<RegionProposalsConfig, ConfigError> {
    settings.ignore(&IGNORED);
    settings.one_of("MODEL.PROPOSAL_GENERATOR.NAME", &["RPN"])?;
    settings.one_of("MODEL.RPN.HEAD_NAME", &["StandardRPNHead"])?;
    settings.one_of("MODEL.ANCHOR_GENERATOR.NAME", &["DefaultAnchorGenerator"])?;
    let maps = layout.maps(&["p2", "p3", "p4", "p5", "p6"]);
    settings.must_list("MODEL.RPN.IN_FEATURES", &["res4"], maps)?;
    let strides = match layout.is_pyramid {
        true => vec![4, 8, 16, 32, 64],
        false => vec![16],
    };
    let key = "MODEL.RPN.CONV_DIMS";
    let convolutions = settings.ints(key, &[-1])?;
    if convolutions.iter().any(|&channels| channels != -1) {
        let expected = "a list of -1: as many channels as the feature maps have";
        return Err(setting(key, format_args!("{convolutions:?}"), expected));
    }
    let mut sizes = settings.float_lists("MODEL.ANCHOR_GENERATOR.SIZES", &[&[32.0, 64.0, 128.0, 256.0, 512.0]])?;
    if let [of_all] = sizes.as_slice() {
        sizes = vec![of_all.clone(); strides.len()];
    }
    let key = "MODEL.ANCHOR_GENERATOR.ASPECT_RATIOS";
    let ratios = settings.float_lists(key, &[&[0.5, 1.0, 2.0]])?;
    let same = |first: &&Vec<f64>| ratios.iter().all(|ratios| ratios == *first);
    let ratio = ratios.first().filter(same);
    let ratio = ratio.ok_or_else(|| setting(key, format_args!("{ratios:?}"), "the same for each level"))?;
    let min_size = settings.float("MODEL.PROPOSAL_GENERATOR.MIN_SIZE", 0.0)?;
    Ok(RegionProposalsConfig {
        pre_nms_top_n: settings.size("MODEL.RPN.PRE_NMS_TOPK_TEST", 6000)?,
        post_nms_top_n: settings.size("MODEL.RPN.POST_NMS_TOPK_TEST", 1000)?,
        nms_threshold: settings.float("MODEL.RPN.NMS_THRESH", 0.7)?,
        // No proposal's probability is below it.
        score_threshold: 0.0,
        // detectron2's boxes are larger than the size, here they are at least as large.
        min_size: if min_size > 0.0 {
            f64::from((min_size as f32).next_up())
        } else {
            ABOVE_0
        },
        base_anchors: BaseAnchors::Detectron2,
        anchor_offset: settings.float("MODEL.ANCHOR_GENERATOR.OFFSET", 0.0)?,
        anchor_strides: Some(strides),
        weights: settings.floats("MODEL.RPN.BBOX_REG_WEIGHTS", [1.0; 4])?,
        ..RegionProposalsConfig::new(convolutions.len(), sizes, ratio.clone())
    })
}
