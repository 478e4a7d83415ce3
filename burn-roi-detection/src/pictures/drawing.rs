//! Draws detections on a picture: masks as tints with outlines, boxes, and labels.

use image::imageops::{self, FilterType};
use image::{Rgb, RgbImage};

use super::Canvas;
use crate::RunLengths;
use crate::models::{DetectorConfig, Instances};

/// A picture whose longer side is shorter is enlarged to at least this, so that labels do not hide the objects.
const LEAST_SIDE: u32 = 640;
/// The longer side for which lines are a pixel wide.
const UNIT_SIDE: u32 = 1000;
const TINT: u8 = 110;
const WHITE: Rgb<u8> = Rgb([255, 255, 255]);

/// Used in turn.
const COLOURS: [Rgb<u8>; 10] = [
    Rgb([214, 39, 143]),
    Rgb([31, 98, 214]),
    Rgb([20, 140, 72]),
    Rgb([200, 80, 10]),
    Rgb([122, 62, 220]),
    Rgb([0, 140, 150]),
    Rgb([190, 30, 45]),
    Rgb([130, 110, 0]),
    Rgb([90, 70, 60]),
    Rgb([10, 90, 110]),
];

/// Draws instances on a picture: their masks as tints with outlines, their boxes, keypoints, and labels with scores. A
/// picture whose longer side is below 640 pixels is enlarged by a whole factor, so that labels do not hide the objects.
///
/// - `instances`: what was detected in this picture.
/// - `config`: of the detector, for the names of the classes.
/// - `score_threshold`: the least score of an instance that is drawn.
///
/// # Panics
///
/// If the picture has a side of 0 pixels.
pub fn draw(picture: &RgbImage, instances: &Instances, config: &DetectorConfig, score_threshold: f32) -> RgbImage {
    let (width, height) = picture.dimensions();
    let longer = width.max(height);
    let enlargement = LEAST_SIDE.div_ceil(longer).max(1);
    let paper = imageops::resize(picture, width * enlargement, height * enlargement, FilterType::Nearest);
    let unit = ((longer * enlargement + UNIT_SIDE / 2) / UNIT_SIDE).max(1);
    let mut canvas = Canvas::new(paper, unit);
    let scale = i64::from(enlargement);
    let scores = instances.scores.iter().enumerate();
    let drawn: Vec<usize> = scores
        .filter(|&(_, score)| *score >= score_threshold)
        .map(|(row, _)| row)
        .collect();

    // The highest score is drawn last, on top of the others. Then come all boxes, all keypoints, and all labels.
    for (index, &row) in drawn.iter().enumerate().rev() {
        if let Some(mask) = instances.masks.get(row) {
            tint(&mut canvas, mask, scale, colour(index));
        }
    }
    let boxes = drawn
        .iter()
        .map(|&row| instances.boxes[row].map(|side| (side * enlargement as f32).round() as i64));
    let boxes: Vec<[i64; 4]> = boxes.collect();
    for (index, &corners) in boxes.iter().enumerate().rev() {
        canvas.frame(corners, colour(index));
    }
    let radius = 2 * i64::from(unit);
    for (index, &row) in drawn.iter().enumerate().rev() {
        for keypoint in instances.keypoints.get(row).into_iter().flatten() {
            let [x, y] = [keypoint.x, keypoint.y].map(|place| (place * enlargement as f32).round() as i64);
            canvas.frame([x - radius, y - radius, x + radius, y + radius], colour(index));
        }
    }
    let mut taken = Vec::new();
    for (index, (&row, &corners)) in drawn.iter().zip(&boxes).enumerate() {
        let text = format!("{} {:.2}", config.label(instances.labels[row]), instances.scores[row]);
        let area = place(&canvas, corners, &text, &taken);
        canvas.fill(area, colour(index), 255);
        canvas.text(&text, [area[0] + margin(&canvas), area[1]], WHITE);
        taken.push(area);
    }
    canvas.into_picture()
}

/// Tints the pixels of a mask, and draws its outline.
fn tint(canvas: &mut Canvas, mask: &RunLengths, scale: i64, colour: Rgb<u8>) {
    for (x, top, bottom) in mask.columns() {
        let [x, top, bottom] = [x, top, bottom].map(|pixel| pixel as i64 * scale);
        canvas.fill([x, top, x + scale, bottom], colour, TINT);
    }
    for pixel in mask.outline() {
        let [x, y] = pixel.map(|place| place as i64 * scale);
        canvas.fill([x, y, x + scale, y + scale], colour, 255);
    }
}

/// The area of a box's label: above the box, or the first place that covers no other label.
fn place(canvas: &Canvas, [x1, y1, x2, y2]: [i64; 4], text: &str, taken: &[[i64; 4]]) -> [i64; 4] {
    let [width, height] = canvas.text_size(text);
    let width = width + 2 * margin(canvas);
    let [right, bottom] = canvas.size();
    let within = |[left, top]: [i64; 2]| {
        let left = left.min(right - width).max(0);
        let top = top.min(bottom - height).max(0);
        [left, top, left + width, top + height]
    };
    let places = [
        [x1, y1 - height],
        [x2 - width, y1 - height],
        [x1, y2],
        [x2 - width, y2],
        [x1, y1],
        [x1, y2 - height],
    ]
    .map(within);
    let is_free = |place: &&[i64; 4]| !taken.iter().any(|other| overlap(place, other));
    *places.iter().find(is_free).unwrap_or(&places[0])
}

fn overlap(left: &[i64; 4], right: &[i64; 4]) -> bool {
    left[0] < right[2] && right[0] < left[2] && left[1] < right[3] && right[1] < left[3]
}

/// The space on either side of a label's text.
fn margin(canvas: &Canvas) -> i64 {
    canvas.text_size("")[1] / 8
}

/// The colour of an index: ten colours in turn, on each of which white text is legible.
pub fn colour(index: usize) -> Rgb<u8> {
    COLOURS[index % COLOURS.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::Keypoint;

    fn instances() -> Instances {
        Instances {
            size: [1, 1],
            boxes: vec![[-3.0, 0.0, 1.0, 7.0]],
            scores: vec![1.0],
            labels: vec![90],
            masks: vec![RunLengths::from_counts(&[0, 1], [1, 1])],
            class_masks: None,
            keypoints: Vec::new(),
        }
    }

    #[test]
    fn a_box_that_is_the_whole_of_a_tiny_picture_is_drawn() {
        let config = DetectorConfig::named("maskrcnn_resnet50_fpn").unwrap();
        let picture = RgbImage::from_pixel(1, 1, WHITE);
        let drawn = draw(&picture, &instances(), &config, 0.5);
        assert_eq!(drawn.dimensions(), (640, 640));
        assert!(drawn.pixels().any(|&pixel| pixel == colour(0)));
    }

    #[test]
    fn only_scores_from_the_threshold_on_are_drawn() {
        let config = DetectorConfig::named("maskrcnn_resnet50_fpn").unwrap();
        let picture = RgbImage::from_pixel(1, 1, WHITE);
        let drawn = draw(&picture, &instances(), &config, 1.1);
        assert!(drawn.pixels().all(|&pixel| pixel == WHITE));
    }

    #[test]
    fn keypoints_are_drawn_where_they_are() {
        let config = DetectorConfig::named("keypointrcnn_resnet50_fpn").unwrap();
        let picture = RgbImage::from_pixel(700, 700, WHITE);
        let (x, y, score) = (500.0, 600.0, 1.0);
        let instances = Instances {
            boxes: vec![[0.0, 0.0, 4.0, 4.0]],
            labels: vec![1],
            masks: Vec::new(),
            keypoints: vec![vec![Keypoint { x, y, score }]],
            ..instances()
        };
        let drawn = draw(&picture, &instances, &config, 0.5);
        assert_eq!(*drawn.get_pixel(500, 600), colour(0));
        assert_eq!(*drawn.get_pixel(600, 500), WHITE);
    }
}
