//! What the parts of a model have in common.

use super::error::ConfigError;
use super::settings::Settings;

/// The kind of a model: FPN, C4 or DC5, and whether it is a cascade.
pub(super) struct Layout {
    /// Whether there is a feature pyramid: the models FPN.
    pub(super) is_pyramid: bool,
    /// Whether the last layer runs on pooled regions: the models C4.
    pub(super) is_res5_on_regions: bool,
    /// Whether boxes are refined in stages.
    pub(super) is_cascade: bool,
}

impl Layout {
    pub(super) fn read(settings: &mut Settings) -> Result<Self, ConfigError> {
        let backbones = ["build_resnet_backbone", "build_resnet_fpn_backbone"];
        let heads = ["Res5ROIHeads", "StandardROIHeads", "CascadeROIHeads"];
        let head = settings.one_of("MODEL.ROI_HEADS.NAME", &heads)?;
        Ok(Self {
            is_pyramid: settings.one_of("MODEL.BACKBONE.NAME", &backbones)? == backbones[1],
            is_res5_on_regions: head == heads[0],
            is_cascade: head == heads[2],
        })
    }

    /// The names of the feature maps that a part reads or writes: `of_pyramid`, or without a pyramid the last map.
    pub(super) fn maps<'a>(&self, of_pyramid: &'a [&'a str]) -> &'a [&'a str] {
        match (self.is_pyramid, self.is_res5_on_regions) {
            (true, _) => of_pyramid,
            (false, true) => &["res4"],
            (false, false) => &["res5"],
        }
    }
}
