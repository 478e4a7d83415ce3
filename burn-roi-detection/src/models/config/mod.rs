//! [`DetectorConfig`]: a two-stage detector as a value.

mod body;
mod check;
pub(crate) mod coco;
mod mobilenet;
mod named;
mod parts;
mod vit;

use crate::configs::configs;
use burn_roi::PyramidConfig;

pub use body::{BodyConfig, BodyMap, CustomBodyConfig, InvertedResidualConfig, MobileNetV3Config, ResNetConfig};
pub use parts::{
    Background, BoxHeadConfig, ChannelOrder, FeaturePyramidConfig, KeypointHeadConfig, KeypointScores, MaskHeadConfig,
    MaskPaste, PreprocessingConfig, RegionProposalsConfig, Resize,
};
pub use vit::ViTConfig;

configs! {
/// A two-stage detector: Faster R-CNN, with a mask head Mask R-CNN, and with a keypoint head Keypoint R-CNN.
///
/// It can describe torchvision's and detectron2's detectors. [`DetectorConfig::named`] returns torchvision's models. As
/// JSON, a config refuses unknown fields, and a missing field has its default:
///
/// ```
/// use burn::config::Config;
/// use burn_roi_detection::models::DetectorConfig;
///
/// let config = DetectorConfig::named("maskrcnn_resnet50_fpn").unwrap();
/// assert_eq!(config.label(1), "person");
///
/// let file = std::env::temp_dir().join("burn_roi_detector_config.json");
/// config.save(&file).unwrap();
/// assert_eq!(DetectorConfig::load(&file).unwrap(), config);
/// std::fs::remove_file(file).unwrap();
/// ```
pub struct DetectorConfig {
    /// The name of the model, for messages.
    pub name: String,
    /// The names of the classes in the order of the class logits, including the background.
    pub classes: Vec<String>,
    /// The backbone: the network that computes the feature maps.
    pub body: BodyConfig,
    /// The feature pyramid on the backbone's maps. Without it, proposals and heads read the backbone's last map.
    pub feature_pyramid: Option<FeaturePyramidConfig>,
    /// The region proposal network.
    pub region_proposals: RegionProposalsConfig,
    /// The box head.
    pub box_head: BoxHeadConfig,
    /// The mask head.
    pub mask_head: Option<MaskHeadConfig> = None,
    /// The keypoint head.
    pub keypoint_head: Option<KeypointHeadConfig> = None,
    /// How a picture becomes the model's input.
    pub preprocessing: PreprocessingConfig = PreprocessingConfig::new(),
    /// Which class is the background.
    pub background: Background = Background::First,
    /// The rule that chooses the level of the feature pyramid that a region is pooled from.
    pub pooling_levels: PyramidConfig = PyramidConfig::new(),
}
}

impl DetectorConfig {
    /// The name of a class, or `?` if the label is not a class.
    pub fn label(&self, label: usize) -> &str {
        self.classes.get(label).map_or("?", String::as_str)
    }

    /// The number of classes that have box deltas and masks.
    pub(crate) fn box_classes(&self) -> usize {
        match self.background {
            Background::First => self.classes.len(),
            Background::Last => self.classes.len().saturating_sub(1),
        }
    }

    /// The number of levels that the region proposal network reads.
    pub(crate) fn levels(&self) -> usize {
        match &self.feature_pyramid {
            Some(pyramid) if pyramid.simple => 5,
            Some(_) => self.map_channels().len() + 1,
            None => 1,
        }
    }

    /// The number of channels of each map of the backbone, the finest first.
    pub(crate) fn map_channels(&self) -> Vec<usize> {
        match &self.body {
            BodyConfig::ResNet(body) => body.layer_channels()[..body.layers()].to_vec(),
            BodyConfig::MobileNetV3(body) => body.outputs.iter().map(|&part| body.part_channels(part)).collect(),
            BodyConfig::ViT(body) => vec![body.channels],
            BodyConfig::Custom(body) => body.maps.iter().map(|map| map.channels).collect(),
        }
    }

    /// The number of channels of what proposals and heads read.
    pub(crate) fn channels(&self) -> usize {
        match &self.feature_pyramid {
            Some(pyramid) => pyramid.channels,
            None => self.map_channels().last().copied().unwrap_or_default(),
        }
    }

    /// The backbone's ResNet, if its last layer runs on pooled regions.
    pub(crate) fn layer_on_regions(&self) -> Option<&ResNetConfig> {
        match &self.body {
            BodyConfig::ResNet(body) if body.last_layer_on_regions => Some(body),
            _ => None,
        }
    }

    /// The number of channels and the size of a region that the box and mask heads' own layers get.
    pub(crate) fn head_input(&self, pooled_size: usize) -> (usize, usize) {
        match self.layer_on_regions() {
            Some(body) => {
                let stride = body.layer_stride(3);
                (body.layer_channels()[3], pooled_size.div_ceil(stride))
            }
            None => (self.channels(), pooled_size),
        }
    }
}

impl ResNetConfig {
    /// The number of output channels of each layer.
    pub(crate) fn layer_channels(&self) -> [usize; 4] {
        self.output_channels
            .unwrap_or(self.bottleneck_channels.map(|channels| 4 * channels))
    }

    /// The number of layers that run on the picture.
    pub(crate) fn layers(&self) -> usize {
        if self.last_layer_on_regions { 3 } else { 4 }
    }

    /// The stride of a layer.
    pub(crate) fn layer_stride(&self, layer: usize) -> usize {
        let is_dilated = layer == 3 && self.last_dilation > 1;
        if layer == 0 || is_dilated { 1 } else { 2 }
    }
}

impl MobileNetV3Config {
    /// The number of output channels of a part, as `outputs` counts them.
    pub(crate) fn part_channels(&self, part: usize) -> usize {
        match part.checked_sub(1) {
            None => self.stem_channels,
            Some(block) => self
                .blocks
                .get(block)
                .map_or(self.last_channels, |block| block.output_channels),
        }
    }
}
