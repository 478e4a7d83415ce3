//! The faces that the example `find_faces` finds, in a picture's pixels.

use std::rc::Rc;

use find_faces::{Detector, Face, Stage, Stages};
use serde::Serialize;
use wasm_bindgen::prelude::*;

use crate::engine::{Engine, words};
use crate::picture::picture;

/// The faces of a picture.
#[derive(Serialize)]
struct Report {
    found: Vec<Object>,
    /// The stages, with their times in milliseconds.
    stages: Vec<(&'static str, f64)>,
}

#[derive(Serialize)]
struct Object {
    score: f32,
    /// `[x1, y1, x2, y2]` in pixels.
    corners: [f32; 4],
    /// `[x, y]` of the left eye, the right eye, the nose, and the left and the right corner of the mouth.
    landmarks: [[f32; 2]; 5],
}

#[wasm_bindgen]
impl Engine {
    /// Makes the detector of faces. `weights` are the bytes of `mtcnn.safetensors`.
    #[wasm_bindgen(js_name = loadFaces)]
    pub fn load_faces(&self, weights: Vec<u8>) -> Result<(), JsError> {
        let detector = Detector::new(weights, &self.device).map_err(words)?;
        self.faces.replace(Some(Rc::new(detector)));
        Ok(())
    }

    /// The faces of `least_face` pixels or more in a picture, as JSON. `pixels` has red, green, blue and alpha of each
    /// pixel.
    #[wasm_bindgen(js_name = findFaces)]
    pub async fn find_faces(
        &self,
        pixels: Vec<u8>,
        width: u32,
        height: u32,
        least_face: f64,
    ) -> Result<String, JsError> {
        let detector = self.faces.borrow().clone();
        let detector = detector.ok_or_else(|| words("the weights of the detector of faces are not loaded"))?;
        let picture = picture(&pixels, width, height)?;
        let found = detector.find_async(&[picture], least_face).await.map_err(words)?;
        let report = Report {
            found: found.faces.iter().flatten().map(object).collect(),
            stages: times(&found.stages),
        };
        serde_json::to_string(&report).map_err(words)
    }
}

fn object(face: &Face) -> Object {
    Object {
        score: face.score,
        corners: face.corners,
        landmarks: face.landmarks,
    }
}

fn times(stages: &Stages) -> Vec<(&'static str, f64)> {
    let milliseconds = |stage| stages.of(stage).as_secs_f64() * 1e3;
    Stage::ALL.map(|stage| (stage.name(), milliseconds(stage))).into()
}
