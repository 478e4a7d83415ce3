//! Pictures as one batch: padded to one size, and as features for `crop_and_resize`.

use std::borrow::Cow;

use burn::tensor::{Device, Tensor, TensorData};
use image::RgbImage;
use rayon::prelude::*;

use crate::pyramid::{self, Pixels};

/// Pictures of one size, with the padding that made them so.
pub struct Batch<'a> {
    /// Height and width with the padding.
    pub size: [usize; 2],
    /// Height and width of each picture.
    sizes: Vec<[usize; 2]>,
    pixels: Vec<Cow<'a, [u8]>>,
}

impl<'a> Batch<'a> {
    /// Pads pictures with black on all sides, so that each lies in the middle. None may be empty.
    pub fn new(pictures: &'a [RgbImage]) -> Self {
        let sizes: Vec<[usize; 2]> = pictures
            .iter()
            .map(|picture| [picture.height(), picture.width()].map(|side| side as usize))
            .collect();
        let size = [0, 1].map(|axis| sizes.iter().map(|size| size[axis]).max().unwrap_or(0));
        let pixels = pictures.iter().zip(&sizes);
        Self {
            size,
            pixels: pixels.map(|(picture, &of)| padded(picture, of, size)).collect(),
            sizes,
        }
    }

    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Height and width of a picture without its padding.
    pub fn size_of(&self, picture: usize) -> [usize; 2] {
        self.sizes[picture]
    }

    /// The rows above a picture, and the columns left of it.
    pub fn padding_of(&self, picture: usize) -> [usize; 2] {
        padding(self.sizes[picture], self.size)
    }

    /// The scales of the pyramid: those of the first of the pictures with most levels, as in the package.
    pub fn scales(&self, least_face: f64) -> Vec<f64> {
        let mut most = Vec::new();
        for &size in &self.sizes {
            let scales = pyramid::scales(size, least_face);
            if scales.len() > most.len() {
                most = scales;
            }
        }
        most
    }

    /// A level of the pyramid, `[N, 3, height, width]`.
    pub fn level(&self, scale: f64, device: &Device) -> Tensor<4> {
        let size = self.size.map(|side| ((side as f64 * scale) as usize).max(1));
        let [height, width] = size;
        let mut values = vec![0.0; self.len() * 3 * height * width];
        for (output, bytes) in values.chunks_exact_mut(3 * height * width).zip(&self.pixels) {
            let [height, width] = self.size;
            pyramid::resize(Pixels { bytes, height, width }, size, output);
        }
        Tensor::from_data(TensorData::new(values, [self.len(), 3, height, width]), device)
    }

    /// The pictures `[N, 3, height, width]`, normalized to -1 to 1.
    pub fn features(&self, device: &Device) -> Tensor<4> {
        let [height, width] = self.size;
        let mut values = vec![0.0; self.len() * 3 * height * width];
        let planes = values.par_chunks_exact_mut(height * width).enumerate();
        planes.for_each(|(index, plane)| {
            let bytes = self.pixels[index / 3].chunks_exact(3);
            for (value, pixel) in plane.iter_mut().zip(bytes) {
                *value = (f32::from(pixel[index % 3]) - 127.5) / 128.0;
            }
        });
        Tensor::from_data(TensorData::new(values, [self.len(), 3, height, width]), device)
    }
}

fn padding(size: [usize; 2], padded: [usize; 2]) -> [usize; 2] {
    [0, 1].map(|axis| (padded[axis] - size[axis]) / 2)
}

fn padded(picture: &RgbImage, size: [usize; 2], to: [usize; 2]) -> Cow<'_, [u8]> {
    if size == to {
        return Cow::Borrowed(picture.as_raw());
    }
    let [top, left] = padding(size, to);
    let mut bytes = vec![0; 3 * to[0] * to[1]];
    let rows = bytes.chunks_exact_mut(3 * to[1]).skip(top);
    for (row, from) in rows.zip(picture.as_raw().chunks_exact(3 * size[1])) {
        row[3 * left..][..from.len()].copy_from_slice(from);
    }
    Cow::Owned(bytes)
}
