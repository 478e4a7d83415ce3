//! [`maskrcnn_inference`]: the mask of each detection's class.

use burn::tensor::{Int, Tensor, activation};

use super::{arguments, host};
use crate::backend::is_host;
use crate::error::{RoiError, or_panic};

/// The mask of each detection's own class, as probabilities: `[D, classes, M, N]` and `[D]` to `[D, 1, M, N]`;
/// torchvision's `maskrcnn_inference` for all images together.
///
/// - `mask_logits`: what a mask head gives. `labels`: the classes of the detections.
///
/// On Flex and NdArray a label that names no class is an error, for which `labels` is read. Other devices are
/// not read: such a label gives a mask of zeros.
///
/// ```
/// use burn::tensor::{Device, Int, Tensor};
/// use burn_roi::detection::maskrcnn_inference;
///
/// let device = Device::default();
/// let mask_logits = Tensor::<4>::zeros([3, 5, 28, 28], &device);
/// let labels = Tensor::<1, Int>::from_ints([1, 4, 1], &device);
/// assert_eq!(maskrcnn_inference(mask_logits, labels).dims(), [3, 1, 28, 28]);
/// ```
///
/// # Panics
///
/// Where [`try_maskrcnn_inference`] gives an error, with its text.
pub fn maskrcnn_inference(mask_logits: Tensor<4>, labels: Tensor<1, Int>) -> Tensor<4> {
    or_panic(try_maskrcnn_inference(mask_logits, labels))
}

/// [`maskrcnn_inference`] for arguments that may be wrong.
///
/// # Errors
///
/// - [`RoiError::Length`], [`RoiError::Device`]: `labels` does not match `mask_logits`.
/// - [`RoiError::Label`]: on Flex and NdArray only.
pub fn try_maskrcnn_inference(mask_logits: Tensor<4>, labels: Tensor<1, Int>) -> Result<Tensor<4>, RoiError> {
    let [count, classes, height, width] = mask_logits.dims();
    let device = mask_logits.device();
    arguments::length("labels", labels.dims()[0], count, "row of `mask_logits`")?;
    arguments::device("labels", &labels.device(), "mask_logits", &device)?;
    if is_host(&device) {
        check_labels(&labels, classes)?;
    }
    let shape = [count, 1, height, width];
    if mask_logits.shape().num_elements() == 0 {
        return Ok(Tensor::zeros(shape, (&device, mask_logits.dtype())));
    }

    let labels = labels.cast(device.settings().int_dtype);
    let names_a_class = labels
        .clone()
        .greater_equal_elem(0)
        .bool_and(labels.clone().lower_elem(classes as i64));
    let names_none = names_a_class.bool_not();
    let firsts = Tensor::<1, Int>::arange(0..count as i64, &device) * classes as i64;
    let chosen = labels.mask_fill(names_none.clone(), 0) + firsts;
    let masks = mask_logits
        .reshape([count * classes, height, width])
        .select(0, chosen)
        .reshape(shape);
    let names_none = names_none.reshape([count, 1, 1, 1]).expand(shape);
    Ok(activation::sigmoid(masks).mask_fill(names_none, 0.0))
}

fn check_labels(labels: &Tensor<1, Int>, classes: usize) -> Result<(), RoiError> {
    let labels = host::read_ints(labels);
    let none = |label: i64| usize::try_from(label).map_or(true, |label| label >= classes);
    match labels.iter().position(|&label| none(label)) {
        None => Ok(()),
        Some(row) => Err(RoiError::Label {
            row,
            label: labels[row],
            classes,
        }),
    }
}
