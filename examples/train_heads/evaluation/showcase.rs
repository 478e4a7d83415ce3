//! Pictures of what the detector finds.

use std::path::Path;

use burn_roi_detection::models::Detector;
use detection_head::{drawing, pictures};
use image::{RgbImage, imageops};

use super::measures::detect;
use crate::drawing::{NEW_SHAPE, Picture, SIZES, draw};
use crate::error::Error;

const PICTURES: usize = 3;
/// The detections with a lower score are not drawn.
const LEAST_SCORE: f32 = 0.5;
/// A picture with so many shapes shows the new one among others.
const LEAST_SHAPES: usize = 4;

/// Writes a row of pictures with what a detector finds in them. The same seed gives the same pictures.
pub fn showcase(detector: &Detector, seed: u64, path: &Path) -> Result<(), Error> {
    let candidates = (0..).map(|index| draw(seed, index, SIZES[0])).filter(is_rich);
    let mut row: Option<RgbImage> = None;
    for picture in candidates.take(PICTURES) {
        let mut found = detect(detector, &picture)?;
        found.retain(|found| found.score >= LEAST_SCORE);
        let drawn = drawing::draw(&picture.pixels, &found, detector.config());
        row = Some(match row {
            None => drawn,
            Some(row) => beside(&row, &drawn),
        });
    }
    match row {
        Some(row) => Ok(pictures::write(&row, path)?),
        None => Ok(()),
    }
}

fn is_rich(picture: &Picture) -> bool {
    picture.shapes.len() >= LEAST_SHAPES && picture.shapes.iter().any(|shape| shape.shape() == NEW_SHAPE)
}

fn beside(left: &RgbImage, right: &RgbImage) -> RgbImage {
    let mut both = RgbImage::new(left.width() + right.width(), left.height().max(right.height()));
    imageops::replace(&mut both, left, 0, 0);
    imageops::replace(&mut both, right, left.width().into(), 0);
    both
}
