//! The detector of the example `find_objects`, on a picture's pixels.

use std::path::Path;
use std::rc::Rc;

use burn_roi_detection::models::{Detector, DetectorConfig};
use burn_roi_detection::weights::{NameTable, StateDict};
use find_objects::{Found, Stages, config, detect_async};
use serde::Serialize;
use wasm_bindgen::prelude::*;

use crate::engine::{Engine, words};
use crate::picture::picture;

/// A configuration and the weights for it, as loaded by the page.
#[wasm_bindgen]
pub struct Weights {
    config: DetectorConfig,
    bytes: Vec<u8>,
}

#[wasm_bindgen]
impl Weights {
    /// `config` is the text of a JSON file, and `bytes` are those of a safetensors file.
    #[wasm_bindgen(constructor)]
    pub fn new(config: &str, bytes: Vec<u8>) -> Result<Weights, JsError> {
        let config = config::from_json(config, Path::new("coins.json")).map_err(words)?;
        Ok(Self { config, bytes })
    }
}

/// The detections of a picture.
#[derive(Serialize)]
struct Report<'a> {
    found: Vec<Object<'a>>,
    /// The stages that ran, with their times in milliseconds.
    stages: Vec<(&'static str, f64)>,
}

#[derive(Serialize)]
struct Object<'a> {
    label: &'a str,
    score: f32,
    /// `[x1, y1, x2, y2]` in pixels.
    corners: [f32; 4],
    /// COCO's run lengths: down the columns, and the first run is of zeros.
    mask: &'a [u32],
}

#[wasm_bindgen]
impl Engine {
    /// Makes the detector.
    #[wasm_bindgen(js_name = loadDetector)]
    pub fn load_detector(&self, weights: Weights) -> Result<(), JsError> {
        let Weights { config, bytes } = weights;
        let mut detector = Detector::try_new(config, &self.device).map_err(words)?;
        let state = StateDict::from_safetensors(bytes).map_err(words)?;
        state.load_into(&mut detector, NameTable::torchvision).map_err(words)?;
        self.detector.replace(Some(Rc::new(detector)));
        Ok(())
    }

    /// What the detector finds in a picture, as JSON. `pixels` has red, green, blue and alpha of each pixel.
    pub async fn detect(&self, pixels: Vec<u8>, width: u32, height: u32) -> Result<String, JsError> {
        let detector = self.detector.borrow().clone();
        let detector = detector.ok_or_else(|| words("the weights of the detector are not loaded"))?;
        let picture = picture(&pixels, width, height)?;
        let mut stages = Stages::hidden();
        let found = detect_async(&detector, &picture, &mut stages).await.map_err(words)?;
        let times = stages.finish().into_iter();
        let report = Report {
            found: found.iter().map(|found| object(found, detector.config())).collect(),
            stages: times
                .map(|(stage, time)| (stage.name(), time.as_secs_f64() * 1e3))
                .collect(),
        };
        serde_json::to_string(&report).map_err(words)
    }
}

fn object<'a>(found: &'a Found, config: &'a DetectorConfig) -> Object<'a> {
    Object {
        label: config.label(found.class),
        score: found.score,
        corners: found.corners,
        mask: found.mask.counts(),
    }
}
