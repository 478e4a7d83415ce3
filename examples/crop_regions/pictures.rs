//! Pictures as files and as tensors.

use std::path::Path;

use burn::tensor::TensorData;
use image::codecs::png::CompressionType;
use image::{Rgb, RgbImage};

use crate::error::Error;
use crate::operators::Pooled;
use crate::picture_files;

pub fn read(path: &Path) -> Result<RgbImage, Error> {
    picture_files::decode(path).map_err(|source| Error::Read {
        path: path.to_owned(),
        source,
    })
}

pub fn write(picture: &RgbImage, path: &Path) -> Result<(), Error> {
    picture_files::encode(picture, path, CompressionType::Best).map_err(|source| Error::Write {
        path: path.to_owned(),
        source,
    })
}

/// Pixels `[height, width, 3]` of bytes as features `[1, 3, height, width]` from 0 to 1.
pub fn to_features(photograph: &RgbImage) -> TensorData {
    let (width, height) = photograph.dimensions();
    let values: Vec<f32> = (0..3)
        .flat_map(|channel| photograph.pixels().map(move |pixel| pixel[channel]))
        .map(|byte| f32::from(byte) / 255.0)
        .collect();
    TensorData::new(values, [1, 3, height as usize, width as usize])
}

/// An operator's output for one region, as a picture.
pub fn from_pooled(pooled: &Pooled, region: usize) -> RgbImage {
    let [_, channels, height, width] = pooled.shape;
    let plane = height * width;
    let values = &pooled.values[region * channels * plane..][..channels * plane];
    RgbImage::from_fn(width as u32, height as u32, |x, y| {
        let pixel = y as usize * width + x as usize;
        Rgb([0, 1, 2].map(|channel| (values[channel * plane + pixel] * 255.0).round() as u8))
    })
}
