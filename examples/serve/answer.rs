//! The answer of `/detect`: JSON, or a drawn picture.

use std::sync::Arc;

use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use burn_roi_detection::models::{DetectorConfig, Instances};
use burn_roi_detection::pictures;
use image::RgbImage;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use serde_json::{Value, json};

use crate::decoding::Decoded;
use crate::failure::Failure;
use crate::polygons::polygons;
use crate::query::{Masks, Query};

/// The least score of what is drawn, unless the query says another.
const DRAWN: f32 = 0.5;

/// The answer for the pictures of a request. If it is drawn, there is one.
pub fn write(
    config: &DetectorConfig,
    pictures: &[Arc<Decoded>],
    found: Vec<Instances>,
    query: Query,
) -> Result<Response, Failure> {
    if query.is_drawn {
        let drawn = pictures.iter().zip(&found).map(|(picture, instances)| {
            pictures::draw(&picture.pixels, instances, config, query.threshold.unwrap_or(DRAWN))
        });
        return png(&drawn.collect::<Vec<_>>()[0]);
    }
    let pictures = pictures.iter().zip(&found);
    let pictures: Vec<Value> = pictures
        .map(|(picture, found)| of_picture(picture, found, config, query))
        .collect();
    let body = json!({ "model": config.name, "pictures": pictures }).to_string();
    Ok(([(CONTENT_TYPE, "application/json")], body).into_response())
}

fn of_picture(picture: &Decoded, found: &Instances, config: &DetectorConfig, query: Query) -> Value {
    let least = query.threshold.unwrap_or(f32::MIN);
    let rows = (0..found.len()).filter(|&row| found.scores[row] >= least);
    json!({
        "name": picture.name,
        "width": picture.pixels.width(),
        "height": picture.pixels.height(),
        "objects": rows.map(|row| of_row(found, row, config, query.masks)).collect::<Vec<_>>(),
    })
}

fn of_row(found: &Instances, row: usize, config: &DetectorConfig, masks: Masks) -> Value {
    let label = found.labels[row];
    let mut object = json!({
        "class": label,
        "label": config.label(label),
        "score": found.scores[row],
        // [x1, y1, x2, y2] in pixels.
        "box": found.boxes[row],
    });
    if let Some(mask) = found.masks.get(row) {
        match masks {
            Masks::Counts => object["mask"] = json!(mask),
            Masks::Polygons => object["mask"] = json!(polygons(mask)),
            Masks::None => {}
        }
    }
    if let (Some(keypoints), Some(head)) = (found.keypoints.get(row), &config.keypoint_head) {
        let named = keypoints.iter().zip(&head.keypoints);
        let named =
            named.map(|(point, name)| json!({ "name": name, "x": point.x, "y": point.y, "score": point.score }));
        object["keypoints"] = named.collect();
    }
    object
}

fn png(picture: &RgbImage) -> Result<Response, Failure> {
    let mut file = Vec::new();
    let encoder = PngEncoder::new_with_quality(&mut file, CompressionType::Fast, FilterType::Adaptive);
    let written = picture.write_with_encoder(encoder);
    written.map_err(|error| Failure::internal(format!("cannot write the picture: {error}")))?;
    Ok(([(CONTENT_TYPE, "image/png")], file).into_response())
}
