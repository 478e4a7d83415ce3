//! Where a mask lies in an image, and its pixels there.

use std::ops::Range;

use burn::tensor::{DType, Device, FloatDType, Tensor, TensorData};

use super::host;
use crate::error::RoiError;

/// The pixels that a mask is resized to.
pub struct Window {
    y: Span,
    x: Span,
}

/// The windows of boxes, for masks of `mask_size` with `padding` around them.
pub fn read_windows(boxes: &Tensor<2>, mask_size: usize, padding: usize) -> Result<Vec<Window>, RoiError> {
    let dtype = boxes.dtype();
    let mask = Side {
        size: mask_size,
        padding,
    };
    let window = |(row, coordinates): (usize, &[f64; 4])| {
        if !coordinates.iter().all(|coordinate| coordinate.is_finite()) {
            let coordinates = *coordinates;
            return Err(RoiError::BoxNotFinite { row, coordinates });
        }
        let [x1, y1, x2, y2] = *coordinates;
        Ok(Window {
            y: Span::new(y1, y2, mask, dtype),
            x: Span::new(x1, x2, mask, dtype),
        })
    };
    let boxes = host::read_boxes(boxes);
    boxes.iter().enumerate().map(window).collect()
}

impl Window {
    /// An image of `shape` `[1, 1, H, W]` with a mask `[M, M]` in its window, and 0 elsewhere.
    pub fn paste(&self, mask: Tensor<2>, shape: [usize; 4]) -> Tensor<4> {
        let (device, dtype) = (mask.device(), mask.dtype());
        let image = Tensor::zeros(shape, (&device, dtype));
        let rows = self.y.visible(shape[2]);
        let columns = self.x.visible(shape[3]);
        if rows.is_empty() || columns.is_empty() {
            return image;
        }
        let mask = match dtype {
            DType::F16 | DType::BF16 => mask.cast(FloatDType::F32),
            _ => mask,
        };
        let resized = self.y.resize(mask, 0, &rows);
        let resized = self.x.resize(resized, 1, &columns).cast(dtype);
        let resized = resized.reshape([1, 1, rows.len(), columns.len()]);
        image.slice_assign([0..1, 0..1, rows, columns], resized)
    }
}

/// One side of a mask.
#[derive(Clone, Copy)]
struct Side {
    /// Its pixels.
    size: usize,
    /// The pixels of 0 before and after them.
    padding: usize,
}

impl Side {
    /// The pixels with those around them.
    fn padded(self) -> f64 {
        self.size as f64 + 2.0 * self.padding as f64
    }

    /// The pixel of the mask that a padded one is, and how much of `weight` it has: none of it in the padding.
    fn pixel(self, padded: f64, weight: f64) -> (i64, f64) {
        let pixel = padded - self.padding as f64;
        let last = self.size as f64 - 1.0;
        let inside = (0.0..=last).contains(&pixel);
        (pixel.clamp(0.0, last) as i64, if inside { weight } else { 0.0 })
    }
}

/// A window along one axis, in whole pixels of the image.
struct Span {
    /// The first pixel, which may be before the image.
    start: i64,
    /// The pixel after the last one.
    end: i64,
    /// The side of the mask that is resized to it.
    mask: Side,
}

impl Span {
    /// The pixels of a box from `low` to `high`, once it has grown as its mask has, as `dtype` computes them.
    fn new(low: f64, high: f64, mask: Side, dtype: DType) -> Self {
        let factor = mask.padded() / mask.size as f64;
        let factor = match dtype {
            DType::F64 => factor,
            _ => host::rounded(factor, DType::F32),
        };
        let half = host::rounded(host::rounded(high - low, dtype) * 0.5, dtype);
        let half = host::rounded(half * factor, dtype);
        let centre = host::rounded(host::rounded(high + low, dtype) * 0.5, dtype);
        Self {
            start: whole(host::rounded(centre - half, dtype)),
            end: whole(host::rounded(centre + half, dtype)) + 1,
            mask,
        }
    }

    /// The pixels of the window that an image of `size` pixels has.
    fn visible(&self, size: usize) -> Range<usize> {
        let within = |pixel: i64| pixel.clamp(0, size as i64) as usize;
        within(self.start)..within(self.end)
    }

    /// A mask, resized along an axis to those pixels of the window that are `visible`.
    fn resize(&self, mask: Tensor<2>, axis: usize, visible: &Range<usize>) -> Tensor<2> {
        let device = mask.device();
        let [first, second] = self.samples(visible, mask.dtype());
        let part = |samples: Samples| {
            let weights = samples.weights(axis, mask.dtype(), &device);
            let pixels = mask.clone().select(axis, host::ints(samples.pixels, &device));
            let dims = pixels.dims();
            pixels * weights.expand(dims)
        };
        part(first) + part(second)
    }

    /// Between which two pixels of the mask each pixel lies, and the weights of these.
    fn samples(&self, visible: &Range<usize>, dtype: DType) -> [Samples; 2] {
        let round = |value| host::rounded(value, dtype);
        let length = (self.end - self.start).max(1) as f64;
        let scale = round(self.mask.padded() / length);
        let last = self.mask.padded() - 1.0;

        let mut samples = [Samples::default(), Samples::default()];
        for pixel in visible.clone() {
            let pixel = (pixel as i64 - self.start) as f64;
            let position = round(round(scale * (pixel + 0.5)) - 0.5).max(0.0);
            let first = position.floor().min(last);
            let fraction = round(position - first).clamp(0.0, 1.0);
            samples[0].push(self.mask.pixel(first, round(1.0 - fraction)));
            samples[1].push(self.mask.pixel((first + 1.0).min(last), fraction));
        }
        samples
    }
}

/// One pixel of the mask, and its weight, for each pixel of a window along an axis.
#[derive(Default)]
struct Samples {
    pixels: Vec<i64>,
    weights: Vec<f64>,
}

impl Samples {
    fn push(&mut self, (pixel, weight): (i64, f64)) {
        self.pixels.push(pixel);
        self.weights.push(weight);
    }

    /// The weights, along an axis of two.
    fn weights(&self, axis: usize, dtype: DType, device: &Device) -> Tensor<2> {
        let mut shape = [1, 1];
        shape[axis] = self.weights.len();
        Tensor::from_data(TensorData::new(self.weights.clone(), shape), (device, dtype))
    }
}

/// A coordinate rounded towards 0, within what can be counted with.
fn whole(coordinate: f64) -> i64 {
    const LARGEST: f64 = 9_007_199_254_740_992.0;
    coordinate.clamp(-LARGEST, LARGEST) as i64
}
