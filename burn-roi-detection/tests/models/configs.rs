//! Configs that no model can be built of.

use burn::tensor::Device;
use burn_roi_detection::models::{BodyConfig, Detector, DetectorConfig};

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

#[test]
fn values_out_of_their_range_are_named() {
    type Change = fn(&mut DetectorConfig);
    let cases: [(Change, &str); 12] = [
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
    ];
    for (change, expected) in cases {
        let mut config = narrow("maskrcnn_resnet50_fpn");
        change(&mut config);
        let error = Detector::try_new(config, &Device::flex()).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}
