//! Weights of a backbone alone, as torchvision's and detectron2's files of ImageNet classifiers have them.

use burn::tensor::{Device, TensorData};
use burn_roi_detection::NormKind;
use burn_roi_detection::models::{BodyConfig, Detector, DetectorConfig};
use burn_roi_detection::weights::detectron2::{self, Checkpoint};
use burn_roi_detection::weights::{NameTable, StateDict, WeightsError};

use super::narrow::narrow;
use super::pickle::{Pickle, Tensors};

const BODY: &str = "backbone.body.";
const DETECTRON2: &str = "COCO-Detection/faster_rcnn_R_50_FPN_3x";

/// A detector with other weights than any other of this call.
fn detector(config: &DetectorConfig) -> Detector {
    Detector::new(config.clone(), &Device::flex())
}

/// Weights under torchvision's names, which each detector has.
fn tensors(detector: &Detector) -> Tensors {
    StateDict::of(detector, NameTable::torchvision).unwrap().tensors
}

/// One of detectron2's models, as narrow as torchvision's.
fn of_detectron2(name: &str) -> DetectorConfig {
    let mut config = detectron2::named(name).unwrap();
    let torchvision = narrow("fasterrcnn_resnet50_fpn");
    if let (BodyConfig::ResNet(body), BodyConfig::ResNet(narrow)) = (&mut config.body, torchvision.body) {
        body.stem_channels = narrow.stem_channels;
        body.bottleneck_channels = narrow.bottleneck_channels;
        body.blocks = narrow.blocks;
        body.output_channels = None;
    }
    if let Some(pyramid) = &mut config.feature_pyramid {
        pyramid.channels = 4;
    }
    config.box_head.fully_connected.fill(8);
    config
}

/// The weights of a trained detector's backbone as a classifier has them: without the prefix, and with a last layer.
fn classifier(trained: &Tensors, prefix: &str) -> StateDict {
    let body = trained.iter().filter_map(|(name, data)| {
        let name = name.strip_prefix(BODY).or(name
            .strip_prefix("roi_heads.")
            .filter(|name| name.starts_with("layer4")));
        Some((format!("{prefix}{}", name?), data.clone()))
    });
    let mut tensors: Tensors = body.collect();
    for name in ["fc.weight", "fc.bias", "classifier.0.weight"] {
        tensors.insert(name.to_string(), TensorData::from([0.5_f32]));
    }
    tensors.insert("bn1.num_batches_tracked".to_string(), TensorData::from([7_i64]));
    StateDict { tensors }
}

/// Checks that a detector has the backbone of one, and everything else of another.
#[track_caller]
fn assert_backbone_alone(loaded: &Detector, backbone: &Tensors, rest: &Tensors) {
    let mut counts = [0, 0];
    for (name, data) in tensors(loaded) {
        let is_of_backbone = name.starts_with(BODY) || name.starts_with("roi_heads.layer4");
        counts[usize::from(is_of_backbone)] += 1;
        let expected = if is_of_backbone { backbone } else { rest };
        assert!(data == expected[&name], "{name}");
    }
    assert!(counts.iter().all(|count| *count > 5), "{counts:?}");
}

#[test]
fn torchvisions_classifiers() {
    for (name, prefix) in [
        ("maskrcnn_resnet50_fpn", ""),
        ("fasterrcnn_resnet50_fpn_v2", ""),
        ("fasterrcnn_mobilenet_v3_large_fpn", "features."),
    ] {
        let config = narrow(name);
        let (trained, mut new) = (tensors(&detector(&config)), detector(&config));
        let before = tensors(&new);
        assert_ne!(trained, before);
        classifier(&trained, prefix).load_backbone_into(&mut new).unwrap();
        assert_backbone_alone(&new, &trained, &before);
    }
}

/// torchvision's and detectron2's weights of whole detectors, of which other parts may have other shapes.
#[test]
fn the_backbone_of_a_whole_detector() {
    let mut config = narrow("maskrcnn_resnet50_fpn");
    let trained = detector(&config);
    config.box_head.fully_connected = vec![16];
    config.classes.push("another".to_string());
    for names in [NameTable::torchvision, detectron2::names] {
        let mut new = detector(&config);
        let before = tensors(&new);
        StateDict::of(&trained, names)
            .unwrap()
            .load_backbone_into(&mut new)
            .unwrap();
        assert_backbone_alone(&new, &tensors(&trained), &before);
    }
}

/// `R-50.pkl` of MSRA's classifier: Caffe2's names, and nothing beside the arrays.
fn caffe2(classifier: &StateDict) -> Tensors {
    let named = classifier.tensors.iter().filter_map(|(name, data)| {
        data.as_slice::<f32>().ok()?;
        let (convolution, end) = name.rsplit_once('.')?;
        let norm = match end {
            "weight" => "gamma",
            "bias" => "beta",
            end => end,
        };
        let branch = match convolution.rsplit_once('.') {
            None => Some(match convolution {
                "conv1" => "conv1_w".to_string(),
                "bn1" => format!("res_conv1_bn_{norm}"),
                "fc" => format!("fc1000_{}", &end[..1]),
                _ => return None,
            }),
            Some((block, part)) => {
                let block = block.strip_suffix(".downsample").unwrap_or(block);
                let mut layer = block.strip_prefix("layer")?.split('.');
                let number: usize = layer.next()?.parse().ok()?;
                let block = format!("res{}_{}", number + 1, layer.next()?);
                let letter = part.strip_prefix("bn").or(part.strip_prefix("conv"));
                Some(match (part, letter) {
                    ("0", _) => format!("{block}_branch1_w"),
                    ("1", _) => format!("{block}_branch1_bn_{norm}"),
                    (_, number) => {
                        let letter = ["a", "b", "c"][number?.parse::<usize>().ok()? - 1];
                        let end = if part.starts_with("bn") {
                            format!("bn_{norm}")
                        } else {
                            "w".to_string()
                        };
                        format!("{block}_branch2{letter}_{end}")
                    }
                })
            }
        };
        Some((branch?, data.clone()))
    });
    let mut tensors: Tensors = named.collect();
    tensors.insert("conv1_b".to_string(), TensorData::from([0.0_f32; 4]));
    tensors
}

/// What detectron2's script `convert-torchvision-to-d2.py` writes of torchvision's classifier.
fn converted(classifier: &StateDict) -> Tensors {
    let named = classifier
        .tensors
        .iter()
        .filter(|(_, data)| data.as_slice::<f32>().is_ok());
    let named = named.map(|(name, data)| {
        let mut name = match name.contains("layer") {
            true => name.clone(),
            false => format!("stem.{name}"),
        };
        for layer in 1..=4 {
            name = name.replace(&format!("layer{layer}"), &format!("res{}", layer + 1));
        }
        for norm in 1..=3 {
            name = name.replace(&format!("bn{norm}"), &format!("conv{norm}.norm"));
        }
        name = name
            .replace("downsample.0", "shortcut")
            .replace("downsample.1", "shortcut.norm");
        (name, data.clone())
    });
    named.collect()
}

#[test]
fn detectron2s_classifiers() {
    for name in [
        DETECTRON2,
        "COCO-Detection/faster_rcnn_R_50_C4_3x",
        "COCO-Detection/faster_rcnn_R_50_DC5_3x",
    ] {
        let config = of_detectron2(name);
        let trained = tensors(&detector(&config));
        let classifier = classifier(&trained, "");
        for is_python_2 in [true, false] {
            let pickle = Pickle { is_python_2 };
            let flat = pickle.dictionary(&caffe2(&classifier));
            let in_model = [
                b"}(".to_vec(),
                pickle.text("model"),
                pickle.dictionary(&converted(&classifier)),
                pickle.text("__author__"),
                pickle.text("torchvision"),
                pickle.text("matching_heuristics"),
                b"\x88u".to_vec(),
            ];
            for (author, value) in [("Caffe2", flat), ("torchvision", in_model.concat())] {
                let checkpoint = Checkpoint::from_pkl(&pickle.file(&value)).unwrap();
                assert_eq!(checkpoint.author.as_deref(), Some(author));
                assert!(checkpoint.matching_heuristics);
                let mut new = detector(&config);
                let before = tensors(&new);
                checkpoint.into_state_dict().load_backbone_into(&mut new).unwrap();
                assert_backbone_alone(&new, &trained, &before);
            }
        }
    }
}

/// `R-50-GN.pkl`: Caffe2's names of group normalization.
#[test]
fn detectron2s_classifier_with_group_norms() {
    let mut config = of_detectron2(DETECTRON2);
    if let BodyConfig::ResNet(body) = &mut config.body {
        body.norm = NormKind::Group(2);
    }
    let trained = tensors(&detector(&config));
    let renamed = caffe2(&classifier(&trained, "")).into_iter().map(|(name, data)| {
        let name = name.replace("res_conv1_bn_", "conv1_bn_");
        (name.replace("_bn_gamma", "_gn_s").replace("_bn_beta", "_gn_b"), data)
    });
    let renamed: Tensors = renamed.collect();
    assert!(renamed.contains_key("res2_0_branch1_gn_s"), "{:?}", renamed.keys());
    let pickle = Pickle { is_python_2: true };
    let checkpoint = Checkpoint::from_pkl(&pickle.file(&pickle.dictionary(&renamed))).unwrap();
    let mut new = detector(&config);
    let before = tensors(&new);
    checkpoint.into_state_dict().load_backbone_into(&mut new).unwrap();
    assert_backbone_alone(&new, &trained, &before);
}

#[test]
fn what_does_not_fit_is_named_and_the_model_stays() {
    let config = narrow("fasterrcnn_resnet50_fpn");
    let mut new = detector(&config);
    let before = tensors(&new);
    let mut refused = |change: &dyn Fn(&mut Tensors), expected: &str| {
        let mut state = classifier(&tensors(&detector(&config)), "");
        change(&mut state.tensors);
        let error = state.load_backbone_into(&mut new).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        assert_eq!(tensors(&new), before);
    };
    let lacks = |name: &'static str| move |tensors: &mut Tensors| drop(tensors.remove(name).unwrap());
    refused(
        &lacks("layer2.1.bn2.running_var"),
        "1 tensor missing from the file:\n    layer2.1.bn2.running_var",
    );
    refused(
        &lacks("conv1.weight"),
        "1 tensor missing from the file:\n    conv1.weight",
    );
    refused(
        &|tensors| drop(tensors.insert("bn1.bias".to_string(), TensorData::from([0.0_f32; 3]))),
        "1 tensor of another shape:\n    bn1.bias: [3] in the file, [4] in the model",
    );
    // A deeper ResNet.
    refused(
        &|tensors| drop(tensors.insert("layer3.22.conv1.weight".to_string(), TensorData::from([0.0_f32]))),
        "1 tensor unknown to the model:\n    layer3.22.conv1.weight",
    );
    refused(
        &|tensors| drop(tensors.insert("bn1.bias".to_string(), TensorData::from([f32::NAN; 4]))),
        "the weights bn1.bias are not finite",
    );
    let error = StateDict::default().load_backbone_into(&mut new).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("tensors missing from the file:\n    bn1.bias"),
        "{error}"
    );
    assert!(matches!(error, WeightsError::Mismatch { .. }));
}

/// A norm that Caffe2 has joined with its weights is not one that a detector loads.
#[test]
fn norms_of_the_first_detectron_are_refused() {
    let config = of_detectron2(DETECTRON2);
    let mut tensors = caffe2(&classifier(&tensors(&detector(&config)), ""));
    tensors.retain(|name, _| !name.contains("running"));
    let pickle = Pickle { is_python_2: true };
    let checkpoint = Checkpoint::from_pkl(&pickle.file(&pickle.dictionary(&tensors))).unwrap();
    let error = checkpoint
        .into_state_dict()
        .load_backbone_into(&mut detector(&config))
        .unwrap_err();
    assert!(error.to_string().contains("res2.0.conv1.norm.running_mean"), "{error}");
}

#[test]
fn two_names_of_caffe2_for_one_weight() {
    let pickle = Pickle { is_python_2: true };
    let norm = ["res2_0_branch2a_bn_rm", "res2_0_branch2a_bn_running_mean"];
    let tensors = norm.map(|name| (name.to_string(), TensorData::from([0.5_f32])));
    let error = Checkpoint::from_pkl(&pickle.file(&pickle.dictionary(&tensors.into())));
    let expected = "`model` has \"res2.0.conv1.norm.running_mean\" twice";
    assert_eq!(error.unwrap_err().to_string(), expected);
}

#[test]
fn names_of_weights_are_found() {
    let config = narrow("maskrcnn_resnet50_fpn");
    let trained = detector(&config);
    for names in [NameTable::torchvision, detectron2::names] {
        let state = StateDict::of(&trained, names).unwrap();
        let mut new = detector(&config);
        let found = state.naming(&new);
        state.load_into(&mut new, found).unwrap();
        assert_eq!(tensors(&new), tensors(&trained));
    }
}
