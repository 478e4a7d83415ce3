//! From a picture to what the model takes: normalised, resized, and padded to whole strides.

use std::array;

use burn::tensor::{Device, Tensor, TensorData};
use image::RgbImage;

use crate::config::Preprocessing;

/// A picture as the model takes it.
pub struct Prepared {
    /// `[1, 3, height, width]`, with the padding.
    pub input: Tensor<4>,
    /// Height and width without the padding, in which the boxes are.
    pub size: [usize; 2],
    /// Height and width of the file's picture.
    pub original: [usize; 2],
}

/// Prepares a picture. All of it is done here, from bytes to the size that is computed on, so that a
/// large photograph never becomes a tensor of its own size.
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

/// Height and width such that the shorter side is `min_size`, or the longer one `max_size` where it
/// would become longer than that. A side of a very long picture stays a pixel at least.
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
    /// Bilinear, corners not aligned, without smoothing, and in f32: as torch interpolates.
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

/// What each byte of a channel becomes.
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
        // By torchvision 0.26; a side that it would make 0 is 1.
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
