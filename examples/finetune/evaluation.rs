//! COCO's measures of a detector, and a picture of what it finds.

use std::fmt;
use std::path::Path;

use burn_roi_detection::evaluate::coco::{CocoDetection, CocoEvaluationConfig, CocoKind, try_evaluate_coco};
use burn_roi_detection::models::Detector;
use detection_head::{Stages, as_picture, detect, drawing, pictures};

use crate::batches::Pictures;
use crate::error::Error;

/// What `--check` asks for.
const GOAL: f64 = 0.9;
/// Detections with a lower score are not drawn.
const LEAST_SCORE: f32 = 0.5;

/// AP and AP50 of boxes and of masks.
pub struct Measures(Vec<(&'static str, f64, f64)>);

impl Measures {
    /// An error that names the goals that are missed.
    pub fn check(&self) -> Result<(), Error> {
        let missed = self.0.iter().filter(|(_, _, ap50)| *ap50 < GOAL);
        let missed: Vec<String> = missed.map(|(kind, _, ap50)| format!("{kind} AP50 {ap50:.3}")).collect();
        match missed.is_empty() {
            true => Ok(()),
            false => Err(Error::Missed(missed.join(", "))),
        }
    }
}

impl fmt::Display for Measures {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (kind, ap, ap50) in &self.0 {
            writeln!(formatter, "  {kind}: AP {ap:.3}, AP50 {ap50:.3}")?;
        }
        Ok(())
    }
}

/// Measures a detector on the pictures of a COCO file.
pub fn evaluate(detector: &Detector, test: &Pictures) -> Result<Measures, Error> {
    let mut detections = Vec::new();
    for image in test.dataset.images() {
        let picture = test.picture(image)?;
        for instances in detector.try_detect(&[as_picture(&picture)?])? {
            for row in 0..instances.len() {
                let Some(category) = test.dataset.category_of_label(instances.labels[row]) else {
                    continue;
                };
                let detection = CocoDetection::new(image.id, category.id, instances.scores[row].into())
                    .with_corners(instances.boxes[row].map(f64::from));
                detections.push(match instances.masks.get(row) {
                    Some(mask) => detection.with_mask(mask.clone()),
                    None => detection,
                });
            }
        }
    }
    let kinds = [("box", CocoKind::Bbox), ("mask", CocoKind::Segm)];
    let with_masks = detector.config().mask_head.is_some();
    let measures = kinds
        .into_iter()
        .take(if with_masks { 2 } else { 1 })
        .map(|(name, kind)| {
            let metrics = try_evaluate_coco(&test.dataset, &detections, &CocoEvaluationConfig::new(kind))?.metrics;
            Ok((name, metrics.ap.unwrap_or(0.0), metrics.ap50.unwrap_or(0.0)))
        });
    measures.collect::<Result<_, Error>>().map(Measures)
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
