//! Keypoints of a data set: learned, and measured.

use std::num::NonZeroUsize;

use burn_roi_detection::evaluate::coco::{CocoDetection, CocoEvaluationConfig, evaluate_coco};
use burn_roi_detection::models::{Detector, Instances, Keypoint, KeypointHeadConfig};
use burn_roi_detection::weights::{NameTable, StateDict};
use find_objects::config;
use serde_json::{Value, json};

use super::{Short, annotations, coins, on_large_stack};
use crate::evaluation::Measure;
use crate::prepare;
use crate::training::Run;

/// The edges of each coin as keypoints; one coin has none.
fn with_edges(name: &str) -> Value {
    let mut coco = annotations(name);
    coco["categories"][0]["keypoints"] = json!(["left_edge", "right_edge", "top"]);
    for object in coco["annotations"].as_array_mut().unwrap().iter_mut().skip(1) {
        let [x, y, w, h] = [0, 1, 2, 3].map(|index| object["bbox"][index].as_f64().unwrap());
        object["keypoints"] = json!([x, y + h / 2.0, 2, x + w, y + h / 2.0, 2, x + w / 2.0, y, 1]);
    }
    coco
}

/// A run with a narrow keypoint head that was trained on two other keypoints.
fn short(name: &str) -> Short {
    let mut short = Short::new(name, &[]);
    short.arguments.steps = NonZeroUsize::MIN;
    short.arguments.coco = Some(short.write("left.json", with_edges("left.json").to_string()));
    short.arguments.test_coco = Some(short.write("right.json", with_edges("right.json").to_string()));
    short.arguments.images = Some(coins(""));
    let mut shapes = config::read(&short.arguments.config).unwrap();
    shapes.mask_head = None;
    shapes.keypoint_head = Some(KeypointHeadConfig::new(vec!["one".into(), "two".into()], vec![8]));
    short.arguments.config = short.write("config.json", serde_json::to_vec(&shapes).unwrap());
    let detector = Detector::new(shapes, &short.arguments.backend.device().unwrap());
    let weights = short.folder.join("weights.safetensors");
    let state = StateDict::of(&detector, NameTable::torchvision).unwrap();
    state.write(&weights).unwrap();
    short.arguments.weights = Some(weights);
    short
}

#[test]
fn keypoints_are_learned_and_measured() {
    on_large_stack(|| {
        let short = short("keypoints");
        std::fs::create_dir_all(&short.arguments.output).unwrap();
        let (detector, training, test) = prepare(&short.arguments).unwrap();
        let head = detector.config().keypoint_head.as_ref().unwrap();
        assert_eq!(head.keypoints, ["left_edge", "right_edge", "top"]);
        let config = detector.config().clone();
        let mut run = Run::open(detector, &training, &test, &short.arguments).unwrap();
        run.train(1).unwrap();
        let loss = run.history.steps[0]
            .losses
            .iter()
            .find(|(name, _)| name == "loss_keypoint");
        assert!(loss.is_some_and(|(_, loss)| *loss > 0.0), "{loss:?}");

        // What an ideal detector finds, and one whose keypoints are wrong.
        let of = |shift: f32| {
            let dataset = test.dataset();
            let image = &dataset.images()[0];
            let mut found = Instances::default();
            for annotation in dataset.annotations().iter().filter(|annotation| !annotation.is_crowd) {
                let [x, y, w, h] = annotation.bbox.map(|value| value as f32);
                found.boxes.push([x, y, x + w, y + h]);
                found.scores.push(0.9);
                found.labels.push(1);
                // A coin without keypoints is ignored if those that are found are within it.
                let keypoints = annotation.keypoints.iter().flatten().map(|&keypoint| match keypoint {
                    [.., 0.0] => [x + w / 2.0, y + h / 2.0],
                    [x, y, _] => [x as f32, y as f32],
                });
                let keypoints = keypoints.map(|[x, y]| Keypoint {
                    x: x + shift,
                    y,
                    score: 1.0,
                });
                found.keypoints.push(keypoints.collect());
            }
            let categories = dataset.categories_of(&config.classes);
            let found = CocoDetection::of_instances(&found, image.id, &categories);
            let configs = CocoEvaluationConfig::for_heads(&config).into_iter();
            let measures = configs.map(|config| Measure::from(&evaluate_coco(dataset, &found, &config)));
            measures.collect::<Vec<_>>()
        };
        let values = |shift| {
            let measures = of(shift);
            let values = measures
                .into_iter()
                .map(|Measure { kind, ap, ap50 }| (kind.to_string(), ap, ap50));
            values.collect::<Vec<_>>()
        };
        let expected = |keypoints| {
            [
                ("bbox".to_string(), 1.0, 1.0),
                ("keypoints".to_string(), keypoints, keypoints),
            ]
        };
        assert_eq!(values(0.0), expected(1.0));
        assert_eq!(values(600.0), expected(0.0));
    });
}

#[test]
fn keypoints_of_another_number_are_named() {
    let short = short("other_keypoints");
    let mut coco = with_edges("left.json");
    coco["annotations"][3]["keypoints"] = json!([1, 2, 2]);
    short.write("left.json", coco.to_string());
    let (_, training, _) = prepare(&short.arguments).unwrap();
    let problem = "annotation 4: it has 1 `keypoints`, but the keypoint head learns 3";
    assert_eq!(training.problems()[0].to_string(), problem);
}
