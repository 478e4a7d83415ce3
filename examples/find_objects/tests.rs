//! Pictures and configurations at the limits, refused input, and agreement with torchvision.

mod pictures;

use std::path::{Path, PathBuf};
use std::{env, fs, process};

use burn::tensor::{Device, FloatDType};
use burn_roi_detection::data::coco::CocoDataset;
use burn_roi_detection::models::{BodyConfig, Detector, DetectorConfig};
use clap::Parser;
use image::{Rgb, RgbImage};

use crate::arguments::Arguments;
use crate::error::Error;
use crate::found::{Found, detect};
use crate::{config, report, weights};

/// A model of few channels, of torchvision's first or second version.
fn tiny(second: bool) -> DetectorConfig {
    let name = if second {
        "maskrcnn_resnet50_fpn_v2"
    } else {
        "maskrcnn_resnet50_fpn"
    };
    let mut config = DetectorConfig::named(name).unwrap();
    config.classes.truncate(3);
    if let BodyConfig::ResNet(body) = &mut config.body {
        body.stem_channels = 4;
        body.bottleneck_channels = [2, 2, 4, 4];
        body.blocks = [1, 2, 1, 1];
    }
    config.feature_pyramid.as_mut().unwrap().channels = 4;
    config.box_head.convolutions.fill(4);
    config.box_head.fully_connected.fill(8);
    let mask_head = config.mask_head.as_mut().unwrap();
    mask_head.convolutions.fill(4);
    mask_head.predictor_channels = 4;
    config.preprocessing.min_size = 64;
    config.preprocessing.max_size = 96;
    config.region_proposals.post_nms_top_n = 20;
    config.box_head.score_threshold = 0.0;
    config.box_head.detections_per_image = 3;
    config
}

/// The detections of a model with random weights.
fn find(config: DetectorConfig, picture: &RgbImage) -> Vec<Found> {
    let detector = Detector::new(config, &Device::flex());
    detect(&detector, picture, &mut ()).unwrap()
}

fn run(arguments: &[&str]) -> Result<(), Error> {
    let command = ["find_objects"];
    crate::run(&Arguments::parse_from(command.iter().chain(arguments)))
}

fn shipped(name: &str) -> String {
    format!("{}/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn temporary(name: &str) -> PathBuf {
    env::temp_dir().join(format!("burn-roi-{}-{name}", process::id()))
}

#[test]
fn pictures_of_any_size_have_objects_in_them() {
    for second in [false, true] {
        for (width, height) in [(1, 1), (1, 400), (300, 1), (37, 23), (8000, 6000)] {
            let picture = RgbImage::from_fn(width, height, |x, y| Rgb([x as u8, y as u8, 90]));
            let mut config = tiny(second);
            // A threshold so low that there are masks to paste.
            config.box_head.score_threshold = 1e-6;
            let found = find(config, &picture);
            for found in found {
                let [x1, y1, x2, y2] = found.corners;
                assert!(x1 >= 0.0 && y1 >= 0.0 && x1 <= x2 && y1 <= y2, "{:?}", found.corners);
                assert!(x2 <= width as f32 * 1.001 && y2 <= height as f32 * 1.001);
                assert_eq!(found.mask.size(), [height as usize, width as usize]);
                let pixels: u32 = found.mask.counts().iter().sum();
                assert_eq!(pixels, width * height);
            }
        }
    }
}

#[test]
fn no_proposal_and_no_detection_are_an_empty_result() {
    let picture = RgbImage::from_pixel(40, 30, Rgb([200, 10, 90]));
    let mut no_proposal = tiny(false);
    no_proposal.region_proposals.score_threshold = 1.1;
    let mut no_detection = tiny(true);
    no_detection.box_head.score_threshold = 1.0;
    for config in [no_proposal, no_detection] {
        let found = find(config.clone(), &picture);
        assert!(found.is_empty());
        let json = report::to_json(Path::new("a.png"), [40, 30], &found, &config);
        let expected = r#"{"detections":[],"height":30,"image":"a.png","width":40}"#;
        assert_eq!(json.to_string(), expected);
    }
}

#[test]
fn files_that_are_no_pictures_are_refused() {
    let text = temporary("text.png");
    fs::write(&text, "not a picture").unwrap();
    let path = text.to_str().unwrap();
    let error = run(&["--image", path]).unwrap_err().to_string();
    fs::remove_file(&text).unwrap();
    assert!(error.starts_with(&format!("cannot read the image {path}: ")), "{error}");
    let missing = "/no/such/picture.png";
    let reason = fs::File::open(missing).unwrap_err();
    let error = run(&["--image", missing]).unwrap_err().to_string();
    assert!(error.contains(&format!("{missing}: {reason}")), "{error}");

    let folder = temporary("empty");
    fs::create_dir_all(&folder).unwrap();
    let error = run(&["--image", folder.to_str().unwrap()]).unwrap_err();
    fs::remove_dir(&folder).unwrap();
    assert!(matches!(error, Error::EmptyFolder(_)), "{error}");
}

#[test]
fn configurations_that_are_wrong_are_refused() {
    let error = run(&["--config", "maskrcnn_resnet50_fpn"]).unwrap_err();
    assert!(matches!(error, Error::NoWeights(_)), "{error}");
    let error = run(&["--config", "maskrcnn_resnet51_fpn"]).unwrap_err().to_string();
    assert!(error.contains("no such file, and no model of this name"), "{error}");

    let shipped = fs::read_to_string(shipped("shapes.json")).unwrap();
    let file = temporary("wrong.json");
    let cases = [
        ("\"stem_channels\"", "\"stem_chanels\"", "unknown field `stem_chanels`"),
        (
            "[[16], [32], [64], [128], [256]]",
            "[[16], [32]]",
            "`region_proposals.anchor_sizes` is a list of 2 lists, but must be a list for each level",
        ),
        (
            "\"size_divisible\": 32",
            "\"size_divisible\": 0",
            "`preprocessing.size_divisible` is 0, but must be from 1 to 1024",
        ),
    ];
    for (from, to, expected) in cases {
        assert!(shipped.contains(from), "{from}");
        fs::write(&file, shipped.replace(from, to)).unwrap();
        let error = config::read(&file).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    fs::remove_file(&file).unwrap();
}

#[test]
fn the_coins_of_the_unseen_half_are_found() {
    let arguments = Arguments::parse_from(["find_objects"]);
    let mut detector = Detector::new(config::read(&arguments.config).unwrap(), &Device::flex());
    weights::load(arguments.weights().unwrap(), &mut detector).unwrap();
    let file = &arguments.image[0];
    let picture = crate::pictures::read(file).unwrap();
    let truth = CocoDataset::read(file.with_extension("json")).unwrap();
    for dtype in [FloatDType::F32, FloatDType::F16, FloatDType::BF16] {
        let detector = detector.clone().with_layers_dtype(dtype);
        let found = detect(&detector, &picture, &mut ()).unwrap();
        assert_coins(&found, &truth, arguments.score_threshold);
    }
}

/// Checks that each coin of a picture was found once.
fn assert_coins(found: &[Found], truth: &CocoDataset, score_threshold: f32) {
    let drawn = found.iter().filter(|found| found.score >= score_threshold);
    let masks: Vec<_> = drawn.map(|found| &found.mask).collect();

    let coins = truth.annotations().iter().filter(|annotation| !annotation.is_crowd);
    let coins: Vec<_> = coins.map(|annotation| truth.mask_of(annotation).unwrap()).collect();
    assert_eq!(coins.len(), 12);
    for coin in &coins {
        let same = masks.iter().filter(|mask| mask.iou(coin, false) > 0.6).count();
        assert_eq!(same, 1, "masks of the coin in {:?}", coin.bounding_box());
    }
}

#[test]
fn every_layer_is_torchvisions() {
    let files = ["parity.png", "parity.safetensors", "shapes.json", "shapes.safetensors"];
    let [image, recording, config, weights] = files.map(shipped);
    let model = ["--config", &config, "--weights", &weights];
    run(&[&model[..], &["--image", &image, "--compare", &recording]].concat()).unwrap();
}
