//! The detections of a picture, and their masks pasted into it.

use burn::tensor::Tensor;
use burn_roi_detection::{Detections, paste_masks_in_image_async};

use crate::error::Error;
use crate::run_lengths::RunLengths;

/// The pixels of zeros that torchvision adds around a mask before it enlarges it.
const PADDING: usize = 1;

/// A detected object.
#[derive(Debug, Clone)]
pub struct Found {
    pub class: usize,
    pub score: f32,
    /// `[x1, y1, x2, y2]` in pixels of the picture.
    pub corners: [f32; 4],
    pub mask: RunLengths,
}

/// Detections as read from the device.
pub struct Rows {
    pub boxes: Vec<[f32; 4]>,
    pub scores: Vec<f32>,
    pub labels: Vec<usize>,
}

impl Rows {
    pub async fn read(detections: Detections) -> Result<Self, Error> {
        let boxes = detections.boxes.into_data_async().await?.try_to_vec::<f32>()?;
        let labels = detections.labels.into_data_async().await?;
        Ok(Self {
            boxes: boxes.as_chunks().0.to_vec(),
            scores: detections.scores.into_data_async().await?.try_to_vec()?,
            labels: labels.iter::<i64>().map(|label| label as usize).collect(),
        })
    }
}

/// Scales a box from a picture of one size to a picture of another; sizes are `[height, width]`.
pub fn rescaled([x1, y1, x2, y2]: [f32; 4], from: [usize; 2], to: [usize; 2]) -> [f32; 4] {
    let [height, width] = [0, 1].map(|axis| to[axis] as f32 / from[axis] as f32);
    [x1 * width, y1 * height, x2 * width, y2 * height]
}

/// Pastes the mask of a detection into its picture. `mask` is `[1, 1, M, M]`, in probabilities.
///
/// Only the window that the mask covers is computed, with the same values as in the whole picture. A hundred masks of
/// a large photograph are then a few kilobytes of run lengths, and never a hundred pictures in memory.
pub async fn paste(mask: Tensor<4>, corners: [f32; 4], size: [usize; 2], threshold: f32) -> Result<RunLengths, Error> {
    let [_, _, mask_side, _] = mask.dims();
    let window = window(corners, mask_side, size);
    let [x1, y1, x2, y2] = window;
    if x1 >= x2 || y1 >= y2 {
        return Ok(RunLengths::of_window(size, [0; 4], |_, _| false));
    }
    let [left, top] = [x1 as f32, y1 as f32];
    let inside = [corners[0] - left, corners[1] - top, corners[2] - left, corners[3] - top];
    let boxes = Tensor::from_floats([inside], &mask.device());
    let pasted = paste_masks_in_image_async(mask, boxes, [y2 - y1, x2 - x1], PADDING).await?;
    let values: Vec<f32> = pasted.into_data_async().await?.try_to_vec()?;
    let width = x2 - x1;
    Ok(RunLengths::of_window(size, window, |x, y| {
        values[y * width + x] > threshold
    }))
}

/// The window `[x1, y1, x2, y2]` of pixels that a mask can cover: its box, enlarged by the mask's padding, as whole
/// pixels of the picture.
fn window([x1, y1, x2, y2]: [f32; 4], mask_side: usize, size: [usize; 2]) -> [usize; 4] {
    let scale = (mask_side + 2 * PADDING) as f32 / mask_side as f32;
    let axis = |low: f32, high: f32, side: usize| {
        let [half, middle] = [(high - low) * 0.5 * scale, (high + low) * 0.5];
        // The cast truncates, as torch's does, and turns negative numbers and NaN into 0.
        let first = ((middle - half) as usize).min(side);
        let end = ((middle + half).max(-1.0) + 1.0) as usize;
        [first, end.min(side)]
    };
    let [left, right] = axis(x1, x2, size[1]);
    let [top, bottom] = axis(y1, y2, size[0]);
    [left, top, right, bottom]
}

#[cfg(test)]
mod tests {
    use burn::tensor::read_sync;
    use burn_roi_detection::paste_masks_in_image;

    use super::*;

    #[test]
    fn windows_end_at_the_picture() {
        assert_eq!(window([10.0, 10.0, 66.0, 66.0], 28, [100, 50]), [8, 8, 50, 69]);
        assert_eq!(window([0.0, 0.0, 56.0, 56.0], 28, [100, 100]), [0, 0, 59, 59]);
        assert_eq!(window([f32::NAN; 4], 28, [100, 100])[0], 0);
        assert_eq!(
            window([200.0, 200.0, 256.0, 256.0], 28, [100, 100]),
            [100, 100, 100, 100]
        );
    }

    #[test]
    fn a_window_has_the_pixels_of_the_whole_picture() {
        let mask = Tensor::from_floats([[[[0.2, 0.9], [0.8, 0.4]]]], &Default::default());
        for corners in [[3.3, 2.6, 14.9, 9.2], [-4.0, -3.0, 7.5, 5.0], [11.0, 7.0, 24.0, 17.0]] {
            let size = [12, 18];
            let boxes = Tensor::from_floats([corners], &mask.device());
            let whole = paste_masks_in_image(mask.clone(), boxes, size, PADDING);
            let values: Vec<f32> = whole.into_data().try_to_vec().unwrap();
            let expected = RunLengths::of_window(size, [0, 0, 18, 12], |x, y| values[y * 18 + x] > 0.5);
            let pasted = read_sync(paste(mask.clone(), corners, size, 0.5)).unwrap();
            assert_eq!(pasted, expected, "of {corners:?}");
            assert!(pasted.area() > 0, "of {corners:?}");
        }
    }
}
