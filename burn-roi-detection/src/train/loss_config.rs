//! [`DetectorLossConfig`]: how the losses of a detector are computed.

use crate::configs::configs;
use crate::error::DetectionError;
use crate::losses::TORCHVISION_BETA;
use crate::{BalancedPositiveNegativeSampler, MaskTargets, Matcher, TrainingSamplesConfig, arguments};

configs! {
/// How the losses of a detector are computed. The defaults match torchvision's detectors.
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
    /// For Cascade R-CNN: the IoU threshold of stages 2, 3, ...; a box of that stage is positive if its IoU with a
    /// ground-truth box is at least this, and background otherwise. Finite. Other detectors do not read it.
    pub later_iou_thresholds: Vec<f64> = vec![0.6, 0.7],
    /// Where the smooth L1 loss of box deltas turns from a square to a line, for anchors and in box heads. Finite, 0 or
    /// above. With 0, detectron2's default, it is the L1 loss.
    pub smooth_l1_beta: f64 = TORCHVISION_BETA,
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

    /// Checks what is not checked where it is used.
    ///
    /// - `later_stages`: the number of stages of the detector's box head after the first.
    pub(super) fn check(&self, later_stages: usize) -> Result<(), DetectionError> {
        let beta = self.smooth_l1_beta;
        let fits = beta.is_finite() && beta >= 0.0;
        arguments::check("smooth_l1_beta", fits, beta, "finite, and 0 or above")?;
        if later_stages == 0 {
            return Ok(());
        }
        let (name, thresholds) = ("later_iou_thresholds", &self.later_iou_thresholds);
        let of = "element of `box_head.later_stages`";
        arguments::length(name, thresholds.len(), later_stages, of)?;
        let mut thresholds = thresholds.iter();
        thresholds.try_for_each(|threshold| arguments::check(name, threshold.is_finite(), threshold, "finite"))
    }

    pub(super) fn anchor_matcher(&self) -> Matcher {
        Matcher::new(self.anchor_fg_iou_threshold, self.anchor_bg_iou_threshold).with_allow_low_quality_matches(true)
    }

    pub(super) fn anchor_sampler(&self) -> BalancedPositiveNegativeSampler {
        BalancedPositiveNegativeSampler::new(self.anchors_per_image, self.anchor_positive_fraction)
    }
}
