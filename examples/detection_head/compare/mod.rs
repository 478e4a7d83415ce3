//! Compares every layer with what torchvision computed of the same picture.

mod boxes;
mod detections;
mod recording;
mod table;

use burn::tensor::{Device, Tensor, TensorData};
use image::RgbImage;

use crate::detector::Detector;
use crate::error::Error;
use crate::found::rescaled;
use crate::stages::Stages;
use detections::Comparison;
pub use recording::Recording;
use table::Table;
pub use table::largest_difference;

/// Compares the layers one by one, then the detections, and fails where they differ.
///
/// Two runs can order proposals of nearly equal scores differently, and then every later row differs. So the layers
/// after the proposals get the recorded proposals as their input, and the layers after the detections get the recorded
/// detections. The last comparison is of a whole run, from the picture to the detections.
pub fn compare(detector: &Detector, picture: &RgbImage, recording: &Recording, device: &Device) -> Result<(), Error> {
    let mut table = Table::new(recording);
    let model = &detector.model;
    let prepared = detector.prepare(picture);
    table.compare("input", prepared.input.clone())?;
    let maps = model.backbone.body.forward(prepared.input.clone());
    for (index, map) in maps.iter().enumerate() {
        table.compare(&format!("body.{index}"), map.clone())?;
    }
    let coarsest = maps.len();
    let levels = model.backbone.fpn.forward(maps);
    for (index, level) in levels.iter().enumerate() {
        let name = match index == coarsest {
            true => "fpn.pool".to_string(),
            false => format!("fpn.{index}"),
        };
        table.compare(&name, level.clone())?;
    }
    let predicted = model.rpn.head.forward(&levels);
    for (index, objectness) in predicted.objectness.iter().enumerate() {
        table.compare(&format!("rpn.objectness.{index}"), objectness.clone())?;
    }
    for (index, deltas) in predicted.deltas.iter().enumerate() {
        table.compare(&format!("rpn.deltas.{index}"), deltas.clone())?;
    }
    table.compare_proposals(detector.proposals(predicted, &prepared)?)?;

    let proposals = recording.boxes("proposals")?;
    if !proposals.is_empty() {
        let pooled = detector.pool_boxes(&levels, on_device(&proposals, device), &prepared)?;
        table.compare("box_features", pooled.clone())?;
        let (logits, deltas) = model.roi_heads.boxes(pooled);
        table.compare("class_logits", logits)?;
        table.compare("box_regression", deltas)?;
    }
    let boxes: Vec<[f32; 4]> = recording
        .boxes("detections.boxes")?
        .into_iter()
        .map(|corners| rescaled(corners, prepared.original, prepared.size))
        .collect();
    if !boxes.is_empty() {
        let pooled = detector.pool_masks(&levels, on_device(&boxes, device), &prepared)?;
        table.compare("mask_features", pooled.clone())?;
        table.compare("mask_logits", model.roi_heads.masks(pooled))?;
    }

    let mut stages = Stages::new(device);
    let found = detector.detect(picture, &mut stages)?;
    stages.finish();
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

fn on_device(boxes: &[[f32; 4]], device: &Device) -> Tensor<2> {
    let values = boxes.as_flattened().to_vec();
    Tensor::from_data(TensorData::new(values, [boxes.len(), 4]), device)
}
