//! Checks that a model can be built of a config.

use super::{BodyConfig, CustomBodyConfig, DetectorConfig, MobileNetV3Config, ResNetConfig, ViTConfig};
use crate::NormKind;
use crate::arguments::{check, not_nan, option, weights};
use crate::error::DetectionError;

/// With the limits of numbers of layers and of sides, the numbers of a model are far below 2^63.
const MOST_CHANNELS: usize = 1 << 15;

type Checked = Result<(), DetectionError>;

impl DetectorConfig {
    /// Checks that a model can be built from this config, as [`Detector::try_new`](crate::models::Detector::try_new)
    /// does.
    ///
    /// # Errors
    ///
    /// `RoiError::Option`: the first field whose value is out of its range, by its path, such as
    /// `box_head.pooled_size`.
    pub fn check(&self) -> Result<(), DetectionError> {
        let names = self.classes.len();
        let value = format!("a list of {names} names");
        check("classes", names <= MOST_CHANNELS, value, "of 32768 names at most")?;
        let listed = format!("{:?}", self.classes);
        check("classes", names >= 2, listed, "the background and at least one class")?;
        match &self.body {
            BodyConfig::ResNet(body) => resnet(body)?,
            BodyConfig::MobileNetV3(body) => mobilenet(body)?,
            BodyConfig::ViT(body) => vit(body, self.preprocessing.size_divisible)?,
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
                let expected = "false, unless the body's last map has at least 4 channels";
                check("feature_pyramid.simple", channels >= 4, true, expected)?;
                normalized.push(channels / 2);
            }
            norm("feature_pyramid.norm", pyramid.norm, &normalized)?;
            self.check_no_layer_on_regions("false with a feature pyramid, which reads the last layer's map")?;
        }
        Ok(())
    }

    fn check_no_layer_on_regions(&self, expected: &'static str) -> Checked {
        let fits = self.layer_on_regions().is_none();
        check("body.last_layer_on_regions", fits, true, expected)
    }

    fn check_region_proposals(&self) -> Checked {
        let proposals = &self.region_proposals;
        let sizes = &proposals.anchor_sizes;
        let anchors = sizes.first().map_or(0, Vec::len);
        layers("region_proposals.convolutions", proposals.convolutions)?;
        let field = "region_proposals.anchor_sizes";
        let value = format!("a list of {} lists", sizes.len());
        let expected = "a list for each level: one a map of the body and one more, 5 of a simple pyramid, or one \
                        without a pyramid";
        check(field, sizes.len() == self.levels(), value, expected)?;
        if anchors == 0 || sizes.iter().any(|sizes| sizes.len() != anchors) {
            let expected = "the same number of sizes for each level, at least one";
            return Err(option(field, format!("{sizes:?}"), expected));
        }
        let ratios = proposals.aspect_ratios.len();
        check("region_proposals.aspect_ratios", ratios > 0, "[]", "at least one ratio")?;
        let fits = anchors.saturating_mul(ratios) <= 1024;
        let value = format!("{anchors} sizes of {ratios} ratios");
        check(field, fits, value, "of 1024 anchors of a pixel at most")?;
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
        let has_layers = !head.fully_connected.is_empty() || self.layer_on_regions().is_some();
        let expected = "at least one layer, unless the body's last layer runs on regions";
        check("box_head.fully_connected", has_layers, "[]", expected)?;
        not_nan("box_head.score_threshold", head.score_threshold)?;
        not_nan("box_head.nms_threshold", head.nms_threshold)?;
        not_nan("box_head.min_size", head.min_size)?;
        if !head.later_stages.is_empty() {
            self.check_cascade()?;
        }
        weights("box_head.weights", &head.weights)
    }

    fn check_cascade(&self) -> Checked {
        let agnostic = self.box_head.class_agnostic_regression;
        let expected = "true with `box_head.later_stages`";
        check("box_head.class_agnostic_regression", agnostic, false, expected)?;
        self.check_no_layer_on_regions("false with `box_head.later_stages`")?;
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
            self.check_no_layer_on_regions("false with a keypoint head, which pools the feature pyramid")?;
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
        // Without strides, the scale of a map follows from the picture's size without its padding.
        let scaled = preprocessing.square_pad.is_none() || self.region_proposals.anchor_strides.is_some();
        let expected = "null, unless there are `region_proposals.anchor_strides`";
        check("preprocessing.square_pad", scaled, square, expected)?;
        let is_positive = |value: &f32| value.is_finite() && *value > 0.0;
        let (mean, std, maximum) = (preprocessing.mean, preprocessing.std, preprocessing.maximum);
        let finite = mean.iter().all(|mean| mean.is_finite());
        check("preprocessing.mean", finite, format!("{mean:?}"), "finite")?;
        let positive = std.iter().all(is_positive);
        check("preprocessing.std", positive, format!("{std:?}"), "finite and above 0")?;
        let positive = is_positive(&maximum);
        check("preprocessing.maximum", positive, maximum, "finite and above 0")
    }
}

fn resnet(body: &ResNetConfig) -> Checked {
    channels("body.stem_channels", body.stem_channels)?;
    each_layer("body.bottleneck_channels", &body.bottleneck_channels)?;
    for blocks in body.blocks {
        layers("body.blocks", blocks)?;
    }
    for &outputs in body.output_channels.iter().flatten() {
        channels("body.output_channels", outputs)?;
    }
    epsilon("body.batch_norm_epsilon", body.batch_norm_epsilon)?;
    let normalized = [
        &[body.stem_channels][..],
        &body.bottleneck_channels,
        &body.layer_channels(),
    ];
    norm("body.norm", Some(body.norm), &normalized.concat())?;
    side("body.last_dilation", body.last_dilation)?;
    let fits = divides(body.groups, &body.bottleneck_channels);
    let expected = "at least 1, and a divisor of each of `body.bottleneck_channels`";
    check("body.groups", fits, body.groups, expected)
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
        let is_odd = block.kernel_size % 2 == 1;
        check("body.blocks.kernel_size", is_odd, block.kernel_size, "odd")?;
    }
    let increase = body.outputs.windows(2).all(|pair| pair[0] < pair[1]);
    let exist = body.outputs.iter().all(|&part| part <= body.blocks.len() + 1);
    let fits = !body.outputs.is_empty() && increase && exist;
    let expected = "at least one part, in increasing order, at most the number of blocks plus 1";
    check("body.outputs", fits, format!("{:?}", body.outputs), expected)
}

/// - `size_divisible`: the sides of the input are multiples of it.
fn vit(body: &ViTConfig, size_divisible: usize) -> Checked {
    channels("body.channels", body.channels)?;
    layers("body.blocks", body.blocks)?;
    side("body.patch_size", body.patch_size)?;
    // The levels of a simple pyramid have strides from a quarter of it on, which are powers of two.
    let fits = body.patch_size >= 4 && body.patch_size.is_power_of_two();
    check("body.patch_size", fits, body.patch_size, "a power of two, at least 4")?;
    within("body.window_size", body.window_size, 64, "from 1 to 64")?;
    channels("body.hidden_channels", body.hidden_channels.unwrap_or(1))?;
    epsilon("body.norm_epsilon", body.norm_epsilon)?;
    let expected = "at least 1, and a divisor of `body.channels`";
    let fits = divides(body.heads, &[body.channels]);
    check("body.heads", fits, body.heads, expected)?;
    let fits = body.global_blocks.iter().all(|&block| block < body.blocks);
    let value = format_args!("{:?}", body.global_blocks);
    check("body.global_blocks", fits, value, "less than `body.blocks` each")?;
    for (field, size) in [
        ("body.input_size", body.input_size),
        ("body.pretrained_size", body.pretrained_size.unwrap_or(body.patch_size)),
    ] {
        let fits = (body.patch_size..=MOST_CHANNELS).contains(&size);
        check(field, fits, size, "from `body.patch_size` to 32768")?;
    }
    let fits = size_divisible.is_multiple_of(body.patch_size);
    let expected = "a multiple of `body.patch_size`";
    check("preprocessing.size_divisible", fits, size_divisible, expected)
}

fn custom(body: &CustomBodyConfig) -> Checked {
    layers("body.maps", body.maps.len())?;
    body.maps
        .iter()
        .try_for_each(|map| channels("body.maps.channels", map.channels))
}

/// The norm of layers with these numbers of channels.
fn norm(field: &'static str, kind: Option<NormKind>, channels: &[usize]) -> Checked {
    let Some(NormKind::Group(groups)) = kind else {
        return Ok(());
    };
    let expected = "a divisor of the number of channels of each layer that is normalized";
    check(field, divides(groups, channels), format!("{groups} groups"), expected)
}

fn divides(groups: usize, channels: &[usize]) -> bool {
    groups > 0 && channels.iter().all(|channels| channels.is_multiple_of(groups))
}

fn epsilon(field: &'static str, value: f64) -> Checked {
    check(field, value.is_finite() && value >= 0.0, value, "finite, 0 or above")
}

fn at_least_1(field: &'static str, value: usize) -> Checked {
    check(field, value > 0, value, "at least 1")
}

/// Channels of a layer, the classes or the keypoints. The widest published ResNet has 8192.
fn channels(field: &'static str, value: usize) -> Checked {
    within(field, value, MOST_CHANNELS, "from 1 to 32768")
}

/// The number of layers or blocks in a row. A ResNet-152 has 36.
fn layers(field: &'static str, value: usize) -> Checked {
    within(field, value, 128, "from 1 to 128")
}

/// A side in pixels of a pooled region, a kernel, or a step.
fn side(field: &'static str, value: usize) -> Checked {
    within(field, value, 1024, "from 1 to 1024")
}

fn within(field: &'static str, value: usize, most: usize, expected: &'static str) -> Checked {
    check(field, (1..=most).contains(&value), value, expected)
}

/// The channels of layers in a row.
fn each_layer(field: &'static str, values: &[usize]) -> Checked {
    let value = format!("a list of {} layers", values.len());
    check(field, values.len() <= 128, value, "of 128 layers at most")?;
    values.iter().try_for_each(|&value| channels(field, value))
}
