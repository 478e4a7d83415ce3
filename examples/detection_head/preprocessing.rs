//! Turns a picture into the model's input: normalized, resized and padded.

use std::array;

use burn::tensor::{Device, Tensor, TensorData};
use image::RgbImage;

use crate::config::Preprocessing;

/// A picture as the model's input.
pub struct Prepared {
    /// `[1, 3, height, width]`, with the padding.
    pub input: Tensor<4>,
    /// Height and width without the padding. The boxes are in these pixels.
    pub size: [usize; 2],
    /// Height and width of the file's picture.
    pub original: [usize; 2],
}

/// Prepares a picture. Its bytes are resized directly, so that a large photograph never becomes a tensor of its full
/// size.
pub fn prepare(picture: &RgbImage, config: &Preprocessing, device: &Device) -> Prepared {
    let original = [picture.height(), picture.width()].map(|side| side as usize);
    let size = resized(original, config);
    let [height, width] = size.map(|side| side.next_multiple_of(config.size_divisible));

    let rows = Taps::of_axis(original[0], size[0]);
    let columns = Taps::of_axis(original[1], size[1]);
    let mut values = vec![0.0; 3 * height * width];
    for (channel, plane) in values.chunks_exact_mut(height * width).enumerate() {
        let normalized = normalized_bytes(config.mean[channel], config.std[channel]);
        let value = |x: u32, y: u32| normalized[usize::from(picture.get_pixel(x, y)[channel])];
        for (line, row) in plane.chunks_exact_mut(width).zip(&rows) {
            for (output, column) in line.iter_mut().zip(&columns) {
                let [top, bottom] = row.pixels.map(|y| {
                    column.weights[0] * value(column.pixels[0], y) + column.weights[1] * value(column.pixels[1], y)
                });
                *output = row.weights[0] * top + row.weights[1] * bottom;
            }
        }
    }
    let values = TensorData::new(values, [1, 3, height, width]);
    Prepared {
        input: Tensor::from_data(values, device),
        size,
        original,
    }
}

/// Height and width such that the shorter side is `min_size`, unless the longer side would then exceed `max_size`: then
/// the longer side is `max_size`. Each side is at least 1.
fn resized(original: [usize; 2], config: &Preprocessing) -> [usize; 2] {
    let [shorter, longer] = [original[0].min(original[1]), original[0].max(original[1])];
    let by_shorter = config.min_size as f64 / shorter as f64;
    let by_longer = config.max_size as f64 / longer as f64;
    let scale = by_shorter.min(by_longer);
    original.map(|side| ((side as f64 * scale) as usize).max(1))
}

/// The two pixels of an axis that an output pixel lies between, and their weights.
struct Taps {
    pixels: [u32; 2],
    weights: [f32; 2],
}

impl Taps {
    /// Bilinear interpolation as in torch, in f32, with `align_corners=False` and `antialias=False`.
    fn of_axis(input: usize, output: usize) -> Vec<Self> {
        let scale = input as f32 / output as f32;
        let taps = (0..output).map(|index| {
            let position = (scale * (index as f32 + 0.5) - 0.5).max(0.0);
            let first = (position as usize).min(input - 1);
            let second = (first + 1).min(input - 1);
            let weight = (position - first as f32).clamp(0.0, 1.0);
            Self {
                pixels: [first as u32, second as u32],
                weights: [1.0 - weight, weight],
            }
        });
        taps.collect()
    }
}

/// The normalized value of each byte of a channel.
fn normalized_bytes(mean: f32, std: f32) -> [f32; 256] {
    array::from_fn(|byte| (byte as f32 / 255.0 - mean) / std)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::presets;

    #[test]
    fn sizes_are_torchvisions() {
        let config = presets::named("maskrcnn_resnet50_fpn").unwrap().preprocessing;
        // Computed by torchvision 0.26, except that a side of 0 becomes 1.
        let cases = [
            ([480, 640], [800, 1066]),
            ([427, 640], [800, 1199]),
            ([333, 500], [800, 1201]),
            ([1080, 1920], [749, 1333]),
            ([6000, 8000], [800, 1066]),
            ([1, 1], [800, 800]),
            ([1, 8000], [1, 1333]),
        ];
        for (original, expected) in cases {
            assert_eq!(resized(original, &config), expected, "of {original:?}");
        }
    }

    #[test]
    fn a_picture_of_one_pixel_is_prepared() {
        let mut config = presets::named("maskrcnn_resnet50_fpn").unwrap().preprocessing;
        config.min_size = 8;
        let picture = RgbImage::from_pixel(1, 1, image::Rgb([255, 0, 0]));
        let prepared = prepare(&picture, &config, &Device::flex());
        assert_eq!(prepared.input.dims(), [1, 3, 32, 32]);
        assert_eq!(prepared.size, [8, 8]);
        let values: Vec<f32> = prepared.input.into_data().try_to_vec().unwrap();
        assert_eq!(values[0], (1.0 - config.mean[0]) / config.std[0]);
        assert_eq!(values[8], 0.0);
    }
}
