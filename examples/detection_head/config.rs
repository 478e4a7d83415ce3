//! A model's configuration: a JSON file, or the name of one of torchvision's models.

use std::path::Path;
use std::{fs, io};

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::presets;

/// The number of feature maps of the body, from 1/4 to 1/32 of the picture's size.
pub const BODY_LAYERS: usize = 4;
/// The levels of the feature pyramid: one for each map of the body, and one of half the smallest map's size.
pub const PYRAMID_LEVELS: usize = BODY_LAYERS + 1;

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    pub name: String,
    /// Class 0 is the background.
    pub classes: Vec<String>,
    pub body: Body,
    pub feature_pyramid: FeaturePyramid,
    pub region_proposals: RegionProposals,
    pub box_head: BoxHead,
    pub mask_head: MaskHead,
    pub preprocessing: Preprocessing,
}

/// A ResNet of bottleneck blocks.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Body {
    pub stem_channels: usize,
    /// The channels inside each layer's blocks; a layer's output has four times as many.
    pub bottleneck_channels: [usize; BODY_LAYERS],
    pub blocks: [usize; BODY_LAYERS],
    pub batch_norm_epsilon: f64,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct FeaturePyramid {
    pub channels: usize,
    pub normalized: bool,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RegionProposals {
    pub convolutions: usize,
    /// For each level of the pyramid.
    pub anchor_sizes: Vec<Vec<f64>>,
    pub aspect_ratios: Vec<f64>,
    pub pre_nms_top_n: usize,
    pub post_nms_top_n: usize,
    pub nms_threshold: f64,
    pub score_threshold: f64,
    pub min_size: f64,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct BoxHead {
    pub convolutions: Vec<usize>,
    pub fully_connected: Vec<usize>,
    pub normalized: bool,
    pub pooled_size: usize,
    pub sampling_ratio: usize,
    /// The weights of the box deltas: x, y, width and height.
    pub weights: [f64; 4],
    pub score_threshold: f64,
    pub nms_threshold: f64,
    pub detections_per_image: usize,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct MaskHead {
    pub convolutions: Vec<usize>,
    pub normalized: bool,
    pub predictor_channels: usize,
    pub pooled_size: usize,
    pub sampling_ratio: usize,
    pub mask_threshold: f64,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Preprocessing {
    pub min_size: usize,
    pub max_size: usize,
    pub mean: [f32; 3],
    pub std: [f32; 3],
    pub size_divisible: usize,
}

impl Config {
    /// The preset of that name, or the configuration in that file.
    pub fn read(name_or_path: &Path) -> Result<Self, Error> {
        let preset = name_or_path.to_str().and_then(presets::named);
        let config = match preset {
            Some(config) => config,
            None => Self::from_file(name_or_path)?,
        };
        config.checked(name_or_path)
    }

    fn from_file(path: &Path) -> Result<Self, Error> {
        let text = fs::read_to_string(path).map_err(|error| Error::Config {
            path: path.to_owned(),
            reason: match error.kind() {
                std::io::ErrorKind::NotFound => {
                    format!(
                        "no such file, and no preset of this name ({})",
                        presets::NAMES.join(", ")
                    )
                }
                _ => error.to_string(),
            },
        })?;
        Self::parse(&text, path)
    }

    /// A configuration from the text of a file; errors call it `path`.
    pub fn from_json(text: &str, path: &Path) -> Result<Self, Error> {
        Self::parse(text, path)?.checked(path)
    }

    fn parse(text: &str, path: &Path) -> Result<Self, Error> {
        serde_json::from_str(text).map_err(|error| Error::Config {
            path: path.to_owned(),
            reason: error.to_string(),
        })
    }

    fn checked(self, path: &Path) -> Result<Self, Error> {
        self.check().map_err(|reason| Error::Config {
            path: path.to_owned(),
            reason,
        })?;
        Ok(self)
    }

    /// Writes a JSON file that [`Config::read`] reads.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let text = serde_json::to_string_pretty(self).map_err(io::Error::from);
        text.and_then(|text| fs::write(path, text + "\n"))
            .map_err(|error| Error::WriteFile {
                path: path.to_owned(),
                reason: error.to_string(),
            })
    }

    pub fn label(&self, class: usize) -> &str {
        self.classes.get(class).map_or("?", String::as_str)
    }

    /// Checks that a model can be built of these values; the error names one that is wrong.
    fn check(&self) -> Result<(), String> {
        let proposals = &self.region_proposals;
        let anchors = proposals.anchor_sizes.first().map_or(0, Vec::len);
        let is_positive = |value: &f64| value.is_finite() && *value > 0.0;
        let counts = [
            ("body.stem_channels", self.body.stem_channels),
            ("feature_pyramid.channels", self.feature_pyramid.channels),
            ("box_head.pooled_size", self.box_head.pooled_size),
            ("mask_head.pooled_size", self.mask_head.pooled_size),
            ("mask_head.predictor_channels", self.mask_head.predictor_channels),
            ("preprocessing.min_size", self.preprocessing.min_size),
            ("preprocessing.max_size", self.preprocessing.max_size),
            ("preprocessing.size_divisible", self.preprocessing.size_divisible),
        ];
        let lists: [(&str, &[usize]); 5] = [
            ("body.bottleneck_channels", &self.body.bottleneck_channels),
            ("body.blocks", &self.body.blocks),
            ("box_head.convolutions", &self.box_head.convolutions),
            ("box_head.fully_connected", &self.box_head.fully_connected),
            ("mask_head.convolutions", &self.mask_head.convolutions),
        ];
        let lists = lists
            .into_iter()
            .flat_map(|(name, list)| list.iter().map(move |&count| (name, count)));
        if let Some((name, _)) = counts.into_iter().chain(lists).find(|&(_, count)| count == 0) {
            return Err(format!("{name} must be at least 1"));
        }
        let wrong = [
            (
                self.classes.len() < 2,
                "classes must name the background and at least one class",
            ),
            (
                proposals.anchor_sizes.len() != PYRAMID_LEVELS,
                "region_proposals.anchor_sizes must have a list for each of the 5 levels",
            ),
            (
                anchors == 0 || proposals.anchor_sizes.iter().any(|sizes| sizes.len() != anchors),
                "region_proposals.anchor_sizes must have the same number of sizes, at least one, for each level",
            ),
            (
                !proposals.anchor_sizes.iter().flatten().all(is_positive),
                "region_proposals.anchor_sizes must be positive",
            ),
            (
                proposals.aspect_ratios.is_empty() || !proposals.aspect_ratios.iter().all(is_positive),
                "region_proposals.aspect_ratios must have at least one ratio, and all must be positive",
            ),
            (
                self.box_head.fully_connected.is_empty(),
                "box_head.fully_connected must have at least one layer",
            ),
            (
                !self.box_head.weights.iter().all(is_positive),
                "box_head.weights must be positive",
            ),
            (
                !(self.body.batch_norm_epsilon.is_finite() && self.body.batch_norm_epsilon >= 0.0),
                "body.batch_norm_epsilon must not be negative",
            ),
            (
                !self.preprocessing.std.iter().all(|&std| is_positive(&std.into())),
                "preprocessing.std must be positive",
            ),
        ];
        match wrong.into_iter().find(|&(wrong, _)| wrong) {
            Some((_, reason)) => Err(reason.to_string()),
            None => Ok(()),
        }
    }
}
