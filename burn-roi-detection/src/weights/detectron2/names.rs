//! detectron2's names of weights.

use crate::models::{BodyConfig, DetectorConfig};
use crate::weights::NameTable;

/// The names of detectron2's state dicts, such as `backbone.bottom_up.res2.0.conv1.norm.running_mean`.
pub fn names(config: &DetectorConfig) -> NameTable {
    let mut table = NameTable::default();
    let body = body(config);
    if let BodyConfig::ResNet(resnet) = &config.body {
        table.insert("backbone.body.conv1", &[&format!("{body}.stem.conv1")]);
        table.insert("backbone.body.bn1", &[&format!("{body}.stem.conv1.norm")]);
        for (layer, &blocks) in (1..).zip(&resnet.blocks) {
            let path = format!("backbone.body.layer{layer}");
            residual_layer(&mut table, &path, &format!("{body}.res{}", layer + 1), blocks);
        }
        residual_layer(&mut table, "roi_heads.layer4", "roi_heads.res5", resnet.blocks[3]);
    }
    if let BodyConfig::ViT(_) = &config.body {
        table.insert("backbone.body", &[body]);
    }
    pyramid(&mut table, config);
    region_proposals(&mut table, config);
    heads(&mut table, config);
    table
}

/// The name of the body.
pub fn body(config: &DetectorConfig) -> &'static str {
    match &config.feature_pyramid {
        Some(pyramid) if pyramid.simple => "backbone.net",
        Some(_) => "backbone.bottom_up",
        None => "backbone",
    }
}

/// The blocks of a layer of a ResNet.
fn residual_layer(table: &mut NameTable, path: &str, name: &str, blocks: usize) {
    for index in 0..blocks {
        let (path, name) = (format!("{path}.{index}"), format!("{name}.{index}"));
        for convolution in 1..=3 {
            let conv = format!("{name}.conv{convolution}");
            table.insert(format!("{path}.conv{convolution}"), &[&conv]);
            table.insert(format!("{path}.bn{convolution}"), &[&format!("{conv}.norm")]);
        }
        block(table, &format!("{path}.downsample"), &format!("{name}.shortcut"));
    }
}

/// A convolution, and the norm in it.
fn block(table: &mut NameTable, path: &str, name: &str) {
    table.insert(format!("{path}.conv"), &[name]);
    table.insert(format!("{path}.norm"), &[&format!("{name}.norm")]);
}

/// A list of blocks, which detectron2 numbers otherwise.
fn blocks(table: &mut NameTable, path: &str, name: &str, numbers: impl Iterator<Item = usize>) {
    for (index, number) in numbers.enumerate() {
        block(table, &format!("{path}.{index}"), &format!("{name}{number}"));
    }
}

fn pyramid(table: &mut NameTable, config: &DetectorConfig) {
    if config.feature_pyramid.as_ref().is_some_and(|pyramid| pyramid.simple) {
        return simple_pyramid(table, config);
    }
    let levels = 2..config.levels() + 2;
    blocks(
        table,
        "backbone.fpn.inner_blocks",
        "backbone.fpn_lateral",
        levels.clone(),
    );
    blocks(table, "backbone.fpn.layer_blocks", "backbone.fpn_output", levels);
}

/// The layers of each level are elements of a list, whose name has the logarithm of the level's stride.
fn simple_pyramid(table: &mut NameTable, config: &DetectorConfig) {
    let strides = config.region_proposals.anchor_strides.iter().flatten();
    let finest = strides.copied().next().and_then(usize::checked_ilog2).unwrap_or(2);
    for (level, element) in [4, 1, 0, 1].into_iter().enumerate() {
        let name = format!("backbone.simfp_{}", finest as usize + level);
        for (list, element) in [("inner_blocks", element), ("layer_blocks", element + 1)] {
            let path = format!("backbone.fpn.{list}.{level}");
            block(table, &path, &format!("{name}.{element}"));
        }
    }
    for (layer, level, element) in [
        ("first_double", 0, 0),
        ("norm", 0, 1),
        ("second_double", 0, 3),
        ("double", 1, 0),
    ] {
        let name = format!("backbone.simfp_{}.{element}", finest as usize + level);
        table.insert(format!("backbone.fpn.rescaling.{layer}"), &[&name]);
    }
}

fn region_proposals(table: &mut NameTable, config: &DetectorConfig) {
    let head = "proposal_generator.rpn_head";
    match config.region_proposals.convolutions {
        1 => block(table, "rpn.head.conv.0", &format!("{head}.conv")),
        count => blocks(table, "rpn.head.conv", &format!("{head}.conv.conv"), 0..count),
    }
    table.insert("rpn.head.cls_logits", &[&format!("{head}.objectness_logits")]);
    table.insert("rpn.head.bbox_pred", &[&format!("{head}.anchor_deltas")]);
}

/// A box head, which of a cascade has the number of its stage in its name. Layers are counted from 1.
fn box_head(table: &mut NameTable, config: &DetectorConfig, path: &str, stage: &str) {
    let (head, name) = (format!("{path}.box_head"), format!("roi_heads.box_head{stage}"));
    let convolutions = 1..=config.box_head.convolutions.len();
    blocks(table, &format!("{head}.convs"), &format!("{name}.conv"), convolutions);
    for index in 0..config.box_head.fully_connected.len() {
        table.insert(format!("{head}.fcs.{index}"), &[&format!("{name}.fc{}", index + 1)]);
    }
    let predictor = format!("roi_heads.box_predictor{stage}");
    table.insert(format!("{path}.box_predictor"), &[&predictor]);
}

/// Layers are counted from 1.
fn heads(table: &mut NameTable, config: &DetectorConfig) {
    let later = config.box_head.later_stages.len();
    match later {
        0 => box_head(table, config, "roi_heads", ""),
        _ => box_head(table, config, "roi_heads", ".0"),
    }
    for index in 0..later {
        let stage = format!(".{}", index + 1);
        box_head(table, config, &format!("roi_heads.later_stages.{index}"), &stage);
    }
    let (path, predictor) = ("roi_heads.mask_head", "roi_heads.mask_predictor");
    let count = config.mask_head.as_ref().map_or(0, |head| head.convolutions.len());
    blocks(table, &format!("{path}.layers"), &format!("{path}.mask_fcn"), 1..=count);
    table.insert(format!("{predictor}.conv5_mask"), &[&format!("{path}.deconv")]);
    table.insert(format!("{predictor}.mask_fcn_logits"), &[&format!("{path}.predictor")]);
    let (path, predictor) = ("roi_heads.keypoint_head", "roi_heads.keypoint_predictor");
    let count = config.keypoint_head.as_ref().map_or(0, |head| head.convolutions.len());
    blocks(table, &format!("{path}.layers"), &format!("{path}.conv_fcn"), 1..=count);
    let scores = format!("{path}.score_lowres");
    table.insert(format!("{predictor}.kps_score_lowres"), &[&scores]);
}
