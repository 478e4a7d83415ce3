//! The window of an image that a mask is resized to.

use std::ops::{Add, Mul, Range};

use burn::tensor::{DType, Element, ElementConversion, FloatDType, Tensor, TensorData, bf16, f16};

use super::host;
use crate::error::DetectionError;
use burn_roi::RoiError;

/// The rectangle of image pixels that a padded mask is resized to.
pub struct Window {
    y: Span,
    x: Span,
}

/// The window of each box, whose coordinates are of this `dtype`, for masks of `mask_size` by `mask_size` pixels that
/// `padding` pixels surround.
pub fn windows_of(
    boxes: &[[f64; 4]],
    dtype: DType,
    mask_size: usize,
    padding: usize,
) -> Result<Vec<Window>, DetectionError> {
    let mask = MaskAxis {
        size: mask_size,
        padding,
    };
    let window = |(row, coordinates): (usize, &[f64; 4])| {
        if !coordinates.iter().all(|coordinate| coordinate.is_finite()) {
            let coordinates = *coordinates;
            return Err(RoiError::BoxNotFinite { row, coordinates }.into());
        }
        let [x1, y1, x2, y2] = *coordinates;
        Ok(Window {
            y: Span::new(y1, y2, mask, dtype),
            x: Span::new(x1, x2, mask, dtype),
        })
    };
    boxes.iter().enumerate().map(window).collect()
}

impl Window {
    /// Pastes the mask, `[M, M]`, into row `row` of `images`, `[K, 1, H, W]`.
    pub fn paste(&self, mask: Tensor<2>, mut images: Tensor<4>, row: usize) -> Tensor<4> {
        /// How many pixels are resized together: 4 MiB of f32. Five such tensors or so exist at a time.
        const PIXELS: usize = 1 << 20;

        let dtype = images.dtype();
        let [.., height, width] = images.dims();
        let (rows, columns) = (self.y.in_bounds(height), self.x.in_bounds(width));
        if rows.is_empty() || columns.is_empty() {
            return images;
        }
        let mask = match dtype {
            DType::F16 | DType::BF16 => mask.cast(FloatDType::F32),
            _ => mask,
        };
        let band_height = (PIXELS / columns.len()).max(1);
        for start in rows.clone().step_by(band_height) {
            let band = start..rows.end.min(start + band_height);
            let resized = self.y.resize(mask.clone(), 0, &band);
            let resized = self.x.resize(resized, 1, &columns).cast(dtype);
            let resized = resized.reshape([1, 1, band.len(), columns.len()]);
            // No other tensor shares the images' memory, so that every backend writes into it.
            images = images.slice_assign([row..row + 1, 0..1, band, columns.clone()], resized);
        }
        images
    }

    /// Resizes the mask, M x M values, on the host, with the arithmetic of [`paste`](Window::paste).
    ///
    /// Calls `emit` for pieces of the window's rows that are in bounds of an image of `[height, width]` pixels, with
    /// the row and the first column of the piece. The pieces of the same columns come together, from top to bottom.
    pub fn resize_on_host<T: MaskPixel>(
        &self,
        mask: &[T],
        [height, width]: [usize; 2],
        mut emit: impl FnMut(usize, usize, &[T]),
    ) {
        /// How wide a piece is at most. Its memory is the same for every image.
        const COLUMNS: usize = 4096;

        let dtype = T::Computed::dtype();
        let (rows, columns) = (self.y.in_bounds(height), self.x.in_bounds(width));
        let mask: Vec<T::Computed> = mask.iter().map(|pixel| pixel.elem()).collect();
        let mask: Vec<_> = mask.chunks_exact(self.x.mask.size).collect();
        let (tap_of_row, tap_of_column) = (self.y.taps(dtype), self.x.taps(dtype));
        let weighted = |taps: [(usize, f64); 2]| taps.map(|(pixel, weight)| (pixel, weight.elem::<T::Computed>()));
        for start in columns.clone().step_by(COLUMNS) {
            let piece = start..columns.end.min(start + COLUMNS);
            let taps: Vec<_> = piece.map(|column| weighted(tap_of_column(column))).collect();
            let mut values: Vec<T> = Vec::with_capacity(taps.len());
            for row in rows.clone() {
                let [low, high] = weighted(tap_of_row(row));
                let pixels = mask[low.0].iter().zip(mask[high.0]);
                let resized: Vec<_> = pixels.map(|(&a, &b)| a * low.1 + b * high.1).collect();
                values.clear();
                values.extend(taps.iter().map(|&[low, high]| {
                    let value = resized[low.0] * low.1 + resized[high.0] * high.1;
                    value.elem::<T>()
                }));
                emit(row, start, &values);
            }
        }
    }

    /// One past the last row of the window that is in bounds of an image of `height` rows.
    pub fn bottom(&self, height: usize) -> usize {
        self.y.in_bounds(height).end
    }
}

/// A float dtype of masks.
pub trait MaskPixel: Element + PartialOrd + Sync {
    /// What masks of this dtype are resized in.
    type Computed: Element + Add<Output = Self::Computed> + Mul<Output = Self::Computed>;
}

macro_rules! computed_in {
    ($($pixel:ty: $computed:ty),*) => {
        $(impl MaskPixel for $pixel { type Computed = $computed; })*
    };
}
computed_in!(f32: f32, f64: f64, f16: f32, bf16: f32);

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
    fn without_padding(self, padded_pixel: f64, weight: f64) -> (usize, f64) {
        let pixel = padded_pixel - self.padding as f64;
        let last = self.size as f64 - 1.0;
        let in_mask = (0.0..=last).contains(&pixel);
        (pixel.clamp(0.0, last) as usize, if in_mask { weight } else { 0.0 })
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
        let (device, dtype) = (mask.device(), mask.dtype());
        let taps: Vec<_> = pixels.clone().map(self.taps(dtype)).collect();
        let mut shape = [1, 1];
        shape[axis] = taps.len();
        let weighted = |end: usize| {
            let weights: Vec<f64> = taps.iter().map(|taps| taps[end].1).collect();
            // A tensor that broadcasts along the other axis.
            let weights = Tensor::<2>::from_data(TensorData::new(weights, shape), (&device, dtype));
            let pixels: Vec<_> = taps.iter().map(|taps| taps[end].0).collect();
            let pixels = mask.clone().select(axis, host::indices(&pixels, &device));
            let dims = pixels.dims();
            pixels * weights.expand(dims)
        };
        weighted(0) + weighted(1)
    }

    /// The two taps of the bilinear interpolation at a pixel of the image: for each a pixel of the mask and its weight,
    /// computed in `dtype`.
    fn taps(&self, dtype: DType) -> impl Fn(usize) -> [(usize, f64); 2] {
        let round = move |value| host::rounded(value, dtype);
        let length = (self.end - self.start).max(1) as f64;
        let scale = round(self.mask.padded_size() / length);
        let last = self.mask.padded_size() - 1.0;
        move |pixel| {
            let pixel = (pixel as i64 - self.start) as f64;
            let position = round(round(scale * (pixel + 0.5)) - 0.5).max(0.0);
            let floor = position.floor().min(last);
            let fraction = round(position - floor).clamp(0.0, 1.0);
            [
                self.mask.without_padding(floor, round(1.0 - fraction)),
                self.mask.without_padding((floor + 1.0).min(last), fraction),
            ]
        }
    }
}

/// A coordinate rounded towards 0. The limit of 2^53 keeps sums of coordinates from overflowing.
fn truncated(coordinate: f64) -> i64 {
    const LIMIT: f64 = 9_007_199_254_740_992.0;
    coordinate.clamp(-LIMIT, LIMIT) as i64
}
