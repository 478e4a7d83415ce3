//! The picture that the program writes.

use std::error::Error;

use burn::tensor::Tensor;
use image::imageops::{FilterType, replace, resize};
use image::{Rgb, RgbImage};

const COLOURS: [[u8; 3]; 6] = [
    [214, 39, 143],
    [20, 140, 72],
    [31, 98, 214],
    [0, 140, 150],
    [122, 62, 220],
    [224, 120, 0],
];
/// By how much an output is enlarged, and the pixels between two of them.
const ENLARGED: u32 = 3;
const GAP: u32 = 8;

/// The photograph with its regions on the left; right of it a column for each operator, and a row for each region.
///
/// Regions are `[center x, center y, width, height, degrees]`. The first three columns have those of `upright`, and the
/// last has `turned`, all as `[K, 3, side, side]` from 0 to 1.
pub fn draw(
    photograph: &RgbImage,
    upright: &[[f32; 5]; 5],
    turned: [f32; 5],
    columns: [Tensor<4>; 4],
) -> Result<RgbImage, Box<dyn Error>> {
    let (width, height) = photograph.dimensions();
    let tile = columns[0].dims()[3] as u32 * ENLARGED + GAP;
    let mut sheet = RgbImage::from_pixel(width + 5 * GAP + 4 * tile, height.max(5 * tile), Rgb([255; 3]));
    replace(&mut sheet, photograph, 0, 0);
    for (rectangle, colour) in upright.iter().chain([&turned]).zip(COLOURS) {
        outline(&mut sheet, *rectangle, Rgb(colour));
    }
    for (column, pooled) in (0..).zip(columns) {
        let first = if column == 3 { 5 } else { 0 };
        for (row, (picture, colour)) in (0..).zip(pictures(pooled)?.iter().zip(&COLOURS[first..])) {
            let (left, top) = (width + 2 * GAP + column * tile, row * tile);
            let mark = RgbImage::from_pixel(GAP / 2, tile - GAP, Rgb(*colour));
            replace(&mut sheet, &mark, (left - GAP / 2).into(), top.into());
            replace(&mut sheet, picture, left.into(), top.into());
        }
    }
    Ok(sheet)
}

/// `[K, 3, side, side]` from 0 to 1 as K enlarged pictures.
fn pictures(pooled: Tensor<4>) -> Result<Vec<RgbImage>, Box<dyn Error>> {
    let side = pooled.dims()[3] as u32;
    let values: Vec<f32> = pooled.permute([0, 2, 3, 1]).try_into_data()?.try_to_vec()?;
    let bytes: Vec<u8> = values.iter().map(|value| (value * 255.0).round() as u8).collect();
    let pictures = bytes.chunks_exact((side * side * 3) as usize);
    let pictures = pictures.filter_map(|bytes| RgbImage::from_raw(side, side, bytes.to_vec()));
    let enlarged = side * ENLARGED;
    Ok(pictures
        .map(|picture| resize(&picture, enlarged, enlarged, FilterType::Nearest))
        .collect())
}

/// Draws the edges of a rectangle that is turned counter-clockwise about its centre, 3 pixels thick.
fn outline(sheet: &mut RgbImage, [x, y, width, height, degrees]: [f32; 5], colour: Rgb<u8>) {
    let (sine, cosine) = degrees.to_radians().sin_cos();
    let steps = (width.max(height) * 2.0) as i32;
    for step in 0..=steps {
        let along = step as f32 / steps as f32 - 0.5;
        for [across, down] in [[along, -0.5], [along, 0.5], [-0.5, along], [0.5, along]] {
            let (across, down) = (across * width, down * height);
            let (left, top) = (
                x + across * cosine + down * sine - 1.0,
                y - across * sine + down * cosine - 1.0,
            );
            for pixel in 0..9 {
                let (column, row) = (left as u32 + pixel % 3, top as u32 + pixel / 3);
                if let Some(pixel) = sheet.get_pixel_mut_checked(column, row) {
                    *pixel = colour;
                }
            }
        }
    }
}
