//! detectron2's configs and names.

use std::fs;

use burn::tensor::Device;
use burn_roi_detection::NormKind;
use burn_roi_detection::models::{
    Background, BodyConfig, ChannelOrder, Detector, DetectorConfig, MaskPaste, ViTConfig,
};
use burn_roi_detection::weights::StateDict;
use burn_roi_detection::weights::detectron2::{NAMES, config_from_yaml, named, names, read_config};

/// The norm of layers with 4 channels.
fn narrow_norm(norm: NormKind) -> NormKind {
    match norm {
        NormKind::Group(_) => NormKind::Group(2),
        norm => norm,
    }
}

/// The config with few channels and one block a layer.
fn narrow(mut config: DetectorConfig) -> DetectorConfig {
    if let BodyConfig::ResNet(body) = &mut config.body {
        (body.groups, body.output_channels) = (1, None);
        body.stem_channels = 4;
        body.bottleneck_channels = [4; 4];
        body.blocks = [1; 4];
        body.norm = narrow_norm(body.norm);
    }
    if let BodyConfig::ViT(body) = &mut config.body {
        *body = ViTConfig::new(8, 2, 2, vec![1]);
    }
    if let Some(pyramid) = &mut config.feature_pyramid {
        pyramid.channels = 4;
        pyramid.norm = pyramid.norm.map(narrow_norm);
    }
    config.box_head.convolutions.fill(4);
    config.box_head.norm = config.box_head.norm.map(narrow_norm);
    config.box_head.fully_connected.fill(4);
    if let Some(head) = &mut config.mask_head {
        head.norm = head.norm.map(narrow_norm);
        head.convolutions.fill(4);
        head.predictor_channels = 4;
    }
    if let Some(head) = &mut config.keypoint_head {
        head.convolutions.fill(4);
    }
    config
}

/// Every weight of a model of each kind has a name of detectron2, and is read again under it.
#[test]
fn weights_are_read_under_the_names_that_they_are_written_under() {
    let device = Device::flex();
    for name in NAMES
        .iter()
        .filter(|name| (name.contains("_R_50_") && !name.ends_with("_1x")) || name.contains("_vitdet_b_"))
    {
        let config = narrow(named(name).unwrap());
        let state = StateDict::of(&Detector::new(config.clone(), &device), names).unwrap();
        let kinds = ["backbone.", "proposal_generator.rpn_head.", "roi_heads."];
        let known = |weight: &String| kinds.iter().any(|kind| weight.starts_with(kind));
        assert!(state.tensors.keys().all(known), "{name}: {:?}", state.tensors.keys());
        let mut other = Detector::new(config, &device);
        state
            .clone()
            .load_into(&mut other, names)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(StateDict::of(&other, names).unwrap(), state, "{name}");
    }
}

/// Names that detectron2's documentation and checkpoints have.
#[test]
fn names_are_those_of_the_model_zoo() {
    let of = |name: &str| {
        let config = narrow(named(name).unwrap());
        StateDict::of(&Detector::new(config, &Device::flex()), names).unwrap()
    };
    let pyramid = of("COCO-InstanceSegmentation/mask_rcnn_R_50_FPN_3x");
    for name in [
        "backbone.bottom_up.stem.conv1.norm.running_mean",
        "backbone.bottom_up.res2.0.conv1.weight",
        "backbone.bottom_up.res3.0.shortcut.norm.bias",
        "backbone.fpn_lateral2.bias",
        "backbone.fpn_output5.weight",
        "proposal_generator.rpn_head.conv.weight",
        "proposal_generator.rpn_head.objectness_logits.bias",
        "proposal_generator.rpn_head.anchor_deltas.weight",
        "roi_heads.box_head.fc2.weight",
        "roi_heads.box_predictor.cls_score.weight",
        "roi_heads.box_predictor.bbox_pred.bias",
        "roi_heads.mask_head.mask_fcn4.weight",
        "roi_heads.mask_head.deconv.weight",
        "roi_heads.mask_head.predictor.bias",
    ] {
        assert!(
            pyramid.tensors.contains_key(name),
            "{name}: {:?}",
            pyramid.tensors.keys()
        );
    }
    let groups = of("Misc/mask_rcnn_R_50_FPN_3x_gn");
    for name in [
        "backbone.bottom_up.stem.conv1.norm.weight",
        "backbone.fpn_lateral2.norm.weight",
        "backbone.fpn_output5.norm.bias",
        "roi_heads.box_head.conv4.norm.weight",
        "roi_heads.box_head.fc1.weight",
        "roi_heads.mask_head.mask_fcn4.norm.bias",
    ] {
        assert!(groups.tensors.contains_key(name), "{name}: {:?}", groups.tensors.keys());
    }
    assert!(!groups.tensors.keys().any(|name| name.contains("running_")));
    let c4 = of("COCO-Detection/faster_rcnn_R_50_C4_3x");
    assert!(
        c4.tensors.contains_key("roi_heads.res5.0.conv1.weight"),
        "{:?}",
        c4.tensors.keys()
    );
    let keypoints = of("COCO-Keypoints/keypoint_rcnn_R_50_FPN_3x");
    for name in [
        "roi_heads.keypoint_head.conv_fcn8.weight",
        "roi_heads.keypoint_head.score_lowres.weight",
    ] {
        assert!(keypoints.tensors.contains_key(name), "{:?}", keypoints.tensors.keys());
    }
}

#[test]
fn settings_of_a_pyramid_are_those_of_detectron2() {
    let config = named("COCO-InstanceSegmentation/mask_rcnn_X_101_32x8d_FPN_3x").unwrap();
    let BodyConfig::ResNet(body) = &config.body else {
        panic!("{:?}", config.body);
    };
    assert_eq!(
        (body.groups, body.stride_in_1x1, body.blocks),
        (32, false, [3, 4, 23, 3])
    );
    assert_eq!(body.bottleneck_channels, [256, 512, 1024, 2048]);
    assert_eq!(config.background, Background::Last);
    assert_eq!((config.classes.len(), config.label(80)), (81, "background"));
    let input = &config.preprocessing;
    assert_eq!((input.channel_order, input.maximum), (ChannelOrder::Bgr, 255.0));
    assert_eq!(input.std, [57.375, 57.12, 58.395]);
    assert!(config.box_head.aligned && config.box_head.sampling_ratio == 0);
    assert_eq!(config.mask_head.unwrap().paste, MaskPaste::PixelCentres);
}

#[test]
fn group_normalization_has_32_groups() {
    for name in NAMES.iter().filter(|name| name.ends_with("_gn")) {
        let config = named(name).unwrap();
        let BodyConfig::ResNet(body) = &config.body else {
            panic!("{:?}", config.body);
        };
        assert_eq!(
            (body.norm, body.frozen_norms, body.stride_in_1x1),
            (NormKind::Group(32), false, false)
        );
        let (pyramid, masks) = (config.feature_pyramid.unwrap(), config.mask_head.unwrap());
        assert_eq!(pyramid.norm, Some(NormKind::Group(32)));
        assert_eq!(masks.norm, Some(NormKind::Group(32)));
        let head = &config.box_head;
        assert_eq!(head.norm, Some(NormKind::Group(32)));
        assert_eq!((head.convolutions.len(), head.fully_connected.len()), (4, 1));
        let is_divided = config.preprocessing.std != [1.0; 3];
        assert_eq!(is_divided, name.contains("_9x_"), "{name}");
    }
}

/// As in detectron2's folder `configs`.
#[test]
fn a_base_is_another_file() {
    let folder = std::env::temp_dir().join(format!("burn_roi_bases_{}", std::process::id()));
    fs::create_dir_all(folder.join("COCO-Detection")).unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let whole = "MODEL: {META_ARCHITECTURE: GeneralizedRCNN, MASK_ON: true, RESNETS: {DEPTH: 101}}";
    write(
        "Base.yaml",
        "MODEL: {META_ARCHITECTURE: GeneralizedRCNN, MASK_ON: true, RESNETS: {DEPTH: 50}}",
    );
    let own = write(
        "COCO-Detection/own.yaml",
        "_BASE_: ../Base.yaml\nMODEL: {RESNETS: {DEPTH: 101}}",
    );
    assert_eq!(read_config(own).unwrap(), config_from_yaml(whole).unwrap());

    for (name, text, expected) in [
        ("missing.yaml", "_BASE_: nothing.yaml", "nothing.yaml: "),
        (
            "itself.yaml",
            "_BASE_: itself.yaml",
            "itself.yaml: more than 8 configs refer to each other by `_BASE_`",
        ),
        (
            "other.yaml",
            "_BASE_: /etc/passwd",
            "`_BASE_` is \"/etc/passwd\", but must be the path of a `.yaml` file",
        ),
    ] {
        let error = read_config(write(name, text)).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_setting_that_the_models_lack_is_named() {
    for (text, expected) in [
        (
            "MODEL: {META_ARCHITECTURE: RetinaNet}",
            "`MODEL.META_ARCHITECTURE` is \"RetinaNet\"",
        ),
        ("MODEL: {RESNETS: {DEPTH: 18}}", "`MODEL.RESNETS.DEPTH` is 18"),
        ("_BASE_: ../Base-RCNN-FPN.yaml", "`_BASE_`"),
        (
            "MODEL: {ROI_HEADS: {NAME: DensePoseROIHeads}}",
            "`MODEL.ROI_HEADS.NAME` is \"DensePoseROIHeads\"",
        ),
        ("MODEL: [1, 2", "line"),
    ] {
        let error = config_from_yaml(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}
