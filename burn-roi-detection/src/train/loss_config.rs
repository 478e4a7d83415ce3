//! [`DetectorLossConfig`]: how the losses of a detector are computed.

use burn_roi::config;

use crate::{BalancedPositiveNegativeSampler, MaskTargets, Matcher, TrainingSamplesConfig};

config! { fields;
/// How the losses of a detector are computed. The defaults match torchvision's detectors.
#[derive(Debug, PartialEq)]
pub struct DetectorLossConfig {
    /// [`ProposalConfig::pre_nms_top_n`](crate::ProposalConfig::pre_nms_top_n) while the detector is trained.
    pub pre_nms_top_n: usize = 2000,
    /// [`ProposalConfig::post_nms_top_n`](crate::ProposalConfig::post_nms_top_n) while the detector is trained.
    pub post_nms_top_n: usize = 2000,
    /// An anchor whose IoU with a ground-truth box is at least this is positive. Finite.
    pub anchor_fg_iou_threshold: f64 = 0.7,
    /// An anchor whose best IoU is below this is background. Finite and at most `anchor_fg_iou_threshold`.
    pub anchor_bg_iou_threshold: f64 = 0.3,
    /// The number of anchors of an image that the region proposal network learns from, at most. Above 0.
    pub anchors_per_image: usize = 256,
    /// The largest fraction of these anchors that is not background: from 0 to 1.
    pub anchor_positive_fraction: f64 = 0.5,
    /// The proposals that the heads learn from. Its `box_weights` are not read: the detector's config has them.
    pub samples: TrainingSamplesConfig = TrainingSamplesConfig::new(),
    /// The masks that a mask head learns.
    pub mask_targets: MaskTargets = MaskTargets::new(),
}
}

impl DetectorLossConfig {
    /// torchvision's numbers of proposals, anchors and samples, or about an eighth of them for pictures whose shorter
    /// side is below 400 pixels, half of torchvision's.
    ///
    /// - `min_size`: the shorter side that pictures are resized to.
    pub fn for_min_size(min_size: usize) -> Self {
        if min_size >= 400 {
            return Self::new();
        }
        Self {
            pre_nms_top_n: 300,
            post_nms_top_n: 200,
            anchors_per_image: 64,
            samples: TrainingSamplesConfig {
                batch_size_per_image: 64,
                ..TrainingSamplesConfig::new()
            },
            ..Self::new()
        }
    }

    pub(super) fn anchor_matcher(&self) -> Matcher {
        Matcher::new(self.anchor_fg_iou_threshold, self.anchor_bg_iou_threshold).with_allow_low_quality_matches(true)
    }

    pub(super) fn anchor_sampler(&self) -> BalancedPositiveNegativeSampler {
        BalancedPositiveNegativeSampler::new(self.anchors_per_image, self.anchor_positive_fraction)
    }
}
