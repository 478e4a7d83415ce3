//! [`NameTable`]: the names of a framework's weights.

use std::collections::BTreeMap;

use crate::models::{BodyConfig, DetectorConfig, MobileNetV3Config};

/// Maps the modules of a detector to their names in a framework's state dicts.
///
/// A module without an entry has the name of its field in its parent. So the table lists only modules with another
/// name. [`NameTable::torchvision`] is torchvision's table. Make another framework's table with [`NameTable::default`]
/// and [`NameTable::insert`].
///
/// ```
/// use burn_roi_detection::models::DetectorConfig;
/// use burn_roi_detection::weights::NameTable;
///
/// let config = DetectorConfig::named("maskrcnn_resnet50_fpn").unwrap();
/// let table = NameTable::torchvision(&config);
/// let names = table.names("rpn.head.conv.0.conv.weight");
/// assert_eq!(names, ["rpn.head.conv.0.0.weight", "rpn.head.conv.weight"]);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NameTable {
    /// From a module's path of fields to its names. The first is written, and all are read.
    modules: BTreeMap<String, Vec<String>>,
}

impl NameTable {
    /// Sets the names of a module, instead of its path of fields.
    ///
    /// - `module`: its fields from the model's `backbone`, `rpn` or `roi_heads` on, such as
    ///   `backbone.body.layer1.0.downsample.conv`.
    /// - `names`: its names. The first is written, and all are read.
    pub fn insert(&mut self, module: impl Into<String>, names: &[&str]) {
        let names = names.iter().map(ToString::to_string).collect();
        self.modules.insert(module.into(), names);
    }

    /// The names of a tensor, of which the first is written and all are read.
    ///
    /// - `field`: its path of fields, which ends in `weight`, `bias`, `running_mean` or `running_var`.
    pub fn names(&self, field: &str) -> Vec<String> {
        let mut module = field;
        while let Some((parent, _)) = module.rsplit_once('.') {
            module = parent;
            if let Some(names) = self.modules.get(module) {
                let rest = &field[module.len()..];
                return names.iter().map(|name| format!("{name}{rest}")).collect();
            }
        }
        vec![field.to_string()]
    }

    /// The names of torchvision's state dicts: the names that it saves today, and the names of its older checkpoints,
    /// such as `inner_blocks.0.weight` for today's `inner_blocks.0.0.weight`.
    pub fn torchvision(config: &DetectorConfig) -> Self {
        let mut table = Self::default();
        match &config.body {
            BodyConfig::ResNet(body) => {
                for layer in 1..=4 {
                    let path = format!("backbone.body.layer{layer}");
                    table.downsample(&path, body.blocks[layer - 1]);
                }
                table.downsample("roi_heads.layer4", body.blocks[3]);
            }
            BodyConfig::MobileNetV3(body) => table.mobilenet(body),
            // torchvision has no detector with one.
            BodyConfig::ViT(_) => {}
            // Its weights are called by the paths of its fields.
            BodyConfig::Custom(_) => {}
        }
        table.pyramid(config);
        table.heads(config);
        table
    }

    /// The first convolutions beside the identity.
    fn downsample(&mut self, layer: &str, blocks: usize) {
        for block in 0..blocks {
            let path = format!("{layer}.{block}.downsample");
            self.block(&path, &path);
        }
    }

    /// A convolution and its norm as elements 0 and 1 of a `Sequential`.
    fn block(&mut self, path: &str, name: &str) {
        self.insert(format!("{path}.conv"), &[&format!("{name}.0")]);
        self.insert(format!("{path}.norm"), &[&format!("{name}.1")]);
    }

    /// As [`block`](Self::block), without a norm, where older checkpoints have no `Sequential`.
    fn block_or(&mut self, path: &str, name: &str, old: &str) {
        self.insert(format!("{path}.conv"), &[&format!("{name}.0"), old]);
        self.insert(format!("{path}.norm"), &[&format!("{name}.1")]);
    }

    fn mobilenet(&mut self, body: &MobileNetV3Config) {
        let path = "backbone.body";
        self.block(&format!("{path}.stem"), &format!("{path}.0"));
        self.block(&format!("{path}.last"), &format!("{path}.{}", body.blocks.len() + 1));
        let mut input = body.stem_channels;
        for (index, block) in body.blocks.iter().enumerate() {
            let (fields, name) = (format!("{path}.blocks.{index}"), format!("{path}.{}.block", index + 1));
            // The elements of a `Sequential` have no gaps.
            let mut element = 0;
            let mut next = |is_there: bool| {
                let name = format!("{name}.{element}");
                element += usize::from(is_there);
                name
            };
            let expand = block.expanded_channels != input;
            self.block(&format!("{fields}.expand"), &next(expand));
            self.block(&format!("{fields}.depthwise"), &next(true));
            let squeeze = next(block.squeeze_channels.is_some());
            self.insert(format!("{fields}.squeeze"), &[&squeeze]);
            self.block(&format!("{fields}.project"), &next(true));
            input = block.output_channels;
        }
    }

    fn pyramid(&mut self, config: &DetectorConfig) {
        for list in ["inner_blocks", "layer_blocks"] {
            for index in 0..config.levels() {
                let path = format!("backbone.fpn.{list}.{index}");
                self.block_or(&path, &path, &path);
            }
        }
        for index in 0..config.region_proposals.convolutions {
            let path = format!("rpn.head.conv.{index}");
            match index {
                0 => self.block_or(&path, &path, "rpn.head.conv"),
                _ => self.block(&path, &path),
            }
        }
    }

    fn heads(&mut self, config: &DetectorConfig) {
        let head = "roi_heads.box_head";
        let convolutions = config.box_head.convolutions.len();
        for index in 0..convolutions {
            self.block(&format!("{head}.convs.{index}"), &format!("{head}.{index}"));
        }
        for index in 0..config.box_head.fully_connected.len() {
            let name = match convolutions {
                0 => format!("{head}.fc{}", 6 + index),
                // They follow the convolutions and the flatten layer, and an activation follows each.
                _ => format!("{head}.{}", convolutions + 1 + 2 * index),
            };
            self.insert(format!("{head}.fcs.{index}"), &[&name]);
        }
        for index in 0..config.mask_head.as_ref().map_or(0, |head| head.convolutions.len()) {
            let name = format!("roi_heads.mask_head.{index}");
            let old = format!("roi_heads.mask_head.mask_fcn{}", index + 1);
            self.block_or(&format!("roi_heads.mask_head.layers.{index}"), &name, &old);
        }
        for index in 0..config.keypoint_head.as_ref().map_or(0, |head| head.convolutions.len()) {
            // An activation follows each convolution.
            let name = format!("roi_heads.keypoint_head.{}", 2 * index);
            self.insert(format!("roi_heads.keypoint_head.layers.{index}.conv"), &[&name]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks cases: lines of a field and its names, with spaces between.
    fn check(model: &str, cases: &str) {
        let table = NameTable::torchvision(&DetectorConfig::named(model).unwrap());
        for case in cases.trim().lines() {
            let (field, names) = case.trim().split_once(' ').unwrap();
            assert_eq!(table.names(field).join(" "), names, "of {field}");
        }
    }

    #[test]
    fn names_of_the_first_version() {
        let cases = "
        backbone.body.conv1.weight backbone.body.conv1.weight
        backbone.body.layer1.0.downsample.conv.weight backbone.body.layer1.0.downsample.0.weight
        backbone.body.layer1.0.downsample.norm.bias backbone.body.layer1.0.downsample.1.bias
        backbone.fpn.inner_blocks.3.conv.weight backbone.fpn.inner_blocks.3.0.weight backbone.fpn.inner_blocks.3.weight
        roi_heads.mask_head.layers.3.conv.weight roi_heads.mask_head.3.0.weight roi_heads.mask_head.mask_fcn4.weight
        roi_heads.mask_predictor.conv5_mask.weight roi_heads.mask_predictor.conv5_mask.weight
        roi_heads.box_head.fcs.1.weight roi_heads.box_head.fc7.weight";
        check("maskrcnn_resnet50_fpn", cases);
    }

    #[test]
    fn names_of_the_second_version() {
        let cases = "
        backbone.fpn.layer_blocks.0.norm.running_var backbone.fpn.layer_blocks.0.1.running_var
        rpn.head.conv.1.conv.weight rpn.head.conv.1.0.weight
        roi_heads.box_head.convs.3.norm.weight roi_heads.box_head.3.1.weight
        roi_heads.box_head.fcs.0.bias roi_heads.box_head.5.bias";
        check("maskrcnn_resnet50_fpn_v2", cases);
    }

    #[test]
    fn names_of_keypoints_and_mobilenets() {
        let cases = "
        roi_heads.keypoint_head.layers.7.conv.bias roi_heads.keypoint_head.14.bias
        roi_heads.keypoint_predictor.kps_score_lowres.weight roi_heads.keypoint_predictor.kps_score_lowres.weight";
        check("keypointrcnn_resnet50_fpn", cases);
        let cases = "
        backbone.body.stem.norm.weight backbone.body.0.1.weight
        backbone.body.blocks.0.depthwise.conv.weight backbone.body.1.block.0.0.weight
        backbone.body.blocks.0.project.norm.bias backbone.body.1.block.1.1.bias
        backbone.body.blocks.3.squeeze.fc2.weight backbone.body.4.block.2.fc2.weight
        backbone.body.blocks.3.project.conv.weight backbone.body.4.block.3.0.weight
        backbone.body.last.conv.weight backbone.body.16.0.weight";
        check("fasterrcnn_mobilenet_v3_large_fpn", cases);
    }
}
