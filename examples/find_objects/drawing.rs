//! Draws detections on a picture.

use burn_roi_detection::models::{DetectorConfig, Instances};
pub use burn_roi_detection::pictures::colour;
use image::RgbImage;

use crate::found::Found;

/// Draws masks as tints with outlines, boxes, and labels.
pub fn draw(picture: &RgbImage, found: &[Found], config: &DetectorConfig) -> RgbImage {
    let instances = Instances {
        size: [picture.height(), picture.width()].map(|side| side as usize),
        boxes: found.iter().map(|found| found.corners).collect(),
        scores: found.iter().map(|found| found.score).collect(),
        labels: found.iter().map(|found| found.class).collect(),
        masks: found.iter().map(|found| found.mask.clone()).collect(),
        ..Instances::default()
    };
    burn_roi_detection::pictures::draw(picture, &instances, config, f32::MIN)
}
