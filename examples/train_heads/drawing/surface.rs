//! The surfaces of shapes and backgrounds: flat, graded, striped or clouded.

use std::f32::consts::TAU;

use image::imageops::{self, FilterType};
use image::{GrayImage, Luma};

use crate::random::Random;

pub type Colour = [f32; 3];

/// The colour of each pixel, row by row.
pub struct Surface {
    pub width: usize,
    pub pixels: Vec<Colour>,
}

impl Surface {
    /// A surface about a colour, which differs by at most `contrast` from it.
    pub fn paint(width: usize, height: usize, colour: Colour, contrast: f32, random: &mut Random) -> Self {
        let other = colour.map(|channel| (channel + random.uniform(-contrast, contrast)).clamp(0.0, 255.0));
        let shares = match random.whole(0, 3) {
            0 => vec![0.0; width * height],
            1 => gradient(width, height, random),
            2 => stripes(width, height, random),
            _ => clouds(width, height, random),
        };
        let pixel = |share: f32| [0, 1, 2].map(|channel| colour[channel] + (other[channel] - colour[channel]) * share);
        Self {
            width,
            pixels: shares.into_iter().map(pixel).collect(),
        }
    }

    pub fn at(&mut self, x: usize, y: usize) -> &mut Colour {
        &mut self.pixels[y * self.width + x]
    }
}

/// A random colour.
pub fn colour(random: &mut Random) -> Colour {
    [(); 3].map(|()| random.uniform(0.0, 255.0))
}

/// A colour that stands out from most of the pixels.
pub fn contrasting(pixels: &[Colour], random: &mut Random) -> Colour {
    let stands_out = |colour: &Colour| {
        let distance = |pixel: &Colour| {
            (0..3)
                .map(|channel| (pixel[channel] - colour[channel]).abs())
                .sum::<f32>()
        };
        let distant = pixels.iter().filter(|pixel| distance(pixel) > 110.0).count();
        distant as f32 > 0.85 * pixels.len() as f32
    };
    let mut chosen = colour(random);
    for _ in 1..30 {
        if stands_out(&chosen) {
            break;
        }
        chosen = colour(random);
    }
    chosen
}

/// Values from 0 to 1 that grow in a random direction.
fn gradient(width: usize, height: usize, random: &mut Random) -> Vec<f32> {
    let (sine, cosine) = random.angle().sin_cos();
    let along = |place: usize, side: usize| 2.0 * place as f32 / (side - 1).max(1) as f32 - 1.0;
    each_pixel(width, height, |x, y| {
        (along(x, width) * cosine + along(y, height) * sine) / 2.9 + 0.5
    })
}

/// Values from 0 to 1 that rise and fall in a random direction.
fn stripes(width: usize, height: usize, random: &mut Random) -> Vec<f32> {
    let (sine, cosine) = random.angle().sin_cos();
    let frequency = TAU / random.uniform(6.0, 40.0);
    each_pixel(width, height, |x, y| {
        ((x as f32 * cosine + y as f32 * sine) * frequency).sin() / 2.0 + 0.5
    })
}

/// Values from 0 to 1 that vary smoothly over a random distance.
fn clouds(width: usize, height: usize, random: &mut Random) -> Vec<f32> {
    let cells = random.whole(3, 11) as u32;
    let coarse = GrayImage::from_fn(cells, cells, |_, _| Luma([random.whole(0, 255) as u8]));
    let smooth = imageops::resize(&coarse, width as u32, height as u32, FilterType::CatmullRom);
    smooth
        .into_raw()
        .into_iter()
        .map(|value| f32::from(value) / 255.0)
        .collect()
}

fn each_pixel(width: usize, height: usize, value: impl Fn(usize, usize) -> f32) -> Vec<f32> {
    let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    pixels.map(|(x, y)| value(x, y)).collect()
}
