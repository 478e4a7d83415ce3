//! What a run begins with: torchvision's and detectron2's weights, and backbones alone.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use burn::tensor::{Device, TensorData};
use burn_roi_detection::models::{BodyConfig, Detector};
use burn_roi_detection::weights::{NameTable, StateDict};
use find_objects::config;

use super::detectron2_run::{YAML, checkpoint, weights};
use super::{Short, on_large_stack};
use crate::{detector, prepare};

/// The weights of a detector under torchvision's names.
fn tensors(detector: &Detector) -> BTreeMap<String, TensorData> {
    StateDict::of(detector, NameTable::torchvision).unwrap().tensors
}

/// A run on detectron2's model, with the checkpoint of a detector.
fn of_detectron2(name: &str, yaml: &str) -> (Short, Detector) {
    let mut short = Short::new(name, &[]);
    short.arguments.steps = NonZeroUsize::MIN;
    short.arguments.config = short.write("config.yaml", yaml);
    let trained = Detector::new(config::read(&short.arguments.config).unwrap(), &Device::flex());
    short.arguments.weights = Some(short.write("model_final.pkl", checkpoint(weights(&trained))));
    (short, trained)
}

/// A training of detectron2's model, and what it writes: the file, and torchvision's names in it, are read again.
#[test]
fn a_checkpoint_of_detectron2() {
    on_large_stack(|| learns_coins("detectron2", YAML));
}

#[test]
fn a_cascade_of_detectron2() {
    on_large_stack(|| {
        let yaml = YAML.replace("StandardROIHeads", "CascadeROIHeads");
        learns_coins(
            "cascade",
            &yaml.replace("ROI_BOX_HEAD: {", "ROI_BOX_HEAD: {CLS_AGNOSTIC_BBOX_REG: true, "),
        );
    });
}

fn learns_coins(name: &str, yaml: &str) {
    let (mut short, trained) = of_detectron2(name, yaml);
    let (detector, ..) = prepare(&short.arguments).unwrap();
    assert_eq!(detector.config().classes, ["coin", "__background__"]);
    let (expected, found) = (tensors(&trained), tensors(&detector));
    let new = [".box_predictor.", ".mask_predictor.mask_fcn_logits."];
    for (name, data) in &expected {
        let is_new = new.iter().any(|part| name.contains(part));
        assert_eq!(found[name] == *data, !is_new, "{name}");
    }
    crate::run(&short.arguments).unwrap();
    let [config, weights] = ["config.json", "weights.safetensors"].map(|name| short.arguments.output.join(name));
    short.arguments.config = config;
    short.arguments.weights = Some(weights);
    crate::evaluate_only(&short.arguments).unwrap();
}

#[test]
fn names_and_files_of_configurations() {
    let read = |name: &str| config::read(name);
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
    let (mut short, trained) = of_detectron2("misfit", YAML);
    let mut weights = weights(&trained);
    weights.remove("backbone.fpn_lateral2.weight").unwrap();
    short.arguments.weights = Some(short.write("model_final.pkl", checkpoint(weights)));
    let error = prepare(&short.arguments).unwrap_err().to_string();
    assert!(
        error.contains("1 tensor missing from the file:\n    backbone.fpn_lateral2.weight"),
        "{error}"
    );
    short.arguments.weights = Some(short.write("model_final.pkl", b"text"));
    let error = prepare(&short.arguments).unwrap_err().to_string();
    assert!(
        error.starts_with("cannot read the weights ") && error.contains("model_final.pkl"),
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
        let trained = tensors(&Detector::new(config.clone(), &Device::flex()));
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
        for (name, data) in tensors(&detector) {
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
