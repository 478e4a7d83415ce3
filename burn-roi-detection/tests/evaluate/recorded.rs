//! What pycocotools computed for random problems.

use std::collections::{BTreeMap, BTreeSet};
use std::{env, fs};

use burn_roi_detection::RunLengths;
use burn_roi_detection::data::coco::{CocoDataset, CocoFlaw};
use burn_roi_detection::evaluate::coco::{
    CocoDetection, CocoEvaluationConfig, CocoKind, detections_from_json, detections_to_json, evaluate_coco,
};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Recorded {
    problems: Vec<Problem>,
    polygons: Vec<Rasterised>,
}

#[derive(Deserialize)]
struct Problem {
    kind: CocoKind,
    truth: Value,
    detections: Value,
    stats: Vec<f64>,
    aps: Vec<f64>,
    table: String,
}

/// A file with flaws, how many of each, and pycocotools' numbers for each kind.
#[derive(Deserialize)]
struct Flawed {
    truth: Value,
    detections: Value,
    flaws: BTreeMap<String, usize>,
    stats: BTreeMap<String, Vec<f64>>,
}

#[derive(Deserialize)]
struct Rasterised {
    polygons: Vec<Vec<f64>>,
    size: [usize; 2],
    counts: String,
    area: u32,
    bbox: [u32; 4],
}

fn recorded() -> Recorded {
    serde_json::from_str(include_str!("recorded.json")).expect("the recording should be JSON")
}

fn read(problem: &Problem) -> (CocoDataset, Vec<CocoDetection>) {
    let dataset = CocoDataset::from_json(problem.truth.to_string().as_bytes()).expect("the truth should be whole");
    let detections = detections_from_json(problem.detections.to_string().as_bytes()).expect("results should be read");
    (dataset, detections)
}

#[track_caller]
fn assert_close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    let is_close = found
        .iter()
        .zip(expected)
        .all(|(found, expected)| (found - expected).abs() <= 1e-9);
    assert!(is_close, "{found:?} should be {expected:?}");
}

#[test]
fn evaluation_is_that_of_pycocotools() {
    let problems = recorded().problems;
    for kind in [CocoKind::Bbox, CocoKind::Segm, CocoKind::Keypoints] {
        assert!(
            problems.iter().any(|problem| problem.kind == kind),
            "no problem of {kind}"
        );
    }
    for problem in &problems {
        let (dataset, detections) = read(problem);
        let config = CocoEvaluationConfig::new(problem.kind);
        let evaluation = evaluate_coco(&dataset, &detections, &config);
        assert_close(&evaluation.metrics.stats(problem.kind), &problem.stats);
        let categories = evaluation.categories.iter();
        let aps: Vec<f64> = categories.map(|category| category.metrics.ap.unwrap_or(-1.0)).collect();
        assert_close(&aps, &problem.aps);
        assert_eq!(evaluation.to_string(), problem.table);
    }
}

/// `COCO_FLAWED=FILE` takes another recording of `record_flawed.py`.
#[test]
fn flawed_files_are_evaluated_as_by_pycocotools() {
    let recorded = match env::var_os("COCO_FLAWED") {
        Some(path) => fs::read_to_string(path).expect("the recording should be readable"),
        None => include_str!("recorded_flawed.json").to_string(),
    };
    let files: Vec<Flawed> = serde_json::from_str(&recorded).expect("the recording should be JSON");
    for file in &files {
        let truth = file.truth.to_string();
        let dataset = CocoDataset::from_json_without_broken(truth.as_bytes()).expect("the truth should be read");
        let detections = detections_from_json(file.detections.to_string().as_bytes()).expect("results should be read");
        for (kind, stats) in &file.stats {
            let kind = if kind == "segm" { CocoKind::Segm } else { CocoKind::Bbox };
            let metrics = evaluate_coco(&dataset, &detections, &CocoEvaluationConfig::new(kind)).metrics;
            assert_close(&metrics.stats(kind), stats);
        }
        let mut flaws: BTreeMap<String, usize> = BTreeMap::new();
        // A random box may have no width.
        let problems = dataset.problems().iter();
        for problem in problems.filter(|problem| problem.flaw != CocoFlaw::EmptyBox) {
            *flaws.entry(format!("{:?}", problem.flaw)).or_default() += 1;
        }
        assert_eq!(flaws, file.flaws);
    }
    let kinds: BTreeSet<&String> = files.iter().flat_map(|file| file.flaws.keys()).collect();
    assert_eq!(kinds.len(), 9, "{kinds:?}");
}

#[test]
fn detections_are_read_as_they_are_written() {
    for problem in &recorded().problems {
        let (_, detections) = read(problem);
        let json = detections_to_json(&detections);
        assert_eq!(detections_from_json(json.as_bytes()), Ok(detections));
    }
}

#[test]
fn polygons_are_rasterised_as_in_pycocotools() {
    let polygons = recorded().polygons;
    assert!(polygons.len() >= 100);
    for expected in &polygons {
        let found = RunLengths::from_polygons(&expected.polygons, expected.size);
        assert_eq!(found.to_coco_string(), expected.counts, "{:?}", expected.polygons);
        assert_eq!(RunLengths::from_coco_string(&expected.counts, expected.size), found);
        assert_eq!(found.area(), expected.area);
        assert_eq!(found.bounding_box(), expected.bbox);
    }
}

/// The maxima below are the defaults' first two, so that the last row of the smaller list is a row of the larger one.
#[test]
fn a_smaller_maximum_is_a_row_of_the_larger_ones() {
    for problem in recorded()
        .problems
        .iter()
        .filter(|problem| problem.kind != CocoKind::Keypoints)
    {
        let (dataset, detections) = read(problem);
        let mut config = CocoEvaluationConfig::new(problem.kind);
        let all = evaluate_coco(&dataset, &detections, &config)
            .metrics
            .ar_by_max_detections;
        config.max_detections = Some(vec![1, 10]);
        let fewer = evaluate_coco(&dataset, &detections, &config).metrics;
        assert_eq!(fewer.ar_by_max_detections, all[..2]);
        assert_eq!(fewer.ar, all[1].ar);
    }
}
