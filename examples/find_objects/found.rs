//! The objects of a picture, as this example draws and prints them.

use burn_roi_detection::RunLengths;
use burn_roi_detection::models::{Detector, Instances, Picture, StageObserver};
use image::RgbImage;

use crate::error::Error;

/// A detected object.
#[derive(Debug, Clone)]
pub struct Found {
    pub class: usize,
    pub score: f32,
    /// `[x1, y1, x2, y2]` in pixels of the picture.
    pub corners: [f32; 4],
    /// Empty if the model has no mask head.
    pub mask: RunLengths,
}

/// The objects in a picture, by decreasing score.
pub fn detect(detector: &Detector, picture: &RgbImage, observer: &mut dyn StageObserver) -> Result<Vec<Found>, Error> {
    let instances = detector.try_detect_observed(&[Picture::try_from_image(picture)?], observer)?;
    Ok(of_picture(&instances))
}

/// [`detect`] for a browser, which can't block on a GPU.
pub async fn detect_async(
    detector: &Detector,
    picture: &RgbImage,
    observer: &mut dyn StageObserver,
) -> Result<Vec<Found>, Error> {
    let pictures = [Picture::try_from_image(picture)?];
    let instances = detector.detect_observed_async(&pictures, observer).await?;
    Ok(of_picture(&instances))
}

/// The objects of a batch of one picture.
fn of_picture(batch: &[Instances]) -> Vec<Found> {
    let rows = batch
        .iter()
        .flat_map(|instances| (0..instances.len()).map(move |row| (instances, row)));
    let found = rows.map(|(instances, row)| Found {
        class: instances.labels[row],
        score: instances.scores[row],
        corners: instances.boxes[row],
        mask: match instances.masks.get(row) {
            Some(mask) => mask.clone(),
            None => empty(instances.size),
        },
    });
    found.collect()
}

/// A mask without a pixel.
fn empty([height, width]: [usize; 2]) -> RunLengths {
    // A picture has fewer than 2^32 pixels: `pictures` reads no larger one.
    RunLengths::from_counts(&[(height * width) as u32], [height, width])
}

/// Scales a box from a picture of one size to a picture of another; sizes are `[height, width]`.
pub fn rescaled([x1, y1, x2, y2]: [f32; 4], from: [usize; 2], to: [usize; 2]) -> [f32; 4] {
    let [height, width] = [0, 1].map(|axis| to[axis] as f32 / from[axis] as f32);
    [x1 * width, y1 * height, x2 * width, y2 * height]
}
