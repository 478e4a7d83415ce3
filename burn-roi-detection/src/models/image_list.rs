//! [`ImageList`]: pictures as the model's input.

use std::borrow::Cow;

use burn::tensor::{DType, Device, Tensor, TensorData};
use rayon::prelude::*;

use super::config::{ChannelOrder, PreprocessingConfig, Resize};
use super::picture::{Picture, Pixels};
use super::pillow;
use crate::error::DetectionError;
use crate::host;
use burn_roi::internal::check_memory;

/// Pictures as the model's input: each resized and normalized, and padded with zeros to a common size. It corresponds
/// to torchvision's `ImageList`.
#[derive(Debug, Clone)]
pub struct ImageList {
    /// `[N, 3, height, width]`, with the padding.
    pub tensors: Tensor<4>,
    /// `[height, width]` of each resized picture, without the padding. Proposals are in these pixels.
    pub image_sizes: Vec<[usize; 2]>,
    /// `[height, width]` of each picture before it was resized. Detections are in these pixels.
    pub original_sizes: Vec<[usize; 2]>,
}

impl ImageList {
    /// Prepares at least one picture. Bytes are resized directly, so that a large photograph never becomes a tensor of
    /// its full size.
    pub(crate) async fn prepare(
        pictures: &[Picture<'_>],
        config: &PreprocessingConfig,
        device: &Device,
    ) -> Result<Self, DetectionError> {
        let original_sizes: Vec<[usize; 2]> = pictures.iter().map(Picture::size).collect();
        let image_sizes: Vec<[usize; 2]> = original_sizes.iter().map(|&size| resized(size, config)).collect();
        let [height, width] = padded(&image_sizes, config);
        let shape = [pictures.len(), 3, height, width];
        check_memory("pictures as the model's input", &shape, DType::F32, device)?;
        let mut values = vec![0.0; shape.iter().product()];
        let images = values.chunks_exact_mut(3 * height * width);
        for ((picture, &size), image) in pictures.iter().zip(&image_sizes).zip(images) {
            write(picture, size, config, image, [height, width]).await?;
        }
        Ok(Self {
            tensors: Tensor::from_data(TensorData::new(values, shape), device),
            image_sizes,
            original_sizes,
        })
    }
}

impl PreprocessingConfig {
    /// `[height, width]` of the model's input for a picture of this size alone. Pictures with the same input size have
    /// the same results in one batch as alone, up to rounding: none is padded further.
    pub fn input_size(&self, picture: [usize; 2]) -> [usize; 2] {
        padded(&[resized(picture, self)], self)
    }
}

/// `[height, width]` of a batch of resized pictures: those of the largest, at least the config's square, as multiples
/// of the config's divisor.
fn padded(image_sizes: &[[usize; 2]], config: &PreprocessingConfig) -> [usize; 2] {
    [0, 1].map(|axis| {
        let longest = image_sizes.iter().map(|size| size[axis]).max().unwrap_or_default();
        let longest = longest.max(config.square_pad.unwrap_or_default());
        let multiples = longest.div_ceil(config.size_divisible);
        multiples.saturating_mul(config.size_divisible)
    })
}

/// Height and width such that the shorter side is `min_size`, unless the longer side would then exceed `max_size`: then
/// the longer side is `max_size`. Each side is at least 1.
pub(super) fn resized(original: [usize; 2], config: &PreprocessingConfig) -> [usize; 2] {
    let [shorter, longer] = [original[0].min(original[1]), original[0].max(original[1])];
    let by_shorter = config.min_size as f64 / shorter as f64;
    let by_longer = config.max_size as f64 / longer as f64;
    let scale = by_shorter.min(by_longer);
    let rounding = match config.resize {
        Resize::Torch => 0.0,
        Resize::Pillow => 0.5,
    };
    original.map(|side| ((side as f64 * scale + rounding) as usize).max(1))
}

/// Writes a picture, resized and normalized, into an image `[3, height, width]` of zeros.
async fn write(
    picture: &Picture<'_>,
    size: [usize; 2],
    config: &PreprocessingConfig,
    image: &mut [f32],
    padded: [usize; 2],
) -> Result<(), DetectionError> {
    let original = picture.size();
    let taps_from = |[height, width]: [usize; 2]| [Taps::of_axis(height, size[0]), Taps::of_axis(width, size[1])];
    let normalize = |channel: usize, value: f32| (value - config.mean[channel]) / config.std[channel];
    let colour = |channel: usize| match config.channel_order {
        ChannelOrder::Rgb => channel,
        ChannelOrder::Bgr => 2 - channel,
    };
    match picture.pixels() {
        Pixels::Bytes(bytes) => {
            let normalized: [[f32; 256]; 3] = std::array::from_fn(|channel| {
                std::array::from_fn(|byte| normalize(channel, byte as f32 * config.maximum / 255.0))
            });
            let (bytes, [height, width]) = match config.resize {
                Resize::Torch => (Cow::Borrowed(*bytes), original),
                Resize::Pillow => (pillow::resize(bytes, original, size), size),
            };
            resize(image, padded, &taps_from([height, width]), |channel, y, x| {
                let byte = bytes[3 * (y * width + x) + colour(channel)];
                normalized[channel][usize::from(byte)]
            });
        }
        Pixels::Tensor(tensor) => {
            let values = host::read_floats(tensor).await?;
            resize(image, padded, &taps_from(original), |channel, y, x| {
                let value = values[(colour(channel) * original[0] + y) * original[1] + x] as f32;
                normalize(channel, value * config.maximum)
            });
        }
    }
    Ok(())
}

/// Bilinear interpolation of the pixels `value(channel, y, x)` along rows and columns.
fn resize(
    image: &mut [f32],
    [height, width]: [usize; 2],
    [rows, columns]: &[Vec<Taps>; 2],
    value: impl Fn(usize, usize, usize) -> f32 + Sync,
) {
    let planes = image.par_chunks_exact_mut(height * width).enumerate();
    planes.for_each(|(channel, plane)| {
        let bands = plane.par_chunks_mut(BAND * width).zip(rows.par_chunks(BAND));
        bands.for_each(|(lines, rows)| {
            let [mut above, mut below] = [ResizedRow::default(), ResizedRow::default()];
            for (line, row) in lines.chunks_exact_mut(width).zip(rows) {
                let [top, bottom] = row.pixels;
                if below.y == Some(top) {
                    std::mem::swap(&mut above, &mut below);
                }
                above.move_to(top, columns, |x| value(channel, top, x));
                below.move_to(bottom, columns, |x| value(channel, bottom, x));
                for ((output, top), bottom) in line.iter_mut().zip(&above.values).zip(&below.values) {
                    *output = row.weights[0] * top + row.weights[1] * bottom;
                }
            }
        });
    });
}

/// How many lines of the output a thread computes in turn. In an enlarged picture several lines lie between the same
/// two rows, which are then resized once.
const BAND: usize = 16;

/// A row of a picture, resized along its columns.
#[derive(Default)]
struct ResizedRow {
    y: Option<usize>,
    values: Vec<f32>,
}

impl ResizedRow {
    /// Makes it row `y`, whose pixels are `value(x)`, unless it is already.
    fn move_to(&mut self, y: usize, columns: &[Taps], value: impl Fn(usize) -> f32) {
        if self.y.replace(y) == Some(y) {
            return;
        }
        self.values.clear();
        self.values.extend(columns.iter().map(|column| {
            let [left, right] = column.pixels.map(&value);
            column.weights[0] * left + column.weights[1] * right
        }));
    }
}

/// The two pixels of an axis that an output pixel lies between, and their weights.
pub(super) struct Taps {
    pub pixels: [usize; 2],
    pub weights: [f32; 2],
}

impl Taps {
    /// Bilinear interpolation as in torch, in f32, with `align_corners=False` and `antialias=False`.
    pub fn of_axis(input: usize, output: usize) -> Vec<Self> {
        let scale = input as f32 / output as f32;
        let taps = (0..output).map(|index| {
            let position = (scale * (index as f32 + 0.5) - 0.5).max(0.0);
            let first = (position as usize).min(input - 1);
            let second = (first + 1).min(input - 1);
            let weight = (position - first as f32).clamp(0.0, 1.0);
            Self {
                pixels: [first, second],
                weights: [1.0 - weight, weight],
            }
        });
        taps.collect()
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::read_sync;

    use super::*;

    #[test]
    fn sizes_are_torchvisions() {
        let config = PreprocessingConfig::new();
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
    fn sizes_are_detectron2s() {
        let config = PreprocessingConfig {
            resize: Resize::Pillow,
            ..PreprocessingConfig::new()
        };
        // By `ResizeShortestEdge.get_output_shape`, except that a side of 0 becomes 1.
        let cases = [
            ([480, 640], [800, 1067]),
            ([427, 640], [800, 1199]),
            ([333, 500], [800, 1201]),
            ([1080, 1920], [750, 1333]),
            ([1, 8000], [1, 1333]),
        ];
        for (original, expected) in cases {
            assert_eq!(resized(original, &config), expected, "of {original:?}");
        }
    }

    fn values(pictures: &[Picture<'_>], config: &PreprocessingConfig) -> (ImageList, Vec<f32>) {
        let images = read_sync(ImageList::prepare(pictures, config, &Device::flex())).unwrap();
        let values = images.tensors.clone().into_data().try_to_vec().unwrap();
        (images, values)
    }

    #[test]
    fn pictures_of_two_sizes_are_padded_to_one() {
        let config = PreprocessingConfig {
            min_size: 8,
            max_size: 64,
            ..PreprocessingConfig::new()
        };
        let [one, two] = [vec![255, 0, 0], [0, 255, 0].repeat(6)];
        let pictures = [Picture::from_rgb([1, 1], &one), Picture::from_rgb([1, 6], &two)];
        let (images, values) = values(&pictures, &config);
        assert_eq!(images.tensors.dims(), [2, 3, 32, 64]);
        assert_eq!(
            [[1, 1], [1, 6]].map(|size| config.input_size(size)),
            [[32, 32], [32, 64]]
        );
        assert_eq!(images.image_sizes, [[8, 8], [8, 48]]);
        assert_eq!(values[0], (1.0 - config.mean[0]) / config.std[0]);
        assert_eq!(values[8], 0.0);
        let second = &values[3 * 32 * 64..];
        assert_eq!(second[32 * 64 + 7 * 64 + 47], (1.0 - config.mean[1]) / config.std[1]);
        assert_eq!([second[48], second[8 * 64]], [0.0; 2]);
    }

    #[test]
    fn a_square_is_the_least_size() {
        let config = PreprocessingConfig {
            square_pad: Some(1000),
            ..PreprocessingConfig::new()
        };
        assert_eq!(config.input_size([480, 640]), [1024, 1088]);
        assert_eq!(config.input_size([480, 480]), [1024, 1024]);
    }

    #[test]
    fn floats_are_what_their_bytes_are() {
        let bytes: Vec<u8> = (0..3 * 4 * 5).map(|index| (index * 4) as u8).collect();
        let floats = |channel: usize| {
            bytes
                .iter()
                .skip(channel)
                .step_by(3)
                .map(|&byte| f32::from(byte) / 255.0)
        };
        let floats: Vec<f32> = (0..3).flat_map(floats).collect();
        let tensor = Tensor::from_data(TensorData::new(floats, [3, 4, 5]), &Device::flex());
        let config = PreprocessingConfig {
            min_size: 6,
            channel_order: ChannelOrder::Bgr,
            size_divisible: 1,
            ..PreprocessingConfig::new()
        };
        let of_bytes = values(&[Picture::from_rgb([4, 5], &bytes)], &config).1;
        let of_floats = values(&[Picture::from_tensor(tensor)], &config).1;
        assert_eq!(of_bytes, of_floats);
        // The first channel is blue.
        let blue = (f32::from(bytes[2]) / 255.0 - config.mean[0]) / config.std[0];
        assert_eq!(of_bytes[0], blue);
    }
}
