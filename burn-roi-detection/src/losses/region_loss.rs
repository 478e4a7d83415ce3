//! [`rpn_loss`]: the losses of a region proposal network.

use burn::tensor::{Int, Tensor, TensorData};

use super::elementary::{TORCHVISION_BETA, binary_cross_entropy_with_logits, box_delta_loss};
use crate::error::DetectionError;
use crate::forms::blocking_forms;
use crate::targets::{BalancedPositiveNegativeSampler, Samples, all_fit};
use crate::zeros::zero;
use crate::{arguments, host};

blocking_forms!(
    /// The losses of a region proposal network: how wrong the objectness and the box deltas of its anchors are. Same
    /// semantics as torchvision's `RegionProposalNetwork.compute_loss`.
    ///
    /// The sampler draws anchors of each image. The losses are computed from the drawn anchors of all images:
    ///
    /// - The objectness loss is the mean of the binary cross entropy between the logits and the labels.
    /// - The box loss is the smooth L1 loss with a beta of 1 / 9 between the box deltas and their targets. It is summed
    ///   over the positive samples, and divided by the number of all samples.
    /// - If no anchor is drawn, both losses are 0, and so are their gradients. torchvision returns NaN.
    ///
    /// Arguments and result:
    ///
    /// - `objectness`: `[N, A]`: for each of N images the logits of its A anchors, of any float dtype.
    /// - `pred_bbox_deltas`: `[N, A, 4]`: the box deltas `[dx, dy, dw, dh]`, of any float dtype.
    /// - `labels`: for each image `[A]`: 1 for an object, 0 for background, -1 for an anchor that is ignored, as
    ///   [`assign_targets_to_anchors`](crate::assign_targets_to_anchors()) returns them, of any integer dtype.
    /// - `regression_targets`: for each image `[A, 4]`, the box deltas that the network must learn, in the dtype of
    ///   `pred_bbox_deltas`: what [`BoxCoder::encode`](crate::BoxCoder::encode) returns for the matched ground-truth
    ///   boxes and the anchors, with weights of 1. They are not read for anchors with a label of 0 or -1.
    /// - `sampler`: torchvision's is `BalancedPositiveNegativeSampler::new(256, 0.5)`.
    /// - `permutation`: the random choice, as in [`BalancedPositiveNegativeSampler::forward`].
    /// - Returns the objectness loss and the box loss, each `[1]`: the first in the dtype of `objectness`, the second
    ///   in the dtype of `pred_bbox_deltas`.
    ///
    /// On an autodiff device the losses have gradients for `objectness` and `pred_bbox_deltas`. The targets are
    /// constants, on the same device with or without autodiff. The labels are read back to the host.
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use burn_roi_detection::{
    ///     BalancedPositiveNegativeSampler, BoxCoder, Matcher, assign_targets_to_anchors, random_permutations,
    ///     rpn_loss,
    /// };
    ///
    /// let device = Device::default();
    /// let anchors = Tensor::<2>::from_floats([[0.0, 0.0, 9.0, 9.0], [50.0, 0.0, 60.0, 10.0]], &device);
    /// let gt_boxes = vec![Tensor::<2>::from_floats([[0.0, 0.0, 10.0, 10.0]], &device)];
    /// let matcher = Matcher::new(0.7, 0.3).with_allow_low_quality_matches(true);
    /// let (labels, matched_gt_boxes) = assign_targets_to_anchors(&anchors, &gt_boxes, &matcher);
    /// let coder = BoxCoder::new([1.0; 4]);
    /// let targets: Vec<_> = matched_gt_boxes.into_iter().map(|boxes| coder.encode(boxes, anchors.clone())).collect();
    ///
    /// // What the network would compute.
    /// let objectness = Tensor::<2>::zeros([1, 2], &device.clone().autodiff()).require_grad();
    /// let deltas = Tensor::<3>::zeros([1, 2, 4], &device.autodiff()).require_grad();
    /// let sampler = BalancedPositiveNegativeSampler::new(256, 0.5);
    /// let permutation = &mut random_permutations(0);
    /// let (objectness_loss, box_loss) =
    ///     rpn_loss(objectness.clone(), deltas, &labels, &targets, &sampler, permutation);
    /// let gradients = (objectness_loss + box_loss).backward();
    /// assert_eq!(objectness.grad(&gradients).unwrap().try_into_vec_as::<f32>().unwrap(), [-0.25, 0.25]);
    /// ```
    pub async fn rpn_loss(
        objectness: Tensor<2>,
        pred_bbox_deltas: Tensor<3>,
        labels: &[Tensor<1, Int>],
        regression_targets: &[Tensor<2>],
        sampler: &BalancedPositiveNegativeSampler,
        permutation: &mut impl FnMut(usize) -> Vec<usize>,
    ) -> Result<(Tensor<1>, Tensor<1>), DetectionError> {
        //! Async form of [`rpn_loss`]. Use it on WebGPU in a browser, which cannot block.
        //!
        //! # Errors
        //!
        //! - `RoiError::Shape`: `pred_bbox_deltas` is not `[N, A, 4]`, or an element of `regression_targets` is not
        //!   `[A, 4]`.
        //! - [`DetectionError::Length`]: `labels` or `regression_targets` does not have one tensor for each image, or
        //!   one of these tensors not one row for each anchor.
        //! - `RoiError::Device`: a tensor is on another device than `objectness`.
        //! - `RoiError::DType`: an element of `regression_targets` has another dtype than `pred_bbox_deltas`.
        //! - [`DetectionError::Target`]: a label is not -1, 0 or 1.
        //! - `RoiError::Option`: `batch_size_per_image` of the sampler is 0, its `positive_fraction` is not from 0 to
        //!   1, or `permutation` returns anything but a permutation.

        region_losses(
            objectness,
            pred_bbox_deltas,
            labels,
            regression_targets,
            sampler,
            permutation,
            TORCHVISION_BETA,
        )
        .await
    }
);

/// [`rpn_loss_async`] with another beta, 0 or above. With 0 the box loss is the L1 loss.
pub(crate) async fn region_losses(
    objectness: Tensor<2>,
    pred_bbox_deltas: Tensor<3>,
    labels: &[Tensor<1, Int>],
    regression_targets: &[Tensor<2>],
    sampler: &BalancedPositiveNegativeSampler,
    permutation: &mut impl FnMut(usize) -> Vec<usize>,
    beta: f64,
) -> Result<(Tensor<1>, Tensor<1>), DetectionError> {
    sampler.check()?;
    check(&objectness, &pred_bbox_deltas, labels, regression_targets)?;
    let Samples { positive, negative } = draw_from_images(labels, sampler, permutation).await?;
    let count = positive.len() + negative.len();
    if count == 0 {
        // The mean of no cross entropies is NaN.
        return Ok((zero(objectness), zero(pred_bbox_deltas)));
    }

    let [images, anchors] = objectness.dims();
    let rows: Vec<usize> = positive.iter().chain(&negative).copied().collect();
    let logits = host::select_rows(&objectness.reshape([images * anchors]), &rows);
    let mut is_object = vec![1.0; positive.len()];
    is_object.resize(count, 0.0);
    let options = (&logits.device().inner(), logits.dtype());
    let is_object = Tensor::<1>::from_data(TensorData::new(is_object, [count]), options);
    let objectness_loss = binary_cross_entropy_with_logits(logits, is_object);

    let deltas = pred_bbox_deltas.reshape([images * anchors, 4]);
    let box_loss = box_delta_loss(deltas, &positive, regression_targets, &positive, count, beta);
    Ok((objectness_loss, box_loss))
}

/// Draws anchors of each image. The rows are those of the anchors of all images.
async fn draw_from_images(
    labels: &[Tensor<1, Int>],
    sampler: &BalancedPositiveNegativeSampler,
    permutation: &mut impl FnMut(usize) -> Vec<usize>,
) -> Result<Samples, DetectionError> {
    let (mut positive, mut negative) = (Vec::new(), Vec::new());
    let mut first_row = 0;
    for (image, labels) in labels.iter().enumerate() {
        let labels = host::read_ints(labels).await?;
        all_fit(image, "labels", &labels, "-1, 0 or 1", |label| (-1..=1).contains(label))?;
        let samples = sampler.draw(&labels, permutation)?;
        positive.extend(samples.positive.iter().map(|row| first_row + row));
        negative.extend(samples.negative.iter().map(|row| first_row + row));
        first_row += labels.len();
    }
    Ok(Samples { positive, negative })
}

fn check(
    objectness: &Tensor<2>,
    pred_bbox_deltas: &Tensor<3>,
    labels: &[Tensor<1, Int>],
    regression_targets: &[Tensor<2>],
) -> Result<(), DetectionError> {
    let [images, anchors] = objectness.dims();
    let (shape, expected) = (pred_bbox_deltas.dims(), "[N, A, 4], where `objectness` is [N, A]");
    arguments::check_shape("pred_bbox_deltas", shape == [images, anchors, 4], &shape, expected)?;
    arguments::device("pred_bbox_deltas", pred_bbox_deltas, "objectness", objectness)?;
    arguments::length("labels", labels.len(), images, "image of `objectness`")?;
    let targets = regression_targets.len();
    arguments::length("regression_targets", targets, images, "image of `objectness`")?;
    for (labels, targets) in labels.iter().zip(regression_targets) {
        arguments::length("labels", labels.dims()[0], anchors, "column of `objectness`")?;
        arguments::device("labels", labels, "objectness", objectness)?;
        let rows = arguments::boxes("regression_targets", targets)?;
        arguments::length("regression_targets", rows, anchors, "column of `objectness`")?;
        arguments::device("regression_targets", targets, "objectness", objectness)?;
        arguments::dtype("regression_targets", targets, "pred_bbox_deltas", pred_bbox_deltas)?;
    }
    Ok(())
}
