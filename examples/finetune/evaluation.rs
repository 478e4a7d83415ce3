//! COCO's measures of a detector, and a picture of what it finds.

use std::fmt;
use std::path::Path;

use burn_roi_detection::data::coco::CocoPictures;
use burn_roi_detection::evaluate::coco::{CocoEvaluation, CocoKind};
use burn_roi_detection::models::{Detector, Picture};
use burn_roi_detection::pictures::draw;
use find_objects::{pictures, progress_bar};
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// What `--check` asks for.
const GOAL: f64 = 0.9;
/// Detections with a lower score are not drawn.
const LEAST_SCORE: f32 = 0.5;
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

impl From<&CocoEvaluation> for Measure {
    fn from(evaluation: &CocoEvaluation) -> Self {
        Self {
            kind: evaluation.config.kind,
            ap: evaluation.metrics.ap.unwrap_or(0.0),
            ap50: evaluation.metrics.ap50.unwrap_or(0.0),
        }
    }
}

/// Measures a detector on pictures.
pub fn evaluate(detector: &Detector, test: &CocoPictures) -> Result<Measures, Error> {
    let bar = progress_bar(test.dataset().images().len() as u64).with_message("measuring");
    let evaluations = test.evaluate(detector, || bar.inc(1))?;
    bar.finish_and_clear();
    Ok(Measures(evaluations.iter().map(Measure::from).collect()))
}

/// Draws what a detector finds in the first picture.
pub fn showcase(detector: &Detector, test: &CocoPictures, path: &Path) -> Result<(), Error> {
    let Some(image) = test.dataset().images().first() else {
        return Ok(());
    };
    let picture = test.picture(image)?;
    let found = detector.try_detect(&[Picture::try_from_image(&picture)?])?;
    let drawn = draw(&picture, &found[0], detector.config(), LEAST_SCORE);
    Ok(pictures::write(&drawn, path)?)
}
