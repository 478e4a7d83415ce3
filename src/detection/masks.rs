//! [`paste_masks_in_image`]: masks where they belong in an image.

use burn::tensor::Tensor;

use super::arguments;
use super::mask_window::read_windows;
use crate::error::{RoiError, or_panic};

/// Puts the masks of detections where their boxes are, in images of full size: `[D, 1, M, M]` and `[D, 4]` to
/// `[D, 1, H, W]`; torchvision's `paste_masks_in_image`.
///
/// A mask gets `padding` pixels of 0 around it and its box grows alike, so that it can end within the box. The
/// box's coordinates are rounded towards 0, and the mask is resized to it bilinearly, without aligned
/// corners. Pixels outside of the box are 0, and a box that lies outside of the image gives only those.
///
/// - `masks`: probabilities of each detection's class. `boxes`: `[x1, y1, x2, y2]` in pixels of the image.
/// - `image_size`: H and W. `padding`: 1 in torchvision.
/// - Returns probabilities in the masks' dtype; an object is usually where they are above 0.5.
///
/// Reads the boxes back. The result takes D * H * W numbers, and about as much again while it is put together:
/// for many detections on a large image, ask for a few at a time.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi::detection::paste_masks_in_image;
///
/// let device = Device::default();
/// let masks = Tensor::<4>::ones([1, 1, 28, 28], &device);
/// let boxes = Tensor::<2>::from_floats([[10.0, 10.0, 50.0, 30.0]], &device);
/// let pasted = paste_masks_in_image(masks, boxes, [48, 64], 1);
/// assert_eq!(pasted.dims(), [1, 1, 48, 64]);
/// ```
///
/// # Panics
///
/// Where [`try_paste_masks_in_image`] gives an error, with its text.
pub fn paste_masks_in_image(masks: Tensor<4>, boxes: Tensor<2>, image_size: [usize; 2], padding: usize) -> Tensor<4> {
    or_panic(try_paste_masks_in_image(masks, boxes, image_size, padding))
}

/// [`paste_masks_in_image`] for arguments that may be wrong.
///
/// # Errors
///
/// - [`RoiError::Shape`], [`RoiError::Length`], [`RoiError::Device`]: `boxes` is not `[K, 4]`, or `masks` is
///   not `[K, 1, M, M]` on its device.
/// - [`RoiError::BoxNotFinite`]: a coordinate is NaN or infinite.
pub fn try_paste_masks_in_image(
    masks: Tensor<4>,
    boxes: Tensor<2>,
    image_size: [usize; 2],
    padding: usize,
) -> Result<Tensor<4>, RoiError> {
    let count = arguments::boxes("boxes", &boxes)?;
    let [rows, channels, height, width] = masks.dims();
    arguments::length("masks", rows, count, "row of `boxes`")?;
    if channels != 1 || height != width || height == 0 {
        return Err(RoiError::Shape {
            argument: "masks",
            shape: masks.dims().to_vec(),
            expected: "[K, 1, M, M], with M above 0",
        });
    }
    let device = masks.device();
    arguments::device("boxes", &boxes.device(), "masks", &device)?;
    let windows = read_windows(&boxes, height, padding)?;

    let shape = [1, 1, image_size[0], image_size[1]];
    let pasted: Vec<_> = windows
        .iter()
        .enumerate()
        .map(|(row, window)| {
            let mask = masks.clone().slice_dim(0, row..row + 1).reshape([height, width]);
            window.paste(mask, shape)
        })
        .collect();
    match pasted.len() {
        0 => Ok(Tensor::zeros(
            [0, 1, image_size[0], image_size[1]],
            (&device, masks.dtype()),
        )),
        _ => Ok(Tensor::cat(pasted, 0)),
    }
}
