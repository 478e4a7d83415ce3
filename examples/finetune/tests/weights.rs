//! What a run begins with: torchvision's and detectron2's weights, and backbones alone.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use burn::tensor::Device;
use burn_roi_detection::models::{BodyConfig, Detector, DetectorConfig};
use burn_roi_detection::weights::{NameTable, StateDict, detectron2};
use find_objects::config;

use super::pickle::{Pickle, Tensors};
use super::{Short, on_large_stack};
use crate::{detector, prepare};

/// detectron2's Mask R-CNN with FPN and few channels, as a training writes its `config.yaml`.
const YAML: &str = "MODEL:
  MASK_ON: true
  BACKBONE: {NAME: build_resnet_fpn_backbone}
  RESNETS:
    {OUT_FEATURES: [res2, res3, res4, res5], STEM_OUT_CHANNELS: 4, RES2_OUT_CHANNELS: 8, WIDTH_PER_GROUP: 2}
  FPN: {IN_FEATURES: [res2, res3, res4, res5], OUT_CHANNELS: 4}
  ANCHOR_GENERATOR: {SIZES: [[32], [64], [128], [256], [512]]}
  RPN: {IN_FEATURES: [p2, p3, p4, p5, p6], PRE_NMS_TOPK_TEST: 100, POST_NMS_TOPK_TEST: 20}
  ROI_HEADS: {NAME: StandardROIHeads, IN_FEATURES: [p2, p3, p4, p5], NUM_CLASSES: 3}
  ROI_BOX_HEAD: {NUM_FC: 2, FC_DIM: 8, POOLER_RESOLUTION: 7}
  ROI_MASK_HEAD: {NUM_CONV: 2, CONV_DIM: 4}
INPUT: {MIN_SIZE_TEST: 64, MAX_SIZE_TEST: 96}
";

fn tensors(detector: &Detector, names: fn(&DetectorConfig) -> NameTable) -> Tensors {
    StateDict::of(detector, names).unwrap().tensors
}

/// The weights as `model_final.pkl`, with what else detectron2 puts there.
fn checkpoint(weights: &Tensors) -> Vec<u8> {
    let pickle = Pickle { is_python_2: false };
    let mut weights = weights.clone();
    weights.insert("pixel_mean".to_string(), [103.53_f32, 116.28, 123.675].into());
    let model = [pickle.text("model"), pickle.dictionary(&weights), b"s".to_vec()].concat();
    pickle.file(&[b"}".to_vec(), model].concat())
}

/// A run on detectron2's model, with the checkpoint of a detector.
fn of_detectron2(name: &str) -> (Short, Detector) {
    let mut short = Short::new(name, &[]);
    short.arguments.steps = NonZeroUsize::MIN;
    short.arguments.config = short.write("config.yaml", YAML);
    let trained = Detector::new(config::read(&short.arguments.config).unwrap(), &Device::flex());
    let weights = tensors(&trained, detectron2::names);
    short.arguments.weights = Some(short.write("model_final.pkl", checkpoint(&weights)));
    (short, trained)
}

/// A training of detectron2's model, and what it writes: the file, and torchvision's names in it, are read again.
#[test]
fn a_checkpoint_of_detectron2() {
    on_large_stack(|| {
        let (mut short, trained) = of_detectron2("detectron2");
        let (detector, ..) = prepare(&short.arguments).unwrap();
        assert_eq!(detector.config().classes, ["coin", "__background__"]);
        let (expected, found) = (
            tensors(&trained, NameTable::torchvision),
            tensors(&detector, NameTable::torchvision),
        );
        let new = ["roi_heads.box_predictor.", "roi_heads.mask_predictor.mask_fcn_logits."];
        for (name, data) in &expected {
            let is_new = new.iter().any(|start| name.starts_with(start));
            assert_eq!(found[name] == *data, !is_new, "{name}");
        }
        crate::run(&short.arguments).unwrap();
        let [config, weights] = ["config.json", "weights.safetensors"].map(|name| short.arguments.output.join(name));
        short.arguments.config = config;
        short.arguments.weights = Some(weights);
        crate::evaluate_only(&short.arguments).unwrap();
    });
}

#[test]
fn names_and_files_of_configurations() {
    let read = |name: &str| config::read(&PathBuf::from(name));
    for name in [
        "maskrcnn_resnet50_fpn",
        "COCO-InstanceSegmentation/mask_rcnn_R_50_FPN_3x",
        "COCO-Detection/faster_rcnn_R_101_FPN_3x",
    ] {
        assert_eq!(read(name).unwrap().name, name);
    }
    let error = read("COCO-Detection/retinanet_R_50_FPN_1x").unwrap_err().to_string();
    assert!(error.contains("no model of this name (") && error.contains("COCO-Detection/faster_rcnn_R_50_C4_1x"));
    let short = Short::new("yaml", &[]);
    let path = short.write("config.yaml", YAML.replace("RES2_OUT", "RES9_OUT"));
    let error = config::read(&path).unwrap_err().to_string();
    assert!(
        error.starts_with("the configuration ") && error.contains("`MODEL.RESNETS.RES9_OUT_CHANNELS` is 8"),
        "{error}"
    );
}

#[test]
fn a_checkpoint_that_does_not_fit() {
    let (mut short, trained) = of_detectron2("misfit");
    let mut weights = tensors(&trained, detectron2::names);
    weights.remove("backbone.fpn_lateral2.weight").unwrap();
    short.arguments.weights = Some(short.write("model_final.pkl", checkpoint(&weights)));
    let error = prepare(&short.arguments).unwrap_err().to_string();
    assert!(
        error.contains("1 tensor missing from the file:\n    backbone.fpn_lateral2.weight"),
        "{error}"
    );
    short.arguments.weights = Some(short.write("model_final.pkl", b"text"));
    let error = prepare(&short.arguments).unwrap_err().to_string();
    assert!(
        error.starts_with("cannot read the checkpoint ") && error.contains("model_final.pkl"),
        "{error}"
    );
}

/// A backbone for one of torchvision's configurations, whose norms add 0 to the variance for published weights.
#[test]
fn a_backbone_alone() {
    on_large_stack(|| {
        let mut short = Short::new("backbone", &[]);
        short.arguments.steps = NonZeroUsize::MIN;
        let mut config = config::read(&short.arguments.config).unwrap();
        let BodyConfig::ResNet(body) = &mut config.body else {
            panic!("{:?}", config.body);
        };
        body.batch_norm_epsilon = 0.0;
        let trained = tensors(&Detector::new(config.clone(), &Device::flex()), NameTable::torchvision);
        let backbone = trained.iter().filter_map(|(name, data)| {
            let name = name.strip_prefix("backbone.body.")?;
            Some((name.to_string(), data.clone()))
        });
        let mut backbone = StateDict {
            tensors: backbone.collect(),
        };
        backbone.tensors.insert("fc.weight".to_string(), [0.5_f32; 4].into());
        let path = short.folder.join("resnet50.safetensors");
        backbone.write(&path).unwrap();
        short.arguments.config = short.write("config.json", serde_json::to_vec(&config).unwrap());
        short.arguments.backbone = Some(path.clone());
        let device = Device::flex();
        let detector = detector::load(&short.arguments, &device).unwrap();
        assert!(matches!(&detector.config().body, BodyConfig::ResNet(body) if body.batch_norm_epsilon == 1e-5));
        for (name, data) in tensors(&detector, NameTable::torchvision) {
            // New biases may be 0, as those of the trained detector.
            if name.starts_with("backbone.body.") || name.contains("weight") && !name.contains("norm") {
                assert_eq!(data == trained[&name], name.starts_with("backbone.body."), "{name}");
            }
        }
        crate::run(&short.arguments).unwrap();

        backbone.tensors.remove("layer1.0.conv2.weight").unwrap();
        backbone.write(&path).unwrap();
        let error = detector::load(&short.arguments, &device).unwrap_err().to_string();
        assert!(
            error.contains("1 tensor missing from the file:\n    layer1.0.conv2.weight"),
            "{error}"
        );
    });
}
