//! The files that a training of detectron2 leaves, served.

use std::{env, fs, process};

use burn::tensor::Device;
use burn_roi_detection::models::{Detector, Picture};
use burn_roi_detection::weights;
use image::{ImageFormat, Rgb, RgbImage};

use crate::client::detect;
use crate::detectron2_run::{self, YAML, checkpoint};
use crate::files::encoded;
use crate::program::Program;

#[test]
fn a_checkpoint_of_detectron2_answers_as_its_detector() {
    let file = |name: &str| env::temp_dir().join(format!("burn-roi-serve-{}-{name}", process::id()));
    let (config, path) = (file("config.yaml"), file("model_final.pkl"));
    // With random weights, no score is high.
    let yaml = YAML.replace("NUM_CLASSES: 3", "NUM_CLASSES: 3, SCORE_THRESH_TEST: 0.0");
    fs::write(&config, yaml).expect("a configuration");
    let detector = Detector::new(weights::read_config(&config).expect("a configuration"), &Device::flex());
    fs::write(&path, checkpoint(detectron2_run::weights(&detector))).expect("weights");

    let program = Program::of(config, &path, &[]);
    fs::remove_file(&path).expect("the weights");
    let picture = RgbImage::from_fn(80, 64, |x, y| Rgb([3 * x as u8, 4 * y as u8, 90]));
    let answer = detect(program.address, &encoded(&picture, ImageFormat::Png)).json();
    let objects = answer["pictures"][0]["objects"].as_array().expect("objects");
    let expected = &detector.detect(&[Picture::try_from_image(&picture).expect("a picture")])[0];
    assert!(!expected.is_empty());
    assert_eq!(objects.len(), expected.len());
    for (object, (label, score)) in objects.iter().zip(expected.labels.iter().zip(&expected.scores)) {
        assert_eq!(object["label"], detector.config().label(*label));
        assert!((object["score"].as_f64().expect("a score") - f64::from(*score)).abs() < 1e-6);
        assert!(object["mask"]["counts"].is_string());
    }
}
