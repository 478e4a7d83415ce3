//! Configs that no model can be built of.

use burn::tensor::Device;
use burn_roi_detection::NormKind;
use burn_roi_detection::models::{BodyConfig, Detector, DetectorConfig, MobileNetV3Config, ResNetConfig};

use super::narrow::narrow;

#[test]
fn all_named_configs_are_valid_and_read_as_they_are_written() {
    for name in DetectorConfig::NAMES {
        let config = DetectorConfig::named(name).unwrap();
        config.check().unwrap();
        assert_eq!(config.name, name);
        let text = serde_json::to_string(&config).unwrap();
        assert_eq!(serde_json::from_str::<DetectorConfig>(&text).unwrap(), config);
    }
    assert!(DetectorConfig::named("fasterrcnn_resnet51_fpn").is_none());
}

#[test]
fn unknown_fields_are_refused_at_every_depth() {
    let text = serde_json::to_string(&narrow("maskrcnn_resnet50_fpn")).unwrap();
    for field in [
        "name",
        "stem_channels",
        "channels",
        "anchor_sizes",
        "weights",
        "predictor_channels",
        "min_size",
    ] {
        let wrong = text.replacen(&format!("\"{field}\":"), "\"not_a_field\":", 1);
        let error = serde_json::from_str::<DetectorConfig>(&wrong).unwrap_err().to_string();
        assert!(error.contains("unknown field `not_a_field`"), "{field}: {error}");
    }
    let error = serde_json::from_str::<DetectorConfig>(&text.replace("\"resnet\"", "\"vgg\"")).unwrap_err();
    assert!(error.to_string().contains("unknown variant `vgg`"), "{error}");
}

type Change = fn(&mut DetectorConfig);

#[test]
fn values_out_of_their_range_are_named() {
    let cases: [(Change, &str); 16] = [
        (|config| config.classes.truncate(1), "`classes` is"),
        (
            |config| config.feature_pyramid.as_mut().unwrap().channels = 0,
            "`feature_pyramid.channels` is 0",
        ),
        (
            |config| config.feature_pyramid = None,
            "`region_proposals.anchor_sizes` is a list of 5 lists",
        ),
        (
            |config| config.region_proposals.anchor_sizes[1].clear(),
            "`region_proposals.anchor_sizes` is",
        ),
        (
            |config| config.region_proposals.anchor_sizes[1][0] = -1.0,
            "`sizes` is -1",
        ),
        (
            |config| config.region_proposals.nms_threshold = f64::NAN,
            "`region_proposals.nms_threshold` is NaN",
        ),
        (
            |config| config.box_head.fully_connected.clear(),
            "`box_head.fully_connected` is []",
        ),
        (|config| config.box_head.weights[2] = 0.0, "`box_head.weights` is"),
        (
            |config| config.mask_head.as_mut().unwrap().pooled_size = 0,
            "`mask_head.pooled_size` is 0",
        ),
        (|config| config.preprocessing.std[0] = 0.0, "`preprocessing.std` is"),
        (
            |config| config.preprocessing.size_divisible = 0,
            "`preprocessing.size_divisible` is 0",
        ),
        (
            |config| {
                if let BodyConfig::ResNet(body) = &mut config.body {
                    body.groups = 3;
                }
            },
            "`body.groups` is 3",
        ),
        (
            |config| {
                if let BodyConfig::ResNet(body) = &mut config.body {
                    body.norm = NormKind::Group(4);
                }
            },
            "`body.norm` is 4 groups, but must be a divisor of the number of channels of each layer that is normalized",
        ),
        (
            |config| config.feature_pyramid.as_mut().unwrap().norm = Some(NormKind::Group(3)),
            "`feature_pyramid.norm` is 3 groups",
        ),
        (
            |config| {
                config.box_head.convolutions = vec![4, 6];
                config.box_head.norm = Some(NormKind::Group(4));
            },
            "`box_head.norm` is 4 groups",
        ),
        (
            |config| config.mask_head.as_mut().unwrap().norm = Some(NormKind::Group(0)),
            "`mask_head.norm` is 0 groups",
        ),
    ];
    for (change, expected) in cases {
        assert_refused("maskrcnn_resnet50_fpn", change, expected);
    }
}

#[track_caller]
fn assert_refused(name: &str, change: Change, expected: &str) {
    let mut config = narrow(name);
    change(&mut config);
    let error = Detector::try_new(config, &Device::flex()).unwrap_err().to_string();
    assert!(error.starts_with(expected), "{error}");
}

/// A model of these would take the machine's memory, or overflow the numbers of its weights.
#[test]
fn values_above_their_range_are_named() {
    fn resnet(config: &mut DetectorConfig) -> &mut ResNetConfig {
        match &mut config.body {
            BodyConfig::ResNet(body) => body,
            body => panic!("{body:?}"),
        }
    }
    fn mobilenet(config: &mut DetectorConfig) -> &mut MobileNetV3Config {
        match &mut config.body {
            BodyConfig::MobileNetV3(body) => body,
            body => panic!("{body:?}"),
        }
    }
    let cases: [(Change, &str); 13] = [
        (
            |config| config.region_proposals.convolutions = 1_000_000_000,
            "`region_proposals.convolutions` is 1000000000",
        ),
        (
            |config| resnet(config).blocks = [1_000_000_000_000; 4],
            "`body.blocks` is 1000000000000",
        ),
        (
            |config| config.box_head.pooled_size = 1 << 32,
            "`box_head.pooled_size` is 4294967296",
        ),
        (
            |config| config.box_head.fully_connected = vec![1 << 62],
            "`box_head.fully_connected` is 4611686018427387904",
        ),
        (
            |config| config.box_head.convolutions = vec![4; 1000],
            "`box_head.convolutions` is a list of 1000 layers",
        ),
        (
            |config| resnet(config).stem_channels = 1 << 40,
            "`body.stem_channels` is",
        ),
        (
            |config| resnet(config).bottleneck_channels[3] = 1 << 62,
            "`body.bottleneck_channels` is",
        ),
        (
            |config| resnet(config).output_channels = Some([1 << 62; 4]),
            "`body.output_channels` is",
        ),
        (
            |config| resnet(config).last_dilation = 1 << 62,
            "`body.last_dilation` is",
        ),
        (
            |config| config.classes = vec![String::new(); 1 << 16],
            "`classes` is a list of 65536 names",
        ),
        (
            |config| config.region_proposals.aspect_ratios = vec![1.0; 1025],
            "`region_proposals.anchor_sizes` is 1 sizes",
        ),
        (
            |config| config.mask_head.as_mut().unwrap().predictor_channels = 1 << 62,
            "`mask_head.predictor_channels` is",
        ),
        (
            |config| config.preprocessing.size_divisible = 1 << 62,
            "`preprocessing.size_divisible` is",
        ),
    ];
    for (change, expected) in cases {
        assert_refused("maskrcnn_resnet50_fpn", change, expected);
    }
    let name = "fasterrcnn_mobilenet_v3_large_fpn";
    let change: Change = |config| mobilenet(config).blocks[0].kernel_size = (1 << 62) + 1;
    assert_refused(name, change, "`body.blocks.kernel_size` is");
    let change: Change = |config| mobilenet(config).blocks = vec![mobilenet(config).blocks[0].clone(); 1000];
    assert_refused(name, change, "`body.blocks` is 1000");
    // Each value is within its range: 5 TB in all.
    let change: Change = |config| config.box_head.convolutions = vec![1 << 15; 128];
    assert_refused("maskrcnn_resnet50_fpn_v2", change, "the weights would have shape [");
}
