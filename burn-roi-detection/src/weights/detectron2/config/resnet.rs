//! The settings of the body.

use super::error::ConfigError;
use super::layout::Layout;
use super::settings::{Settings, norm_kind, setting};
use crate::models::ResNetConfig;

pub(super) fn resnet(settings: &mut Settings, layout: &Layout) -> Result<ResNetConfig, ConfigError> {
    let depth = settings.size("MODEL.RESNETS.DEPTH", 50)?;
    let blocks = match depth {
        50 => [3, 4, 6, 3],
        101 => [3, 4, 23, 3],
        152 => [3, 8, 36, 3],
        _ => return Err(setting("MODEL.RESNETS.DEPTH", depth, "50, 101 or 152")),
    };
    let maps = layout.maps(&["res2", "res3", "res4", "res5"]);
    settings.must_list("MODEL.RESNETS.OUT_FEATURES", &["res4"], maps)?;
    let key = "MODEL.RESNETS.DEFORM_ON_PER_STAGE";
    let stages = settings.take(key).map(|stages| stages.describe());
    if let Some(stages) = stages.filter(|stages| stages.contains("true")) {
        let expected = "false for each layer: the models have no deformable convolutions";
        return Err(setting(key, stages, expected));
    }
    settings.ignore(&["MODEL.RESNETS.DEFORM_"]);
    let groups = settings.size("MODEL.RESNETS.NUM_GROUPS", 1)?;
    let width = settings.size("MODEL.RESNETS.WIDTH_PER_GROUP", 64)?;
    let outputs = settings.size("MODEL.RESNETS.RES2_OUT_CHANNELS", 256)?;
    let stem = settings.size("MODEL.RESNETS.STEM_OUT_CHANNELS", 64)?;
    let doubled = |first: usize| [1, 2, 4, 8].map(|factor| factor * first);
    let norms = ["FrozenBN", "BN", "SyncBN", "nnSyncBN", "naiveSyncBN", "GN"];
    let norm = settings.one_of("MODEL.RESNETS.NORM", &norms)?;
    Ok(ResNetConfig {
        output_channels: Some(doubled(outputs)),
        groups,
        frozen_norms: norm == norms[0],
        norm: norm_kind(norm),
        stride_in_1x1: settings.bool("MODEL.RESNETS.STRIDE_IN_1X1", true)?,
        last_dilation: settings.size("MODEL.RESNETS.RES5_DILATION", 1)?,
        last_layer_on_regions: layout.is_res5_on_regions,
        ..ResNetConfig::new(stem, doubled(groups * width), blocks)
    })
}
