//! The window of an image that a mask is resized to.

use std::ops::Range;

use burn::tensor::{DType, Device, FloatDType, Tensor, TensorData};

use super::host;
use crate::error::RoiError;

/// The rectangle of image pixels that a padded mask is resized to.
pub struct Window {
    y: Span,
    x: Span,
}

/// The window of each box, for masks of `mask_size` by `mask_size` pixels that `padding` pixels surround.
pub async fn read_windows(boxes: &Tensor<2>, mask_size: usize, padding: usize) -> Result<Vec<Window>, RoiError> {
    let dtype = boxes.dtype();
    let mask = MaskAxis {
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
    let boxes = host::read_boxes(boxes).await?;
    boxes.iter().enumerate().map(window).collect()
}

impl Window {
    /// An image of zeros of `shape`, `[1, 1, H, W]`, with the mask, `[M, M]`, pasted into the window.
    pub fn paste(&self, mask: Tensor<2>, shape: [usize; 4]) -> Tensor<4> {
        let (device, dtype) = (mask.device(), mask.dtype());
        let image = Tensor::zeros(shape, (&device, dtype));
        let rows = self.y.in_bounds(shape[2]);
        let columns = self.x.in_bounds(shape[3]);
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

/// A mask along one axis.
#[derive(Clone, Copy)]
struct MaskAxis {
    /// The number of pixels, without padding.
    size: usize,
    /// The number of pixels of 0 on each side.
    padding: usize,
}

impl MaskAxis {
    /// The number of pixels, with padding.
    fn padded_size(self) -> f64 {
        self.size as f64 + 2.0 * self.padding as f64
    }

    /// Turns a pixel of the padded mask and its weight into a pixel of the mask and its weight. The padding is 0, so a
    /// pixel of it gets the weight 0.
    fn without_padding(self, padded_pixel: f64, weight: f64) -> (i64, f64) {
        let pixel = padded_pixel - self.padding as f64;
        let last = self.size as f64 - 1.0;
        let in_mask = (0.0..=last).contains(&pixel);
        (pixel.clamp(0.0, last) as i64, if in_mask { weight } else { 0.0 })
    }
}

/// A window along one axis, in whole pixels of the image.
struct Span {
    /// The first pixel. It may be negative.
    start: i64,
    /// One past the last pixel.
    end: i64,
    /// The mask that is resized to the window.
    mask: MaskAxis,
}

impl Span {
    /// The window of a box from `low` to `high`, grown by the factor by which padding grows the mask. The order of
    /// operations is torchvision's, in the boxes' `dtype`.
    fn new(low: f64, high: f64, mask: MaskAxis, dtype: DType) -> Self {
        let factor = mask.padded_size() / mask.size as f64;
        let factor = match dtype {
            DType::F64 => factor,
            _ => host::rounded(factor, DType::F32),
        };
        let half = host::rounded(host::rounded(high - low, dtype) * 0.5, dtype);
        let half = host::rounded(half * factor, dtype);
        let centre = host::rounded(host::rounded(high + low, dtype) * 0.5, dtype);
        Self {
            start: truncated(host::rounded(centre - half, dtype)),
            end: truncated(host::rounded(centre + half, dtype)) + 1,
            mask,
        }
    }

    /// The pixels of the window that are in bounds of an image of `size` pixels.
    fn in_bounds(&self, size: usize) -> Range<usize> {
        let clamped = |pixel: i64| pixel.clamp(0, size as i64) as usize;
        clamped(self.start)..clamped(self.end)
    }

    /// The mask resized along an axis, at the image's `pixels`.
    fn resize(&self, mask: Tensor<2>, axis: usize, pixels: &Range<usize>) -> Tensor<2> {
        let device = mask.device();
        let [low, high] = self.taps(pixels, mask.dtype());
        let weighted = |tap: Tap| {
            let weights = tap.weights(axis, mask.dtype(), &device);
            let pixels = mask.clone().select(axis, host::ints(tap.pixels, &device));
            let dims = pixels.dims();
            pixels * weights.expand(dims)
        };
        weighted(low) + weighted(high)
    }

    /// The two taps of the bilinear interpolation for each of the image's `pixels`, computed in `dtype`.
    fn taps(&self, pixels: &Range<usize>, dtype: DType) -> [Tap; 2] {
        let round = |value| host::rounded(value, dtype);
        let length = (self.end - self.start).max(1) as f64;
        let scale = round(self.mask.padded_size() / length);
        let last = self.mask.padded_size() - 1.0;

        let [mut low, mut high] = [Tap::default(), Tap::default()];
        for pixel in pixels.clone() {
            let pixel = (pixel as i64 - self.start) as f64;
            let position = round(round(scale * (pixel + 0.5)) - 0.5).max(0.0);
            let floor = position.floor().min(last);
            let fraction = round(position - floor).clamp(0.0, 1.0);
            low.push(self.mask.without_padding(floor, round(1.0 - fraction)));
            high.push(self.mask.without_padding((floor + 1.0).min(last), fraction));
        }
        [low, high]
    }
}

/// One of the two taps of a bilinear interpolation along an axis: for each pixel of the image, a pixel of the mask and
/// its weight.
#[derive(Default)]
struct Tap {
    pixels: Vec<i64>,
    weights: Vec<f64>,
}

impl Tap {
    fn push(&mut self, (pixel, weight): (i64, f64)) {
        self.pixels.push(pixel);
        self.weights.push(weight);
    }

    /// The weights as a tensor that broadcasts along the other axis.
    fn weights(&self, axis: usize, dtype: DType, device: &Device) -> Tensor<2> {
        let mut shape = [1, 1];
        shape[axis] = self.weights.len();
        Tensor::from_data(TensorData::new(self.weights.clone(), shape), (device, dtype))
    }
}

/// A coordinate rounded towards 0. The limit of 2^53 keeps sums of coordinates from overflowing.
fn truncated(coordinate: f64) -> i64 {
    const LIMIT: f64 = 9_007_199_254_740_992.0;
    coordinate.clamp(-LIMIT, LIMIT) as i64
}
