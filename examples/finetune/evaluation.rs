//! COCO's measures of a detector, and a picture of what it finds.

use std::fmt;
use std::path::Path;

use burn_roi_detection::data::coco::{CocoDataset, CocoImage};
use burn_roi_detection::evaluate::coco::{
    COCO_KEYPOINT_SIGMAS, CocoDetection, CocoEvaluationConfig, CocoKind, try_evaluate_coco,
};
use burn_roi_detection::models::{Detector, DetectorConfig, Instances};
use find_objects::{Stages, as_picture, detect, drawing, pictures, progress_bar};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::pictures::Pictures;

/// What `--check` asks for.
const GOAL: f64 = 0.9;
/// Detections with a lower score are not drawn.
const LEAST_SCORE: f32 = 0.5;
/// The standard deviation of keypoints that are not COCO's 17, relative to the square root of the object's area. It is
/// between those of COCO's shoulders and wrists.
const SIGMA: f64 = 0.07;

/// AP and AP50 of boxes, of masks and of keypoints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measures(pub Vec<Measure>);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    pub kind: CocoKind,
    pub ap: f64,
    pub ap50: f64,
}

impl Measures {
    /// An error that names the goals that are missed.
    pub fn check(&self) -> Result<(), Error> {
        let missed = self.0.iter().filter(|measure| measure.ap50 < GOAL);
        let missed: Vec<String> = missed.map(Measure::to_string).collect();
        match missed.is_empty() {
            true => Ok(()),
            false => Err(Error::Missed(missed.join("; "))),
        }
    }
}

impl fmt::Display for Measures {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let measures: Vec<String> = self.0.iter().map(Measure::to_string).collect();
        formatter.write_str(&measures.join("; "))
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} AP {:.3}, AP50 {:.3}", self.kind, self.ap, self.ap50)
    }
}

/// Measures a detector on pictures.
pub fn evaluate(detector: &Detector, test: &Pictures) -> Result<Measures, Error> {
    let categories = categories(detector.config(), &test.dataset);
    let images = test.dataset.images();
    let bar = progress_bar(images.len() as u64).with_message("measuring");
    let mut detections = Vec::new();
    for image in images {
        let picture = test.picture(image)?;
        for instances in detector.try_detect(&[as_picture(&picture)?])? {
            detections.extend(in_coco_terms(&instances, image, &categories));
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    measure(detector.config(), &test.dataset, &detections)
}

/// The category of each label: the one with its name.
pub fn categories(config: &DetectorConfig, dataset: &CocoDataset) -> Vec<Option<i64>> {
    let by_name = |name: &String| dataset.categories().iter().find(|category| category.name == *name);
    let categories = config.classes.iter().map(|name| Some(by_name(name)?.id));
    categories.collect()
}

/// Measures what a detector has found.
pub fn measure(
    detector: &DetectorConfig,
    truth: &CocoDataset,
    detections: &[CocoDetection],
) -> Result<Measures, Error> {
    let measures = configs(detector).into_iter().map(|config| {
        let metrics = try_evaluate_coco(truth, detections, &config)?.metrics;
        Ok(Measure {
            kind: config.kind,
            ap: metrics.ap.unwrap_or(0.0),
            ap50: metrics.ap50.unwrap_or(0.0),
        })
    });
    measures.collect::<Result<_, Error>>().map(Measures)
}

/// The evaluation of each head.
fn configs(detector: &DetectorConfig) -> Vec<CocoEvaluationConfig> {
    let mut configs = vec![CocoEvaluationConfig::new(CocoKind::Bbox)];
    if detector.mask_head.is_some() {
        configs.push(CocoEvaluationConfig::new(CocoKind::Segm));
    }
    if let Some(head) = &detector.keypoint_head {
        let sigmas = match head.keypoints.len() == COCO_KEYPOINT_SIGMAS.len() {
            true => COCO_KEYPOINT_SIGMAS.to_vec(),
            false => vec![SIGMA; head.keypoints.len()],
        };
        configs.push(CocoEvaluationConfig {
            sigmas,
            ..CocoEvaluationConfig::new(CocoKind::Keypoints)
        });
    }
    configs
}

/// Instances in COCO's terms, without those whose label has no category.
pub fn in_coco_terms(instances: &Instances, image: &CocoImage, categories: &[Option<i64>]) -> Vec<CocoDetection> {
    let detection = |row: usize| {
        let category = (*categories.get(instances.labels[row])?)?;
        let keypoints = instances.keypoints.get(row).map(|keypoints| {
            let keypoints = keypoints
                .iter()
                .map(|keypoint| [keypoint.x.into(), keypoint.y.into(), 1.0]);
            keypoints.collect()
        });
        Some(CocoDetection {
            segmentation: instances.masks.get(row).cloned(),
            keypoints,
            ..CocoDetection::new(image.id, category, instances.scores[row].into())
                .with_corners(instances.boxes[row].map(f64::from))
        })
    };
    (0..instances.len()).filter_map(detection).collect()
}

/// Draws what a detector finds in the first picture.
pub fn showcase(detector: &Detector, test: &Pictures, path: &Path) -> Result<(), Error> {
    let Some(image) = test.dataset.images().first() else {
        return Ok(());
    };
    let picture = test.picture(image)?;
    let mut found = detect(detector, &picture, &mut Stages::hidden())?;
    found.retain(|found| found.score >= LEAST_SCORE);
    let drawn = drawing::draw(&picture, &found, detector.config());
    Ok(pictures::write(&drawn, path)?)
}
