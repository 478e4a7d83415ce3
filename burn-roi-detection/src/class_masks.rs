//! [`maskrcnn_inference`]: the mask of each detection's class as probabilities.

use burn::tensor::{Int, Tensor, activation, read_sync};

use super::integers::of_device_dtype;
use super::{arguments, host};
use crate::error::DetectionError;
use burn_roi::internal::{is_host, or_panic};

/// The mask of each detection's class as probabilities. Same semantics as torchvision's `maskrcnn_inference`
/// (`torchvision.models.detection.roi_heads`), for the detections of all images in one tensor.
///
/// - `mask_logits`: `[D, classes, M, N]`, the output of a mask head, of any float dtype.
/// - `labels`: `[D]`, the class of each detection, from 0 to `classes - 1`, of any integer dtype.
/// - Returns `[D, 1, M, N]`: the sigmoid of the logits of each detection's class, in the dtype of `mask_logits`.
///
/// On Flex and NdArray `labels` is read, and a label out of range is an error. On other devices nothing is read back,
/// and the mask of an invalid label is 0 everywhere.
///
/// ```
/// use burn::tensor::{Device, Int, Tensor};
/// use burn_roi_detection::maskrcnn_inference;
///
/// let device = Device::default();
/// let mask_logits = Tensor::<4>::zeros([3, 5, 28, 28], &device);
/// let labels = Tensor::<1, Int>::from_ints([1, 4, 1], &device);
/// assert_eq!(maskrcnn_inference(mask_logits, labels).dims(), [3, 1, 28, 28]);
/// ```
///
/// # Panics
///
/// If [`try_maskrcnn_inference`] returns an error, with its text.
pub fn maskrcnn_inference(mask_logits: Tensor<4>, labels: Tensor<1, Int>) -> Tensor<4> {
    or_panic(try_maskrcnn_inference(mask_logits, labels))
}

/// Fallible form of [`maskrcnn_inference`].
///
/// # Errors
///
/// - [`DetectionError::Length`], `RoiError::Device`: `labels` differs from `mask_logits` in its number of rows or its
///   device.
/// - [`DetectionError::Label`]: on Flex and NdArray only, a label is below 0 or not below `classes`.
pub fn try_maskrcnn_inference(mask_logits: Tensor<4>, labels: Tensor<1, Int>) -> Result<Tensor<4>, DetectionError> {
    let [count, classes, height, width] = mask_logits.dims();
    let device = mask_logits.device();
    arguments::length("labels", labels.dims()[0], count, "row of `mask_logits`")?;
    arguments::device("labels", &labels, "mask_logits", &mask_logits)?;
    if is_host(&device) {
        arguments::labels(&read_sync(host::read_ints(&labels))?, classes)?;
    }
    let shape = [count, 1, height, width];
    if mask_logits.shape().num_elements() == 0 {
        return Ok(Tensor::zeros(shape, (&device, mask_logits.dtype())));
    }

    let labels = of_device_dtype(labels);
    let in_range = labels
        .clone()
        .greater_equal_elem(0)
        .bool_and(labels.clone().lower_elem(classes as i64));
    let out_of_range = in_range.bool_not();
    // Each detection has `classes` rows in the reshaped logits. A label out of range reads class 0, and its mask is
    // overwritten with 0 below.
    let first_rows = Tensor::<1, Int>::arange(0..count as i64, &device) * classes as i64;
    let rows = labels.mask_fill(out_of_range.clone(), 0) + first_rows;
    let masks = mask_logits
        .reshape([count * classes, height, width])
        .select(0, rows)
        .reshape(shape);
    let out_of_range = out_of_range.reshape([count, 1, 1, 1]).expand(shape);
    Ok(activation::sigmoid(masks).mask_fill(out_of_range, 0.0))
}
