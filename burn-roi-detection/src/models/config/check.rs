//! Checks that a model can be built of a config.

use super::{BodyConfig, CustomBodyConfig, DetectorConfig, MobileNetV3Config, ResNetConfig};
use crate::NormKind;
use crate::arguments::{check, not_nan, option, weights};
use crate::error::DetectionError;

/// With the limits of numbers of layers and of sides, the numbers of a model are far below 2^63.
const MOST_CHANNELS: usize = 1 << 15;

pub(super) type Checked = Result<(), DetectionError>;

impl DetectorConfig {
    /// Checks that a model can be built from this config, as [`Detector::try_new`](crate::models::Detector::try_new)
    /// does.
    ///
    /// # Errors
    ///
    /// `RoiError::Option`: the first field whose value is out of its range, by its path, such as
    /// `box_head.pooled_size`.
    pub fn check(&self) -> Result<(), DetectionError> {
        if self.classes.len() < 2 {
            let expected = "the background and at least one class";
            return Err(option("classes", format!("{:?}", self.classes), expected));
        }
        if self.classes.len() > MOST_CHANNELS {
            let value = format!("a list of {} names", self.classes.len());
            return Err(option("classes", value, "of 32768 names at most"));
        }
        match &self.body {
            BodyConfig::ResNet(body) => resnet(body)?,
            BodyConfig::MobileNetV3(body) => mobilenet(body)?,
            BodyConfig::ViT(body) => body.check(self.preprocessing.size_divisible)?,
            BodyConfig::Custom(body) => custom(body)?,
        }
        self.check_pyramid()?;
        self.check_region_proposals()?;
        self.check_box_head()?;
        self.check_masks_and_keypoints()?;
        self.check_preprocessing()
    }

    fn check_pyramid(&self) -> Checked {
        if let Some(pyramid) = &self.feature_pyramid {
            channels("feature_pyramid.channels", pyramid.channels)?;
            let mut normalized = vec![pyramid.channels];
            if pyramid.simple {
                let channels = self.map_channels().last().copied().unwrap_or_default();
                if channels < 4 {
                    let expected = "false, unless the body's last map has at least 4 channels";
                    return Err(option("feature_pyramid.simple", true, expected));
                }
                normalized.push(channels / 2);
            }
            norm("feature_pyramid.norm", pyramid.norm, &normalized)?;
            if self.layer_on_regions().is_some() {
                let expected = "false with a feature pyramid, which reads the last layer's map";
                return Err(option("body.last_layer_on_regions", true, expected));
            }
        }
        Ok(())
    }

    fn check_region_proposals(&self) -> Checked {
        let proposals = &self.region_proposals;
        let sizes = &proposals.anchor_sizes;
        let anchors = sizes.first().map_or(0, Vec::len);
        layers("region_proposals.convolutions", proposals.convolutions)?;
        if sizes.len() != self.levels() {
            let value = format!("a list of {} lists", sizes.len());
            let expected = "a list for each level: one a map of the body and one more, 5 of a simple pyramid, or one \
                            without a pyramid";
            return Err(option("region_proposals.anchor_sizes", value, expected));
        }
        if anchors == 0 || sizes.iter().any(|sizes| sizes.len() != anchors) {
            let expected = "the same number of sizes for each level, at least one";
            return Err(option("region_proposals.anchor_sizes", format!("{sizes:?}"), expected));
        }
        if proposals.aspect_ratios.is_empty() {
            return Err(option("region_proposals.aspect_ratios", "[]", "at least one ratio"));
        }
        if anchors.saturating_mul(proposals.aspect_ratios.len()) > 1024 {
            let value = format!("{} sizes of {} ratios", anchors, proposals.aspect_ratios.len());
            return Err(option(
                "region_proposals.anchor_sizes",
                value,
                "of 1024 anchors of a pixel at most",
            ));
        }
        not_nan("region_proposals.nms_threshold", proposals.nms_threshold)?;
        not_nan("region_proposals.score_threshold", proposals.score_threshold)?;
        not_nan("region_proposals.min_size", proposals.min_size)?;
        weights("region_proposals.weights", &proposals.weights)
    }

    fn check_box_head(&self) -> Checked {
        let head = &self.box_head;
        side("box_head.pooled_size", head.pooled_size)?;
        each_layer("box_head.convolutions", &head.convolutions)?;
        norm("box_head.norm", head.norm, &head.convolutions)?;
        each_layer("box_head.fully_connected", &head.fully_connected)?;
        if head.fully_connected.is_empty() && self.layer_on_regions().is_none() {
            let expected = "at least one layer, unless the body's last layer runs on regions";
            return Err(option("box_head.fully_connected", "[]", expected));
        }
        not_nan("box_head.score_threshold", head.score_threshold)?;
        not_nan("box_head.nms_threshold", head.nms_threshold)?;
        not_nan("box_head.min_size", head.min_size)?;
        if !head.later_stages.is_empty() {
            self.check_cascade()?;
        }
        weights("box_head.weights", &head.weights)
    }

    fn check_cascade(&self) -> Checked {
        if !self.box_head.class_agnostic_regression {
            let expected = "true with `box_head.later_stages`";
            return Err(option("box_head.class_agnostic_regression", false, expected));
        }
        if self.layer_on_regions().is_some() {
            let expected = "false with `box_head.later_stages`";
            return Err(option("body.last_layer_on_regions", true, expected));
        }
        layers("box_head.later_stages", self.box_head.later_stages.len())?;
        self.box_head
            .later_stages
            .iter()
            .try_for_each(|stage| weights("box_head.later_stages", stage))
    }

    fn check_masks_and_keypoints(&self) -> Checked {
        if let Some(head) = &self.mask_head {
            side("mask_head.pooled_size", head.pooled_size)?;
            channels("mask_head.predictor_channels", head.predictor_channels)?;
            each_layer("mask_head.convolutions", &head.convolutions)?;
            norm("mask_head.norm", head.norm, &head.convolutions)?;
            not_nan("mask_head.mask_threshold", head.mask_threshold)?;
        }
        if let Some(head) = &self.keypoint_head {
            side("keypoint_head.pooled_size", head.pooled_size)?;
            each_layer("keypoint_head.convolutions", &head.convolutions)?;
            channels("keypoint_head.keypoints", head.keypoints.len())?;
            if self.layer_on_regions().is_some() {
                let expected = "false with a keypoint head, which pools the feature pyramid";
                return Err(option("body.last_layer_on_regions", true, expected));
            }
        }
        Ok(())
    }

    fn check_preprocessing(&self) -> Checked {
        let preprocessing = &self.preprocessing;
        at_least_1("preprocessing.min_size", preprocessing.min_size)?;
        at_least_1("preprocessing.max_size", preprocessing.max_size)?;
        side("preprocessing.size_divisible", preprocessing.size_divisible)?;
        let square = preprocessing.square_pad.unwrap_or(1);
        within("preprocessing.square_pad", square, MOST_CHANNELS, "from 1 to 32768")?;
        if preprocessing.square_pad.is_some() && self.region_proposals.anchor_strides.is_none() {
            // Without strides, the scale of a map follows from the picture's size without its padding.
            let expected = "null, unless there are `region_proposals.anchor_strides`";
            return Err(option("preprocessing.square_pad", square, expected));
        }
        let is_positive = |value: &f32| value.is_finite() && *value > 0.0;
        if !preprocessing.mean.iter().all(|mean| mean.is_finite()) {
            let value = format!("{:?}", preprocessing.mean);
            return Err(option("preprocessing.mean", value, "finite"));
        }
        if !preprocessing.std.iter().all(is_positive) {
            let value = format!("{:?}", preprocessing.std);
            return Err(option("preprocessing.std", value, "finite and above 0"));
        }
        if !is_positive(&preprocessing.maximum) {
            let value = preprocessing.maximum;
            return Err(option("preprocessing.maximum", value, "finite and above 0"));
        }
        Ok(())
    }
}

fn resnet(body: &ResNetConfig) -> Checked {
    channels("body.stem_channels", body.stem_channels)?;
    each_layer("body.bottleneck_channels", &body.bottleneck_channels)?;
    body.blocks
        .iter()
        .try_for_each(|&blocks| layers("body.blocks", blocks))?;
    let outputs = body.output_channels.iter().flatten();
    outputs
        .into_iter()
        .try_for_each(|&outputs| channels("body.output_channels", outputs))?;
    epsilon("body.batch_norm_epsilon", body.batch_norm_epsilon)?;
    let normalized = [
        &[body.stem_channels][..],
        &body.bottleneck_channels,
        &body.layer_channels(),
    ];
    norm("body.norm", Some(body.norm), &normalized.concat())?;
    side("body.last_dilation", body.last_dilation)?;
    let mut widths = body.bottleneck_channels.iter();
    if !widths.all(|&channels| divides(body.groups, channels)) {
        let expected = "at least 1, and a divisor of each of `body.bottleneck_channels`";
        return Err(option("body.groups", body.groups, expected));
    }
    Ok(())
}

fn mobilenet(body: &MobileNetV3Config) -> Checked {
    channels("body.stem_channels", body.stem_channels)?;
    channels("body.last_channels", body.last_channels)?;
    epsilon("body.batch_norm_epsilon", body.batch_norm_epsilon)?;
    layers("body.blocks", body.blocks.len())?;
    for block in &body.blocks {
        channels("body.blocks.expanded_channels", block.expanded_channels)?;
        channels("body.blocks.output_channels", block.output_channels)?;
        channels("body.blocks.squeeze_channels", block.squeeze_channels.unwrap_or(1))?;
        side("body.blocks.stride", block.stride)?;
        side("body.blocks.kernel_size", block.kernel_size)?;
        if block.kernel_size % 2 == 0 {
            return Err(option("body.blocks.kernel_size", block.kernel_size, "odd"));
        }
    }
    let increase = body.outputs.windows(2).all(|pair| pair[0] < pair[1]);
    let exist = body.outputs.iter().all(|&part| part <= body.blocks.len() + 1);
    if body.outputs.is_empty() || !increase || !exist {
        let expected = "at least one part, in increasing order, at most the number of blocks plus 1";
        return Err(option("body.outputs", format!("{:?}", body.outputs), expected));
    }
    Ok(())
}

fn custom(body: &CustomBodyConfig) -> Checked {
    layers("body.maps", body.maps.len())?;
    body.maps
        .iter()
        .try_for_each(|map| channels("body.maps.channels", map.channels))
}

/// The norm of layers with these numbers of channels.
fn norm(field: &'static str, kind: Option<NormKind>, channels: &[usize]) -> Checked {
    match kind {
        Some(NormKind::Group(groups)) if groups == 0 || !channels.iter().all(|&channels| divides(groups, channels)) => {
            let expected = "a divisor of the number of channels of each layer that is normalized";
            Err(option(field, format!("{groups} groups"), expected))
        }
        _ => Ok(()),
    }
}

pub(super) fn divides(groups: usize, channels: usize) -> bool {
    groups > 0 && channels.is_multiple_of(groups)
}

pub(super) fn epsilon(field: &'static str, value: f64) -> Checked {
    check(field, value.is_finite() && value >= 0.0, value, "finite, 0 or above")
}

fn at_least_1(field: &'static str, value: usize) -> Checked {
    check(field, value > 0, value, "at least 1")
}

/// Channels of a layer, the classes or the keypoints. The widest published ResNet has 8192.
pub(super) fn channels(field: &'static str, value: usize) -> Checked {
    within(field, value, MOST_CHANNELS, "from 1 to 32768")
}

/// The number of layers or blocks in a row. A ResNet-152 has 36.
pub(super) fn layers(field: &'static str, value: usize) -> Checked {
    within(field, value, 128, "from 1 to 128")
}

/// A side in pixels of a pooled region, a kernel, or a step.
pub(super) fn side(field: &'static str, value: usize) -> Checked {
    within(field, value, 1024, "from 1 to 1024")
}

pub(super) fn within(field: &'static str, value: usize, most: usize, expected: &'static str) -> Checked {
    check(field, (1..=most).contains(&value), value, expected)
}

/// The channels of layers in a row.
fn each_layer(field: &'static str, values: &[usize]) -> Checked {
    if values.len() > 128 {
        let value = format!("a list of {} layers", values.len());
        return Err(option(field, value, "of 128 layers at most"));
    }
    values.iter().try_for_each(|&value| channels(field, value))
}
