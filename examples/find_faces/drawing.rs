//! Draws faces on a picture: boxes, scores and landmarks.

use find_objects::Canvas;
use image::{Rgb, RgbImage};

use crate::detector::Face;

/// The longer side for which lines are a pixel wide.
const UNIT_SIDE: u32 = 1000;
const COLOUR: Rgb<u8> = Rgb([20, 140, 72]);
const LANDMARK: Rgb<u8> = Rgb([255, 214, 10]);
const BLACK: Rgb<u8> = Rgb([0, 0, 0]);
const WHITE: Rgb<u8> = Rgb([255, 255, 255]);

pub fn draw(picture: &RgbImage, faces: &[Face]) -> RgbImage {
    let longer = picture.width().max(picture.height());
    let unit = ((longer + UNIT_SIDE / 2) / UNIT_SIDE).max(1);
    let mut canvas = Canvas::new(picture.clone(), unit);
    for face in faces {
        let corners = face.corners.map(|end| end.round() as i64);
        canvas.frame(corners, COLOUR);
        for landmark in face.landmarks {
            dot(&mut canvas, landmark, face, unit.into());
        }
    }
    // All labels are on top of all boxes.
    for face in faces {
        label(&mut canvas, face);
    }
    canvas.into_picture()
}

/// A square with a dark edge, on a landmark.
fn dot(canvas: &mut Canvas, landmark: [f32; 2], face: &Face, unit: i64) {
    let [x, y] = landmark.map(|position| position.round() as i64);
    // In small faces smaller, so that it hides no eye.
    let radius = ((face.corners[2] - face.corners[0]) as i64 / 40).clamp(1, 2 * unit);
    for (radius, colour) in [(radius + unit, BLACK), (radius, LANDMARK)] {
        canvas.fill([x - radius, y - radius, x + radius + 1, y + radius + 1], colour, 255);
    }
}

/// The score above the box, or inside it if there is no room above.
fn label(canvas: &mut Canvas, face: &Face) {
    let text = format!("{:.3}", face.score);
    let [width, height] = canvas.text_size(&text);
    let margin = height / 8;
    let [left, top] = [face.corners[0], face.corners[1]].map(|end| end.round() as i64);
    let top = if top >= height { top - height } else { top };
    canvas.fill([left, top, left + width + 2 * margin, top + height], COLOUR, 255);
    canvas.text(&text, [left + margin, top], WHITE);
}
