//! The weights of a backbone alone, such as those of an ImageNet classifier.

use std::collections::BTreeSet;

use super::detectron2;
use super::error::WeightsError;
use super::names::NameTable;
use super::state_dict::StateDict;
use crate::models::{BodyConfig, Detector, DetectorConfig, shapes};

/// The fields of a backbone: of the body, and of its last layer where that runs on regions.
const FIELDS: [&str; 2] = ["backbone.body.", "roi_heads.layer4."];

/// The starts of the names of layers, after a naming's prefix. A weight of one of these must be one of the detector: a
/// ResNet-101 is not a ResNet-50. What begins otherwise is not of the backbone, such as a classifier.
const LAYERS: [&str; 4] = ["layer", "res", "features", "blocks"];

/// How files name the weights of a backbone.
struct Naming {
    table: NameTable,
    /// What stands before the names of the body and of the last layer in the table, and what stands there in the file.
    prefixes: [(&'static str, &'static str); 2],
}

impl Naming {
    /// torchvision's classifiers and detectors, and detectron2's.
    fn all(config: &DetectorConfig) -> [Self; 4] {
        let torchvision = ["backbone.body.", "roi_heads."];
        let detectron2 = match detectron2::body(config) {
            "backbone.net" => ["backbone.net.", "roi_heads."],
            "backbone.bottom_up" => ["backbone.bottom_up.", "roi_heads."],
            _ => ["backbone.", "roi_heads."],
        };
        let of_classifier = match config.body {
            BodyConfig::ResNet(_) | BodyConfig::ViT(_) | BodyConfig::Custom(_) => "",
            BodyConfig::MobileNetV3(_) => "features.",
        };
        let as_is = |prefixes: [&'static str; 2]| prefixes.map(|prefix| (prefix, prefix));
        let naming = |table, prefixes| Self { table, prefixes };
        [
            naming(
                NameTable::torchvision(config),
                torchvision.map(|prefix| (prefix, of_classifier)),
            ),
            naming(NameTable::torchvision(config), as_is(torchvision)),
            naming(detectron2::names(config), detectron2.map(|prefix| (prefix, ""))),
            naming(detectron2::names(config), as_is(detectron2)),
        ]
    }

    /// The names of a field in a file, or none if it is not of the backbone.
    fn names(&self, field: &str) -> Option<Vec<String>> {
        if !FIELDS.iter().any(|start| field.starts_with(start)) {
            return None;
        }
        let names = self.table.names(field).into_iter().map(|name| {
            let mut prefixes = self.prefixes.iter();
            let in_file = prefixes.find_map(|(prefix, in_file)| Some([in_file, name.strip_prefix(prefix)?].concat()));
            in_file.unwrap_or(name)
        });
        Some(names.collect())
    }

    fn is_of_layer(&self, name: &str) -> bool {
        let mut rests = self.prefixes.iter().filter_map(|(_, in_file)| match *in_file {
            // It is one of LAYERS.
            "features." => Some(name),
            in_file => name.strip_prefix(in_file),
        });
        let begins = |rest: &str| {
            let first = rest.split_once('.').map_or("", |(first, _)| first);
            LAYERS.iter().any(|layer| first.starts_with(layer))
        };
        rests.any(begins)
    }
}

impl StateDict {
    /// Puts the weights of the backbone into a detector, in f32. The pyramid and the heads stay as they are. A training
    /// begins so from an ImageNet classifier:
    ///
    /// - torchvision's classifiers, such as `resnet50-0676ba61.pth`, for torchvision's detectors. In the config,
    ///   [`batch_norm_epsilon`](crate::models::ResNetConfig::batch_norm_epsilon) must be 1e-5.
    /// - detectron2's `R-50.pkl`, `R-101.pkl`, `X-101-32x8d.pkl` and `R-50-GN.pkl`, as
    ///   [`Checkpoint::read`](detectron2::Checkpoint::read) reads them, for detectron2's models.
    /// - The vision transformers that ViTDet trains from, such as `mae_pretrain_vit_base.pth`, as
    ///   [`Checkpoint::read`](detectron2::Checkpoint::read) reads them. Relative positions, which they lack, stay as
    ///   they are.
    /// - A whole detector of torchvision or detectron2, whose backbone alone is used.
    ///
    /// Weights that are not of the backbone, such as the classifier's `fc.weight`, are left out. The naming is the one
    /// that finds the most weights. Pictures must be as those that the backbone was trained on: their channels, mean
    /// and standard deviation are in the config.
    ///
    /// ```no_run
    /// use burn::tensor::Device;
    /// use burn_roi_detection::models::Detector;
    /// use burn_roi_detection::weights::detectron2::{self, Checkpoint};
    ///
    /// fn main() -> Result<(), Box<dyn std::error::Error>> {
    ///     let config = detectron2::named("COCO-Detection/faster_rcnn_R_50_FPN_3x").ok_or("no such model")?;
    ///     let mut detector = Detector::try_new(config, &Device::default())?;
    ///     Checkpoint::read("R-50.pkl")?.into_state_dict().load_backbone_into(&mut detector)?;
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`load_into`](Self::load_into). A weight of a layer that the detector does not have, such as those of a
    /// deeper ResNet, is one of the differences. The detector stays as it is.
    pub fn load_backbone_into(self, detector: &mut Detector) -> Result<(), WeightsError> {
        let found = |naming: &Naming| self.count(detector, |field| naming.names(field));
        // The first of the best, since `max_by_key` returns the last.
        let naming = Naming::all(detector.config()).into_iter().rev().max_by_key(found);
        let Some(naming) = naming else {
            return Ok(());
        };
        let absent = self.absent_positions(detector, &naming);
        let names = |field: &str| naming.names(field).filter(|_| !absent.contains(field));
        self.load_fields(detector, names, |name| naming.is_of_layer(name))
    }

    /// The relative positions of a vision transformer that these weights lack, as those of a classifier do. They begin
    /// with zeros.
    fn absent_positions(&self, detector: &Detector, naming: &Naming) -> BTreeSet<String> {
        let BodyConfig::ViT(_) = detector.config().body else {
            return BTreeSet::new();
        };
        let is_absent = |field: &String| {
            let mut names = naming.names(field).into_iter().flatten();
            field.contains(".attn.rel_pos_") && !names.any(|name| self.tensors.contains_key(&name))
        };
        shapes(detector.model()).into_keys().filter(is_absent).collect()
    }

    /// What names these weights have: [`NameTable::torchvision`], or [`detectron2::names`] if more of the detector's
    /// weights are found under those.
    ///
    /// ```
    /// use burn::tensor::Device;
    /// use burn_roi_detection::models::{Detector, DetectorConfig};
    /// use burn_roi_detection::weights::{NameTable, StateDict};
    ///
    /// # let mut config = DetectorConfig::named("fasterrcnn_mobilenet_v3_large_320_fpn").unwrap();
    /// # config.box_head.fully_connected = vec![4];
    /// # let mut detector = Detector::new(config, &Device::default());
    /// # let state = StateDict::of(&detector, NameTable::torchvision).unwrap();
    /// // Of any of the files that are read here.
    /// let names = state.naming(&detector);
    /// state.load_into(&mut detector, names).unwrap();
    /// ```
    pub fn naming(&self, detector: &Detector) -> fn(&DetectorConfig) -> NameTable {
        let found = |names: fn(&DetectorConfig) -> NameTable| {
            let table = names(detector.config());
            self.count(detector, |field| Some(table.names(field)))
        };
        match found(detectron2::names) > found(NameTable::torchvision) {
            true => detectron2::names,
            false => NameTable::torchvision,
        }
    }

    /// How many of a detector's weights are found under names.
    fn count(&self, detector: &Detector, names: impl Fn(&str) -> Option<Vec<String>>) -> usize {
        let is_there = |names: &Vec<String>| names.iter().any(|name| self.tensors.contains_key(name));
        let fields = shapes(detector.model()).into_keys();
        fields.filter_map(|field| names(&field)).filter(is_there).count()
    }
}
