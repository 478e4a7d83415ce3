//! [`fastrcnn_loss`]: the losses of a box head.

use burn::tensor::{Int, Tensor};

use super::elementary::{TORCHVISION_BETA, box_delta_loss, cross_entropy};
use crate::error::DetectionError;
use crate::forms::blocking_forms;
use crate::post_processing::BACKGROUND;
use crate::targets::rows_where;
use crate::zeros::zero;
use crate::{arguments, host};

blocking_forms!(
    /// The losses of a box head: how wrong its classes and its boxes are. Same semantics as torchvision's
    /// `fastrcnn_loss` (`torchvision.models.detection.roi_heads`).
    ///
    /// - The classification loss is the mean of the cross entropy between the logits and the labels.
    /// - The box loss is the smooth L1 loss with a beta of 1 / 9 between the box deltas of the label's class and their
    ///   targets. It is summed over the samples that are not background, and divided by the number of all samples.
    /// - Without samples both losses are 0, and so are their gradients. torchvision returns NaN.
    ///
    /// Arguments and result:
    ///
    /// - `class_logits`: `[K, classes]`, the output of a box head for the K samples of all images, of any float dtype.
    ///   K may be 0.
    /// - `box_regression`: `[K, 4 * classes]`, for each class in turn the box deltas `[dx, dy, dw, dh]`, or `[K, 4]`,
    ///   the box deltas of all classes but the background (class-agnostic regression). Of any float dtype. Without a
    ///   class besides the background the box loss is 0, and both shapes are the same.
    /// - `labels`: for each image i `[Kᵢ]`, the class of each sample, 0 for background, of any integer dtype. The sum
    ///   of all Kᵢ is K.
    /// - `regression_targets`: for each image i `[Kᵢ, 4]`, the box deltas that the head must learn, in the dtype of
    ///   `box_regression`. They are not read for background.
    /// - Returns the classification loss and the box loss, each `[1]`: the first in the dtype of `class_logits`, the
    ///   second in the dtype of `box_regression`.
    ///
    /// On an autodiff device the losses have gradients for `class_logits` and `box_regression`. The targets are
    /// constants, on the same device with or without autodiff. The labels are read back to the host.
    ///
    /// ```
    /// use burn::tensor::{Device, Int, Tensor};
    /// use burn_roi_detection::fastrcnn_loss;
    ///
    /// let device = Device::default().autodiff();
    /// // One sample of class 1 and one of background.
    /// let class_logits = Tensor::<2>::from_floats([[0.0, 2.0], [1.0, 0.0]], &device).require_grad();
    /// let box_regression = Tensor::<2>::zeros([2, 4 * 2], &device).require_grad();
    /// let labels = vec![Tensor::<1, Int>::from_ints([1, 0], &device)];
    /// let regression_targets = vec![Tensor::<2>::ones([2, 4], &device)];
    ///
    /// let (classification_loss, box_loss) =
    ///     fastrcnn_loss(class_logits.clone(), box_regression, &labels, &regression_targets);
    /// let gradients = (classification_loss + box_loss).backward();
    /// assert_eq!(class_logits.grad(&gradients).unwrap().dims(), [2, 2]);
    /// ```
    pub async fn fastrcnn_loss(
        class_logits: Tensor<2>,
        box_regression: Tensor<2>,
        labels: &[Tensor<1, Int>],
        regression_targets: &[Tensor<2>],
    ) -> Result<(Tensor<1>, Tensor<1>), DetectionError> {
        //! Async form of [`fastrcnn_loss`]. Use it on WebGPU in a browser, which cannot block.
        //!
        //! # Errors
        //!
        //! - `RoiError::Shape`: `box_regression` is neither `[K, 4 * classes]` nor `[K, 4]`, or an element of
        //!   `regression_targets` is not `[Kᵢ, 4]`.
        //! - [`DetectionError::Length`]: `box_regression` or `labels` does not have as many rows as `class_logits`, or
        //!   `regression_targets` does not have as many images as `labels` or not as many rows in one of them.
        //! - `RoiError::Device`: a tensor is on another device than `class_logits`.
        //! - `RoiError::DType`: an element of `regression_targets` has another dtype than `box_regression`.
        //! - [`DetectionError::Label`]: a label is below 0 or not below `classes`. The row is counted in
        //!   `class_logits`.

        box_head_losses(
            class_logits,
            box_regression,
            labels,
            regression_targets,
            TORCHVISION_BETA,
        )
        .await
    }
);

/// [`fastrcnn_loss_async`] with another beta, 0 or above. With 0 the box loss is the L1 loss.
pub(crate) async fn box_head_losses(
    class_logits: Tensor<2>,
    box_regression: Tensor<2>,
    labels: &[Tensor<1, Int>],
    regression_targets: &[Tensor<2>],
    beta: f64,
) -> Result<(Tensor<1>, Tensor<1>), DetectionError> {
    let [count, classes] = class_logits.dims();
    check(&class_logits, &box_regression, labels, regression_targets)?;
    if count == 0 {
        // The mean of no cross entropies is NaN.
        return Ok((zero(class_logits), zero(box_regression)));
    }
    let labels = host::read_lists(labels).await?.concat();
    arguments::labels(&labels, classes)?;

    let class_of: Vec<usize> = labels.iter().map(|&label| label as usize).collect();
    let classification_loss = cross_entropy(class_logits, &class_of);

    let positive = rows_where(&labels, |label| label > BACKGROUND.into());
    let [_, columns] = box_regression.dims();
    let row_of_deltas = |&sample: &usize| match columns {
        4 => sample,
        _ => sample * classes + class_of[sample],
    };
    let rows: Vec<usize> = positive.iter().map(row_of_deltas).collect();
    let deltas = box_regression.reshape([count * columns / 4, 4]);
    let box_loss = box_delta_loss(deltas, &rows, regression_targets, &positive, count, beta);
    Ok((classification_loss, box_loss))
}

fn check(
    class_logits: &Tensor<2>,
    box_regression: &Tensor<2>,
    labels: &[Tensor<1, Int>],
    regression_targets: &[Tensor<2>],
) -> Result<(), DetectionError> {
    let [count, _] = class_logits.dims();
    arguments::box_regression(box_regression, class_logits)?;
    let (images, targets) = (labels.len(), regression_targets.len());
    arguments::length("regression_targets", targets, images, "image of `labels`")?;
    let mut total = 0;
    for (labels, targets) in labels.iter().zip(regression_targets) {
        let [count] = labels.dims();
        total += count;
        arguments::device("labels", labels, "class_logits", class_logits)?;
        let rows = arguments::boxes("regression_targets", targets)?;
        arguments::length("regression_targets", rows, count, "row of `labels`")?;
        arguments::device("regression_targets", targets, "class_logits", class_logits)?;
        arguments::dtype("regression_targets", targets, "box_regression", box_regression)?;
    }
    arguments::length("labels", total, count, "row of `class_logits`")
}
