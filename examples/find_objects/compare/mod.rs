//! Compares every layer with what torchvision computed of the same picture.

mod boxes;
mod detections;
mod recording;
mod table;

use burn::tensor::{Device, Tensor, TensorData};
use burn_roi_detection::models::{Detector, Head, ImageList, Picture, try_pool_regions};
use image::RgbImage;

use crate::error::Error;
use crate::found::{detect, rescaled};
use detections::Comparison;
pub use recording::Recording;
use table::Table;

/// Compares the layers one by one, then the detections, and fails where they differ.
///
/// Two runs can order proposals of nearly equal scores differently, and then every later row differs. So the layers
/// after the proposals get the recorded proposals as their input, and the layers after the detections get the recorded
/// detections. The last comparison is of a whole run, from the picture to the detections.
pub fn compare(detector: &Detector, picture: &RgbImage, recording: &Recording) -> Result<(), Error> {
    let mut table = Table::new(recording);
    let (heads, device) = (detector.heads(), detector.device());
    let images = detector.try_prepare(&[Picture::try_from_image(picture)?])?;
    table.compare("input", images.tensors.clone())?;
    let maps = detector.body(&images);
    for (index, map) in maps.iter().enumerate() {
        table.compare(&format!("body.{index}"), map.clone())?;
    }
    let coarsest = maps.len();
    let levels = detector.feature_pyramid(maps);
    for (index, level) in levels.iter().enumerate() {
        let name = match index == coarsest {
            true => "fpn.pool".to_string(),
            false => format!("fpn.{index}"),
        };
        table.compare(&name, level.clone())?;
    }
    let predicted = detector.region_predictions(&levels);
    for (index, objectness) in predicted.objectness.iter().enumerate() {
        table.compare(&format!("rpn.objectness.{index}"), objectness.clone())?;
    }
    for (index, deltas) in predicted.deltas.iter().enumerate() {
        table.compare(&format!("rpn.deltas.{index}"), deltas.clone())?;
    }
    for proposals in detector.try_proposals(predicted, &images)? {
        table.compare_proposals(proposals)?;
    }

    let proposals = recording.boxes("proposals")?;
    if !proposals.is_empty() {
        let pooled = pool(detector, Head::Box, &levels, on_device(&proposals, device), &images)?;
        table.compare("box_features", pooled.clone())?;
        let (logits, deltas) = heads.boxes(pooled);
        table.compare("class_logits", logits)?;
        table.compare("box_regression", deltas)?;
    }
    let boxes: Vec<[f32; 4]> = recording
        .boxes("detections.boxes")?
        .into_iter()
        .map(|corners| rescaled(corners, images.original_sizes[0], images.image_sizes[0]))
        .collect();
    if !boxes.is_empty() {
        let pooled = pool(detector, Head::Mask, &levels, on_device(&boxes, device), &images)?;
        table.compare("mask_features", pooled.clone())?;
        if let Some(logits) = heads.masks(pooled) {
            table.compare("mask_logits", logits)?;
        }
    }

    let found = detect(detector, picture, &mut ())?;
    let mut differing = table.finish();
    let comparison = Comparison::new(&found, &detections::read(recording)?);
    println!("\n{comparison}");
    if !comparison.is_same() {
        differing.push("detections".to_string());
    }
    match differing.is_empty() {
        true => Ok(()),
        false => Err(Error::Differs(differing.join(", "))),
    }
}

fn pool(
    detector: &Detector,
    head: Head,
    levels: &[Tensor<4>],
    boxes: Tensor<2>,
    images: &ImageList,
) -> Result<Tensor<4>, Error> {
    let pooled = try_pool_regions(levels, vec![boxes], &images.image_sizes, detector.config(), head);
    Ok(pooled?)
}

fn on_device(boxes: &[[f32; 4]], device: &Device) -> Tensor<2> {
    let values = boxes.as_flattened().to_vec();
    Tensor::from_data(TensorData::new(values, [boxes.len(), 4]), device)
}
