//! Whole runs: what they write, and how they go on.

use std::fs;
use std::num::NonZeroUsize;
use std::time::Duration;

use burn_roi_detection::models::Detector;
use burn_roi_detection::train::{LearningRateSchedule, TrainerConfig};
use burn_roi_detection::weights::{NameTable, StateDict};
use clap::Parser;
use find_objects::config;
use serde_json::json;

use super::{Short, annotations, coins, on_large_stack, read};
use crate::arguments::Arguments;
use crate::categories::check_classes;
use crate::evaluation::{Measure, Measures};
use crate::history::{History, Step};
use crate::training::{Run, check_checkpoint, remove_checkpoint};
use crate::{Error, evaluate_only, prepare, run};

fn weights(detector: &Detector) -> StateDict {
    StateDict::of(detector, NameTable::torchvision).unwrap()
}

#[test]
fn a_run_that_was_interrupted_ends_as_one_that_was_not() {
    on_large_stack(|| {
        let mut short = Short::new("resumed", &["--interval", "2"]);
        fs::create_dir_all(&short.arguments.output).unwrap();
        let (detector, training, test) = prepare(&short.arguments).unwrap();
        let mut whole = Run::open(detector.clone(), &training, &test, &short.arguments).unwrap();
        whole.train(4).unwrap();
        let (expected, history) = (weights(&whole.detector().unwrap()), whole.history);
        assert_eq!(history.steps.len(), 4);
        assert_eq!(
            history.measures.iter().map(|(step, _)| *step).collect::<Vec<_>>(),
            [2, 4]
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
        // The first is read from JSON, which may change the last bit.
        for ((step, resumed), (expected_step, expected)) in resumed.history.measures.iter().zip(&history.measures) {
            assert_eq!((step, resumed.to_string()), (expected_step, expected.to_string()));
        }
        assert_eq!(resumed.history.measures.len(), 2);

        short.arguments.rate = Some(0.02);
        let error = Run::open(detector, &training, &test, &short.arguments).err().unwrap();
        assert_eq!(
            error.to_string(),
            "the interrupted run had other options: --rate was the default, not 0.02"
        );
        remove_checkpoint(&short.arguments).unwrap();
        let error = check_checkpoint(&short.arguments).unwrap_err();
        assert!(matches!(error, Error::NothingToResume(_)), "{error}");
    });
}

#[test]
fn a_run_that_was_interrupted_before_its_first_interval() {
    on_large_stack(|| {
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
    });
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
    on_large_stack(|| {
        let mut short = Short::new("whole", &["--interval", "4", "--evaluate-first"]);
        run(&short.arguments).unwrap();
        let history = History::read(&short.arguments).unwrap();
        let measured: Vec<usize> = history.measures.iter().map(|(step, _)| *step).collect();
        assert_eq!(measured, [0, 4]);
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
            let colour = find_objects::drawing::colour(index);
            let inked = curves.pixels().filter(|&&pixel| pixel == colour).count();
            assert!(inked > 100, "{inked} pixels of line {index}");
        }
        // What was written is what other commands read, and a run begins with.
        short.arguments.config = short.arguments.output.join("config.json");
        short.arguments.weights = Some(short.arguments.output.join("weights.safetensors"));
        let (detector, ..) = prepare(&short.arguments).unwrap();
        assert_eq!(detector.config().classes, ["__background__", "coin"]);
        // It measures as the run did, and writes nothing.
        short.arguments.evaluate_only = true;
        short.arguments.output = short.folder.join("none");
        let [(_, before), (_, after)] = &history.measures[..] else {
            panic!("{:?}", history.measures);
        };
        let measures = evaluate_only(&short.arguments).unwrap();
        assert_eq!(measures.to_string(), after.to_string());
        assert_ne!(before.to_string(), after.to_string());
        assert!(run(&short.arguments).is_ok() && !short.arguments.output.exists());
    });
}

/// The shipped detector knows shapes, and no coins.
#[test]
fn categories_that_a_detector_does_not_know() {
    let mut short = Short::new("unknown", &["--evaluate-only"]);
    let error = evaluate_only(&short.arguments).unwrap_err().to_string();
    let expected = "right.json has the name of one of the detector's classes: __background__, ";
    assert!(
        error.starts_with("no category of ") && error.contains(expected),
        "{error}"
    );
    let mut coco = annotations("right.json");
    coco["categories"]
        .as_array_mut()
        .unwrap()
        .push(json!({"id": 2, "name": "circle"}));
    short.arguments.test_coco = Some(short.write("right.json", coco.to_string()));
    let path = short.arguments.test()[0];
    let test = read(path, &coins("")).unwrap();
    let classes = config::read(&short.arguments.config).unwrap().classes;
    assert_eq!(check_classes(path, test.dataset(), &classes).unwrap(), ["coin"]);
    // The pictures are beside annotations that come alone.
    assert_eq!(short.arguments.test()[1], short.folder);
}

#[test]
fn defaults() {
    let of = |options: &[&str]| Arguments::parse_from(["finetune"].iter().chain(options));
    for (options, rate) in [
        (&[][..], 0.00125),
        (&["--batch-size", "2"], 0.0025),
        (&["--batch-size", "4", "--devices", "4"], 0.02),
        (&["--batch-size", "8", "--rate", "0.5"], 0.5),
    ] {
        assert_eq!(of(options).rate(), rate, "{options:?}");
    }
    let arguments = of(&[]);
    let library = TrainerConfig::new(LearningRateSchedule::new(0.1)).frozen_stages;
    assert_eq!((arguments.frozen_stages, library), (2, 2));
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    assert_eq!((arguments.threads(), of(&["--threads", "3"]).threads()), (cores, 3));
    assert_eq!(arguments.checkpoint_time(), Duration::from_secs(300));
    assert_eq!(
        of(&["--checkpoint-minutes", "90"]).checkpoint_time(),
        Duration::from_secs(5400)
    );
    assert!(!arguments.evaluate_first && !arguments.evaluate_only);
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
