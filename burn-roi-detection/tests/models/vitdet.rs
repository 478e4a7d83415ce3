//! ViTDet: its configs, the names of its weights, and maps of any size.

use burn::tensor::{Device, TensorData};
use burn_roi_detection::NormKind;
use burn_roi_detection::models::{BodyConfig, Detector, DetectorConfig, Picture, ViTConfig};
use burn_roi_detection::weights::StateDict;
use burn_roi_detection::weights::detectron2::{named, names};

use crate::backends::{Backend, backends};

const NAME: &str = "COCO/mask_rcnn_vitdet_b_100ep";

/// The model with few channels, small pictures and low scores. Its second block spans the whole map.
fn narrow() -> DetectorConfig {
    let mut config = named(NAME).unwrap();
    config.classes.truncate(3);
    config.body = BodyConfig::ViT(ViTConfig {
        window_size: 3,
        ..ViTConfig::new(8, 2, 2, vec![1])
    });
    config.feature_pyramid.as_mut().unwrap().channels = 4;
    config.box_head.convolutions = vec![4];
    config.box_head.fully_connected = vec![4];
    config.mask_head.as_mut().unwrap().convolutions = vec![4];
    config.mask_head.as_mut().unwrap().predictor_channels = 4;
    config.preprocessing.square_pad = None;
    (config.preprocessing.min_size, config.preprocessing.max_size) = (48, 96);
    config.region_proposals.post_nms_top_n = 20;
    config.box_head.score_threshold = 1e-6;
    config.box_head.detections_per_image = 3;
    config
}

fn vit(config: &mut DetectorConfig) -> &mut ViTConfig {
    match &mut config.body {
        BodyConfig::ViT(body) => body,
        body => panic!("{body:?}"),
    }
}

fn state(detector: &Detector) -> StateDict {
    StateDict::of(detector, names).unwrap()
}

/// Names that detectron2's models have, of each part.
#[test]
fn names_are_those_of_detectron2() {
    let state = state(&Detector::new(narrow(), &Device::flex()));
    for (name, shape) in [
        ("backbone.net.pos_embed", &[1, 197, 8][..]),
        ("backbone.net.patch_embed.proj.weight", &[8, 3, 16, 16]),
        ("backbone.net.blocks.0.norm1.weight", &[8]),
        ("backbone.net.blocks.0.attn.rel_pos_h", &[5, 4]),
        ("backbone.net.blocks.1.attn.rel_pos_w", &[127, 4]),
        ("backbone.net.blocks.1.attn.qkv.weight", &[24, 8]),
        ("backbone.net.blocks.1.attn.proj.bias", &[8]),
        ("backbone.net.blocks.1.mlp.fc1.weight", &[32, 8]),
        ("backbone.simfp_2.0.weight", &[8, 4, 2, 2]),
        ("backbone.simfp_2.1.bias", &[4]),
        ("backbone.simfp_2.3.bias", &[2]),
        ("backbone.simfp_2.4.weight", &[4, 2, 1, 1]),
        ("backbone.simfp_2.5.norm.weight", &[4]),
        ("backbone.simfp_3.0.weight", &[8, 4, 2, 2]),
        ("backbone.simfp_3.1.norm.bias", &[4]),
        ("backbone.simfp_4.1.weight", &[4, 4, 3, 3]),
        ("backbone.simfp_5.1.weight", &[4, 8, 1, 1]),
        ("backbone.simfp_5.2.norm.weight", &[4]),
        ("proposal_generator.rpn_head.conv.conv1.weight", &[4, 4, 3, 3]),
        ("roi_heads.box_head.conv1.norm.weight", &[4]),
        ("roi_heads.mask_head.mask_fcn1.norm.bias", &[4]),
    ] {
        let found = state.tensors.get(name).map(|data| data.shape().to_vec());
        assert_eq!(found.as_deref(), Some(shape), "{name}");
    }
    let is_of_detectron2 = |name: &String| !name.contains(".body.") && !name.contains(".fpn.");
    assert!(state.tensors.keys().all(is_of_detectron2));
}

#[test]
fn the_models_have_the_sizes_of_their_configs() {
    for (name, channels, blocks, heads, global) in [
        (NAME, 768, 12, 12, [2, 5, 8, 11]),
        ("COCO/mask_rcnn_vitdet_l_100ep", 1024, 24, 16, [5, 11, 17, 23]),
        ("COCO/cascade_mask_rcnn_vitdet_h_75ep", 1280, 32, 16, [7, 15, 23, 31]),
    ] {
        let mut config = named(name).unwrap();
        let expected = ViTConfig::new(channels, blocks, heads, global.to_vec());
        assert_eq!(*vit(&mut config), expected, "{name}");
        assert_eq!(
            config.box_head.later_stages.len(),
            if name.contains("cascade") { 2 } else { 0 }
        );
        assert_eq!(config.box_head.convolutions, [256; 4]);
        assert_eq!(config.preprocessing.input_size([480, 640]), [1024, 1024]);
        let text = serde_json::to_string(&config).unwrap();
        assert_eq!(serde_json::from_str::<DetectorConfig>(&text).unwrap(), config);
    }
}

#[test]
fn pictures_of_any_sizes_are_one_batch() {
    let bytes = [90; 3 * 70 * 90];
    for divisor in [16, 32] {
        for (sizes, count) in [(vec![[1, 1]], 1), (vec![[70, 90], [9, 90], [90, 9]], 3)] {
            for Backend { device, .. } in backends().into_iter().filter(Backend::is_host) {
                let mut config = narrow();
                config.preprocessing.size_divisible = divisor;
                (config.preprocessing.min_size, config.preprocessing.max_size) = (16, 80);
                let pictures = sizes
                    .iter()
                    .map(|&[height, width]| Picture::from_rgb([height, width], &bytes[..3 * height * width]));
                let found = Detector::new(config, &device).detect(&pictures.collect::<Vec<_>>());
                assert_eq!(found.len(), count);
                for (instances, size) in found.iter().zip(&sizes) {
                    assert!(instances.masks.iter().all(|mask| mask.size() == *size));
                }
            }
        }
    }
}

/// Its last map has 1/32 of the picture's size.
#[test]
fn a_simple_pyramid_on_a_resnet() {
    let mut config = super::narrow::narrow("maskrcnn_resnet50_fpn");
    config.feature_pyramid.as_mut().unwrap().simple = true;
    for Backend { device, .. } in backends().into_iter().filter(Backend::is_host) {
        let detector = Detector::new(config.clone(), &device);
        let pixels = [90; 3 * 64 * 90];
        let pictures = [Picture::from_rgb([64, 90], &pixels)];
        let images = detector.prepare(&pictures);
        let levels = detector.feature_pyramid(detector.body(&images));
        let sizes = levels.iter().map(|level| level.dims());
        let expected = [[8, 12], [4, 6], [2, 3], [1, 2], [1, 1]].map(|[height, width]| [1, 4, height, width]);
        assert_eq!(sizes.collect::<Vec<_>>(), expected);
        assert_eq!(detector.detect(&pictures).len(), 1);
    }
}

/// The weights that ViTDet trains from, of a masked autoencoder. They have parts that a backbone lacks.
#[test]
fn a_pretrained_transformer_without_relative_positions() {
    let (trained, mut new) = (
        Detector::new(narrow(), &Device::flex()),
        Detector::new(narrow(), &Device::flex()),
    );
    let (trained, before) = (state(&trained), state(&new));
    let pretrained = |extra: &[&str]| {
        let body = trained.tensors.iter().filter_map(|(name, data)| {
            let name = name.strip_prefix("backbone.net.")?;
            (!name.contains("rel_pos")).then(|| (name.to_string(), data.clone()))
        });
        let extra = extra.iter().map(|name| (name.to_string(), TensorData::from([0.5_f32])));
        StateDict {
            tensors: body.chain(extra).collect(),
        }
    };
    let deeper = pretrained(&["blocks.7.norm1.weight"]).load_backbone_into(&mut new);
    let deeper = deeper.unwrap_err().to_string();
    assert!(
        deeper.contains("1 tensor unknown to the model:\n    blocks.7.norm1.weight"),
        "{deeper}"
    );
    assert_eq!(state(&new), before);

    pretrained(&["cls_token", "norm.weight"])
        .load_backbone_into(&mut new)
        .unwrap();
    for (name, data) in state(&new).tensors {
        let is_loaded = name.starts_with("backbone.net.") && !name.contains("rel_pos");
        let expected = if is_loaded { &trained } else { &before };
        assert!(data == expected.tensors[&name], "{name}");
    }
    // The state dict of the backbone alone, with relative positions.
    let body = trained.tensors.iter().filter_map(|(name, data)| {
        let name = name.strip_prefix("backbone.net.")?;
        Some((name.to_string(), data.clone()))
    });
    let body = StateDict {
        tensors: body.collect(),
    };
    body.load_backbone_into(&mut new).unwrap();
    for (name, data) in state(&new).tensors {
        let expected = if name.starts_with("backbone.net.") {
            &trained
        } else {
            &before
        };
        assert!(data == expected.tensors[&name], "{name}");
    }
    let mut whole = Detector::new(narrow(), &Device::flex());
    trained.clone().load_backbone_into(&mut whole).unwrap();
    assert_eq!(
        state(&whole).tensors["backbone.net.blocks.1.attn.rel_pos_h"],
        trained.tensors["backbone.net.blocks.1.attn.rel_pos_h"]
    );
}

type Change = fn(&mut DetectorConfig);

#[test]
fn values_out_of_their_range_are_named() {
    let cases: [(Change, &str); 20] = [
        (
            |config| {
                config.preprocessing.square_pad = Some(32);
                config.region_proposals.anchor_strides = None;
            },
            "`preprocessing.square_pad` is 32, but must be null, unless there are `region_proposals.anchor_strides`",
        ),
        (
            |config| vit(config).patch_size = 2,
            "`body.patch_size` is 2, but must be a power of two, at least 4",
        ),
        (|config| vit(config).patch_size = 14, "`body.patch_size` is 14"),
        (|config| vit(config).channels = 0, "`body.channels` is 0"),
        (
            |config| vit(config).channels = 1 << 62,
            "`body.channels` is 4611686018427387904",
        ),
        (|config| vit(config).blocks = 0, "`body.blocks` is 0"),
        (|config| vit(config).blocks = 1 << 40, "`body.blocks` is"),
        (|config| vit(config).heads = 0, "`body.heads` is 0"),
        (
            |config| vit(config).heads = 3,
            "`body.heads` is 3, but must be at least 1, and a divisor of `body.channels`",
        ),
        (
            |config| vit(config).global_blocks = vec![2],
            "`body.global_blocks` is [2]",
        ),
        (|config| vit(config).patch_size = 0, "`body.patch_size` is 0"),
        (|config| vit(config).window_size = 0, "`body.window_size` is 0"),
        (|config| vit(config).window_size = 1024, "`body.window_size` is 1024"),
        (
            |config| vit(config).hidden_channels = Some(1 << 62),
            "`body.hidden_channels` is",
        ),
        (
            |config| vit(config).pretrained_size = Some(15),
            "`body.pretrained_size` is 15",
        ),
        (|config| vit(config).input_size = 1 << 62, "`body.input_size` is"),
        (
            |config| vit(config).norm_epsilon = f64::NAN,
            "`body.norm_epsilon` is NaN",
        ),
        (
            |config| config.preprocessing.size_divisible = 24,
            "`preprocessing.size_divisible` is 24, but must be a multiple of `body.patch_size`",
        ),
        (
            |config| config.preprocessing.square_pad = Some(0),
            "`preprocessing.square_pad` is 0",
        ),
        (
            |config| (vit(config).channels, vit(config).heads) = (3, 1),
            "`feature_pyramid.simple` is true, but must be false, unless the body's last map has at least 4 channels",
        ),
    ];
    for (change, expected) in cases {
        let mut config = narrow();
        change(&mut config);
        let error = Detector::try_new(config, &Device::flex()).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

/// A simple pyramid of group norms has one of half the body's channels.
#[test]
fn groups_divide_the_channels_of_each_norm() {
    let mut config = narrow();
    let pyramid = config.feature_pyramid.as_mut().unwrap();
    pyramid.norm = Some(NormKind::Group(2));
    config.check().unwrap();
    (vit(&mut config).channels, vit(&mut config).heads) = (6, 1);
    let error = config.check().unwrap_err().to_string();
    assert!(error.starts_with("`feature_pyramid.norm` is 2 groups"), "{error}");
}
