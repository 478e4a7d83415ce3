//! A picture with what was found in it: masks as tints, boxes, and a label on each.

use image::imageops::{self, FilterType};
use image::{Rgb, RgbImage};

use crate::canvas::Canvas;
use crate::config::Config;
use crate::found::Found;

/// A smaller picture is enlarged to about this, so that the labels do not hide what they name.
const LEAST_SIDE: u32 = 640;
/// The longer side for which lines are a pixel wide.
const UNIT_SIDE: u32 = 1000;
const TINT: u8 = 110;
const WHITE: Rgb<u8> = Rgb([255, 255, 255]);

/// One after the other, so that neighbours differ; white text is legible on each.
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

pub fn draw(picture: &RgbImage, found: &[Found], config: &Config) -> RgbImage {
    let (width, height) = picture.dimensions();
    let longer = width.max(height);
    let enlargement = LEAST_SIDE.div_ceil(longer).max(1);
    let paper = imageops::resize(
        picture,
        width * enlargement,
        height * enlargement,
        FilterType::Nearest,
    );
    let unit = ((longer * enlargement + UNIT_SIDE / 2) / UNIT_SIDE).max(1);
    let mut canvas = Canvas::new(paper, unit);
    let scale = i64::from(enlargement);

    // The surest last, on top of the others, and all labels on top of all masks.
    for (index, found) in found.iter().enumerate().rev() {
        for (x, top, bottom) in found.mask.columns() {
            let [x, top, bottom] = [x, top, bottom].map(|pixel| pixel as i64 * scale);
            canvas.fill([x, top, x + scale, bottom], colour(index), TINT);
        }
    }
    for (index, found) in found.iter().enumerate().rev() {
        let corners = found
            .corners
            .map(|side| (side * enlargement as f32).round() as i64);
        canvas.frame(corners, colour(index));
        let text = format!("{} {:.2}", config.label(found.class), found.score);
        label(&mut canvas, corners, &text, colour(index));
    }
    canvas.into_picture()
}

/// A label that sits on the top of a box, or in it where the picture ends.
fn label(canvas: &mut Canvas, [x1, y1, ..]: [i64; 4], text: &str, colour: Rgb<u8>) {
    let [width, height] = canvas.text_size(text);
    let margin = height / 8;
    let [right, _] = canvas.size();
    let left = x1.min(right - width - 2 * margin).max(0);
    let top = if y1 >= height { y1 - height } else { y1.max(0) };
    canvas.fill(
        [left, top, left + width + 2 * margin, top + height],
        colour,
        255,
    );
    canvas.text(text, [left + margin, top], WHITE);
}

fn colour(index: usize) -> Rgb<u8> {
    COLOURS[index % COLOURS.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::presets;
    use crate::run_lengths::RunLengths;

    #[test]
    fn a_box_that_is_the_whole_of_a_tiny_picture_is_drawn() {
        let config = presets::named("maskrcnn_resnet50_fpn").unwrap();
        let picture = RgbImage::from_pixel(1, 1, WHITE);
        let found = Found {
            class: 90,
            score: 1.0,
            corners: [-3.0, 0.0, 1.0, 7.0],
            mask: RunLengths::of_window([1, 1], [0, 0, 1, 1], |_, _| true),
        };
        assert_eq!(draw(&picture, &[found], &config).dimensions(), (640, 640));
    }
}
