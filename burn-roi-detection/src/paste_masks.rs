//! [`paste_masks_in_image`]: masks at the size and place of their boxes.

use burn::tensor::Tensor;

use super::mask_window::{Window, windows_of};
use super::{arguments, host};
use crate::error::DetectionError;
use crate::forms::blocking_forms;
use burn_roi::internal::check_memory;

blocking_forms!(
    /// Resizes the mask of each detection to its box and pastes it into an image of zeros. Same semantics as
    /// torchvision's `paste_masks_in_image` (`torchvision.models.detection.roi_heads`).
    ///
    /// A mask is first padded with `padding` pixels of 0 on each side, and its box grows by the same factor around its
    /// centre, so that the interpolation falls to 0 at the border of the mask. The coordinates of the grown box are
    /// rounded towards 0, and the padded mask is resized to it by bilinear interpolation without aligned corners.
    /// Pixels outside of it are 0. A box without pixels in bounds of the image returns zeros.
    ///
    /// - `masks`: `[K, 1, M, M]`, probabilities of the class of each detection, of any float dtype.
    /// - `boxes`: `[K, 4]`, each `[x1, y1, x2, y2]` in pixels of the image, of any float dtype.
    /// - `image_size`: `[H, W]` in pixels.
    /// - `padding`: in pixels of the mask; 1 in torchvision.
    /// - Returns `[K, 1, H, W]`, probabilities in the dtype of `masks`. An object usually has the pixels above 0.5.
    ///
    /// The boxes are read back to the host. The result has K * H * W elements: 30 masks in an image of 3000 x 4000 take
    /// 1.44 GB in f32. Computing it takes at most 64 MiB beyond it, or on an autodiff device as much again as the
    /// result.
    ///
    /// [`paste_binary_masks_in_image`](super::paste_binary_masks_in_image) returns the pixels above a threshold, a byte
    /// each. [`paste_masks_as_run_lengths`](super::paste_masks_as_run_lengths) returns them as run lengths, which take
    /// a few kB a mask.
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use burn_roi_detection::paste_masks_in_image;
    ///
    /// let device = Device::default();
    /// let masks = Tensor::<4>::ones([1, 1, 28, 28], &device);
    /// let boxes = Tensor::<2>::from_floats([[10.0, 10.0, 50.0, 30.0]], &device);
    /// let pasted = paste_masks_in_image(masks, boxes, [48, 64], 1);
    /// assert_eq!(pasted.dims(), [1, 1, 48, 64]);
    /// ```
    pub async fn paste_masks_in_image(
        masks: Tensor<4>,
        boxes: Tensor<2>,
        image_size: [usize; 2],
        padding: usize,
    ) -> Result<Tensor<4>, DetectionError> {
        //! Async form of [`paste_masks_in_image`]. Use it on WebGPU in a browser, which cannot block.
        //!
        //! # Errors
        //!
        //! - `RoiError::Shape`: `boxes` is not `[K, 4]`, or `masks` is not `[K, 1, M, M]` with M above 0.
        //! - [`DetectionError::Length`]: `masks` does not have one mask for each box.
        //! - `RoiError::Device`: `boxes` is on another device than `masks`.
        //! - `RoiError::BoxNotFinite`: a coordinate of `boxes` is NaN or infinite.
        //! - `RoiError::Memory`: the result does not fit into memory.

        let windows = windows(&masks, &boxes, padding).await?;
        let [height, width] = image_size;
        let [.., size] = masks.dims();
        let (device, dtype) = (masks.device(), masks.dtype());
        // On Flex, `zeros` allocates the memory twice and copies it.
        check_memory("pasted masks", &[windows.len(), 1, height, width], dtype, &device)?;
        let images = |count| Tensor::<4>::full([count, 1, height, width], 0.0, (&device, dtype));
        let mask = |row: usize| masks.clone().slice_dim(0, row..row + 1).reshape([size, size]);
        let rows = windows.iter().enumerate();
        if !device.is_autodiff() || windows.is_empty() {
            let images = images(windows.len());
            return Ok(rows.fold(images, |images, (row, window)| window.paste(mask(row), images, row)));
        }
        // The gradient of each mask then is that of its own image, and never a copy of the gradient of all.
        let pasted = rows.map(|(row, window)| window.paste(mask(row), images(1), 0));
        Ok(Tensor::cat(pasted.collect(), 0))
    }
);

/// The window of each mask. Checks the tensors.
pub(super) async fn windows(
    masks: &Tensor<4>,
    boxes: &Tensor<2>,
    padding: usize,
) -> Result<Vec<Window>, DetectionError> {
    let count = arguments::boxes("boxes", boxes)?;
    let [rows, channels, height, width] = masks.dims();
    arguments::length("masks", rows, count, "row of `boxes`")?;
    let fits = channels == 1 && height == width && height > 0;
    arguments::check_shape("masks", fits, &masks.dims(), "[K, 1, M, M], with M above 0")?;
    arguments::device("boxes", boxes, "masks", masks)?;
    windows_of(&host::read_boxes(boxes).await?, boxes.dtype(), height, padding)
}
