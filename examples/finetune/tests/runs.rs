//! Whole runs: what they write, and how they go on.

use std::fs;

use burn_roi_detection::models::Detector;
use burn_roi_detection::weights::{NameTable, StateDict};

use super::Short;
use crate::evaluation::{Measure, Measures};
use crate::history::{History, Step};
use crate::training::{Run, check_checkpoint, remove_checkpoint};
use crate::{Error, prepare, run};

fn weights(detector: &Detector) -> StateDict {
    StateDict::of(detector, NameTable::torchvision).unwrap()
}

#[test]
fn a_run_that_was_interrupted_ends_as_one_that_was_not() {
    let mut short = Short::new("resumed", &["--interval", "2"]);
    fs::create_dir_all(&short.arguments.output).unwrap();
    let (detector, training, test) = prepare(&short.arguments).unwrap();
    let mut whole = Run::open(detector.clone(), &training, &test, &short.arguments).unwrap();
    whole.train(4).unwrap();
    let (expected, history) = (weights(&whole.detector().unwrap()), whole.history);
    assert_eq!(history.steps.len(), 4);
    assert_eq!(
        history.measures.iter().map(|(step, _)| *step).collect::<Vec<_>>(),
        [0, 2, 4]
    );
    assert_ne!(weights(&detector), expected);
    remove_checkpoint(&short.arguments).unwrap();

    let mut interrupted = Run::open(detector.clone(), &training, &test, &short.arguments).unwrap();
    // A step more than the checkpoint has.
    interrupted.train(3).unwrap();
    let error = check_checkpoint(&short.arguments).unwrap_err();
    assert!(matches!(error, Error::Interrupted(_)), "{error}");
    short.arguments.resume = true;
    check_checkpoint(&short.arguments).unwrap();
    let mut resumed = Run::open(detector.clone(), &training, &test, &short.arguments).unwrap();
    assert_eq!(resumed.history.steps.len(), 2);
    resumed.train(4).unwrap();
    assert!(weights(&resumed.detector().unwrap()) == expected);
    assert_eq!(resumed.history.steps, history.steps);
    // The first two are read from JSON, which may change the last bit.
    for ((step, resumed), (expected_step, expected)) in resumed.history.measures.iter().zip(&history.measures) {
        assert_eq!((step, resumed.to_string()), (expected_step, expected.to_string()));
    }
    assert_eq!(resumed.history.measures.len(), 3);

    short.arguments.rate = 0.02;
    let error = Run::open(detector, &training, &test, &short.arguments).err().unwrap();
    assert_eq!(
        error.to_string(),
        "the interrupted run had other options: --rate was 0.01, not 0.02"
    );
    remove_checkpoint(&short.arguments).unwrap();
    let error = check_checkpoint(&short.arguments).unwrap_err();
    assert!(matches!(error, Error::NothingToResume(_)), "{error}");
}

#[test]
fn a_run_that_was_interrupted_before_its_first_interval() {
    let mut short = Short::new("early", &["--interval", "4"]);
    fs::create_dir_all(&short.arguments.output).unwrap();
    let (detector, training, test) = prepare(&short.arguments).unwrap();
    let mut interrupted = Run::open(detector.clone(), &training, &test, &short.arguments).unwrap();
    interrupted.train(2).unwrap();
    let steps = interrupted.history.steps;
    short.arguments.resume = true;
    check_checkpoint(&short.arguments).unwrap();
    let resumed = Run::open(detector, &training, &test, &short.arguments).unwrap();
    assert_eq!(resumed.history.steps, steps[..1]);
}

#[test]
fn a_history_that_is_broken() {
    let short = Short::new("history", &[]);
    fs::create_dir_all(&short.arguments.output).unwrap();
    let mut history = History::new(&short.arguments).unwrap();
    for name in ["loss_mask", "loss_box"] {
        let losses = vec![(name.to_string(), 0.5)];
        history.steps.push(Step {
            learning_rate: 0.1,
            losses,
        });
    }
    history.write(&short.arguments).unwrap();
    let error = |expected: &str| {
        let read = History::read(&short.arguments).and_then(|history| history.until(2, &short.arguments));
        let error = read.expect_err("a broken file").to_string();
        assert!(error.starts_with("the history ") && error.contains(expected), "{error}");
    };
    error("history.json: its steps have different losses");
    history.steps.pop();
    history.write(&short.arguments).unwrap();
    error("history.json: it has 1 steps, but the checkpoint has 2");
    fs::write(short.arguments.output.join("history.json"), "{").unwrap();
    error("history.json: EOF while parsing");
}

#[test]
fn a_run_writes_whole_files_and_leaves_no_checkpoint() {
    let mut short = Short::new("whole", &["--interval", "4"]);
    run(&short.arguments).unwrap();
    let names = [
        "after.png",
        "before.png",
        "config.json",
        "curves.png",
        "history.json",
        "weights.safetensors",
    ];
    assert_eq!(short.written(), names);
    let curves = image::open(short.arguments.output.join("curves.png"))
        .unwrap()
        .into_rgb8();
    for index in 0..4 {
        let colour = detection_head::drawing::colour(index);
        let inked = curves.pixels().filter(|&&pixel| pixel == colour).count();
        assert!(inked > 100, "{inked} pixels of line {index}");
    }
    // What was written is what other commands read, and a run begins with.
    short.arguments.config = short.arguments.output.join("config.json");
    short.arguments.weights = short.arguments.output.join("weights.safetensors");
    let (detector, ..) = prepare(&short.arguments).unwrap();
    assert_eq!(detector.config().classes, ["__background__", "coin"]);
}

#[test]
fn goals() {
    let measures = |ap50| {
        let kind = burn_roi_detection::evaluate::coco::CocoKind::Segm;
        Measures(vec![Measure { kind, ap: 0.5, ap50 }])
    };
    measures(0.9).check().unwrap();
    let error = measures(0.89).check().unwrap_err().to_string();
    assert_eq!(error, "the goals are missed: segm AP 0.500, AP50 0.890");
}
