//! [`maskrcnn_loss`]: the loss of a mask head.

use burn::tensor::{Int, Tensor};

use super::elementary::{binary_cross_entropy_with_logits, places};
use crate::error::DetectionError;
use crate::forms::blocking_forms;
use crate::post_processing::BACKGROUND;
use crate::targets::{MaskTargets, all_fit, project_masks_on_boxes_async};
use crate::zeros::zero;
use crate::{arguments, host};

blocking_forms!(
    /// The loss of a mask head: how wrong its masks are. Same semantics as torchvision's `maskrcnn_loss`
    /// (`torchvision.models.detection.roi_heads`).
    ///
    /// It is the mean of the binary cross entropy between the mask logits of each proposal's class and its ground-truth
    /// mask, which [`project_masks_on_boxes`](crate::project_masks_on_boxes()) crops to the proposal. Without proposals
    /// it is 0, and so is its gradient.
    ///
    /// - `mask_logits`: `[K, classes, M, M]`, the output of a mask head for the K proposals of all images, of any float
    ///   dtype. M is at most 32767.
    /// - `proposals`: for each image i the proposals that are not background, `[Kᵢ, 4]`, as
    ///   [`TrainingSamples::positive`](crate::TrainingSamples::positive) returns them: each `[x1, y1, x2, y2]` in
    ///   pixels of the image, of a float dtype that [`roi_align`](burn_roi::roi_align()) takes. The sum of all Kᵢ is K.
    /// - `gt_masks`: for each image `[G, H, W]`: the mask of each ground-truth object in the whole image, 1 inside and
    ///   0 outside, of any float dtype.
    /// - `gt_labels`: for each image `[G]`, the class of each ground-truth object, from 1 to `classes - 1`, of any
    ///   integer dtype.
    /// - `mask_matched_idxs`: for each image i `[Kᵢ]`, the row of each proposal's ground truth, of any integer dtype.
    /// - `targets`: how the masks are cropped, by default as in torchvision.
    /// - Returns the loss, `[1]`, in the dtype of `mask_logits`.
    ///
    /// On an autodiff device the loss has a gradient for `mask_logits`. All others are constants, on the same device
    /// with or without autodiff. Everything but the masks is read back to the host.
    ///
    /// ```
    /// use burn::tensor::{Device, Int, Tensor};
    /// use burn_roi_detection::{MaskTargets, maskrcnn_loss};
    ///
    /// let device = Device::default();
    /// let proposals = vec![Tensor::<2>::from_floats([[2.0, 2.0, 14.0, 14.0]], &device)];
    /// let gt_masks = vec![Tensor::<3>::ones([1, 16, 16], &device)];
    /// let gt_labels = vec![Tensor::<1, Int>::from_ints([2], &device)];
    /// let matched_idxs = vec![Tensor::<1, Int>::from_ints([0], &device)];
    ///
    /// // What a mask head for 3 classes would compute.
    /// let mask_logits = Tensor::<4>::zeros([1, 3, 28, 28], &device.autodiff()).require_grad();
    /// let (logits, targets) = (mask_logits.clone(), MaskTargets::new());
    /// let loss = maskrcnn_loss(logits, &proposals, &gt_masks, &gt_labels, &matched_idxs, &targets);
    /// let gradients = loss.backward();
    /// // A logit of 0 is a probability of 0.5.
    /// assert!((loss.into_scalar::<f32>() - 2.0f32.ln()).abs() < 1e-6);
    /// assert_eq!(mask_logits.grad(&gradients).unwrap().dims(), [1, 3, 28, 28]);
    /// ```
    pub async fn maskrcnn_loss(
        mask_logits: Tensor<4>,
        proposals: &[Tensor<2>],
        gt_masks: &[Tensor<3>],
        gt_labels: &[Tensor<1, Int>],
        mask_matched_idxs: &[Tensor<1, Int>],
        targets: &MaskTargets,
    ) -> Result<Tensor<1>, DetectionError> {
        //! Async form of [`maskrcnn_loss`]. Use it on WebGPU in a browser, which cannot block.
        //!
        //! # Errors
        //!
        //! - `RoiError::Shape`: `mask_logits` is not `[K, classes, M, M]` with M above 0, an element of `proposals` is
        //!   not `[Kᵢ, 4]`, or one of `gt_masks` has no pixels.
        //! - [`DetectionError::Length`]: `proposals` does not have as many rows as `mask_logits`; `gt_masks`,
        //!   `gt_labels` or `mask_matched_idxs` does not have one tensor for each image; or an element of the last two
        //!   not one row for each mask or proposal.
        //! - `RoiError::Device`: a tensor is on another device than `mask_logits`.
        //! - `RoiError::DType`: the elements of `proposals` have different dtypes, or one that the device can't pool.
        //! - [`DetectionError::Target`]: a proposal is not finite, an index names no mask, or a label is not from 1 to
        //!   `classes - 1`.
        //! - `RoiError::Option`: M is above 32767.
        //! - `RoiError::Backend`: [`roi_align`](burn_roi::roi_align()) does not run on the device.

        check(&mask_logits, proposals, gt_masks, gt_labels, mask_matched_idxs)?;
        let [count, classes, size, _] = mask_logits.dims();
        if proposals.is_empty() {
            return Ok(zero(mask_logits));
        }
        let targets = project_masks_on_boxes_async(gt_masks, proposals, mask_matched_idxs, size, targets).await?;
        let labels = labels_of_proposals(gt_labels, mask_matched_idxs, classes).await?;
        if count == 0 {
            return Ok(zero(mask_logits));
        }
        let targets = targets.cast(mask_logits.dtype());
        let masks = mask_logits.reshape([count * classes, size, size]);
        let masks = host::select_rows(&masks, &places(&labels, classes));
        Ok(binary_cross_entropy_with_logits(masks, targets))
    }
);

/// The class of each proposal of all images. The indices are checked.
async fn labels_of_proposals(
    gt_labels: &[Tensor<1, Int>],
    matched_idxs: &[Tensor<1, Int>],
    classes: usize,
) -> Result<Vec<usize>, DetectionError> {
    let expected = format!("above 0, which is the background, and below the {classes} classes");
    let mut of_proposals = Vec::new();
    for (image, (labels, matched_idxs)) in gt_labels.iter().zip(matched_idxs).enumerate() {
        let labels = host::read_ints(labels).await?;
        let is_class = |&label: &i128| label > BACKGROUND.into() && label < classes as i128;
        all_fit(image, "gt_labels", &labels, &expected, is_class)?;
        let rows = host::read_ints(matched_idxs).await?;
        of_proposals.extend(rows.into_iter().map(|row| labels[row as usize] as usize));
    }
    Ok(of_proposals)
}

fn check(
    mask_logits: &Tensor<4>,
    proposals: &[Tensor<2>],
    gt_masks: &[Tensor<3>],
    gt_labels: &[Tensor<1, Int>],
    mask_matched_idxs: &[Tensor<1, Int>],
) -> Result<(), DetectionError> {
    let [count, _, height, width] = mask_logits.dims();
    let (is_square, expected) = (height == width && height > 0, "[K, classes, M, M], with M above 0");
    arguments::check_shape("mask_logits", is_square, &mask_logits.dims(), expected)?;
    let mut total = 0;
    for proposals in proposals {
        total += arguments::boxes("proposals", proposals)?;
        arguments::device("proposals", proposals, "mask_logits", mask_logits)?;
    }
    arguments::length("proposals", total, count, "row of `mask_logits`")?;

    let images = proposals.len();
    arguments::length("gt_masks", gt_masks.len(), images, "image of `proposals`")?;
    arguments::length("gt_labels", gt_labels.len(), images, "image of `proposals`")?;
    let indices = mask_matched_idxs.len();
    arguments::length("mask_matched_idxs", indices, images, "image of `proposals`")?;
    for (labels, masks) in gt_labels.iter().zip(gt_masks) {
        arguments::length("gt_labels", labels.dims()[0], masks.dims()[0], "mask of `gt_masks`")?;
        arguments::device("gt_labels", labels, "mask_logits", mask_logits)?;
    }
    Ok(())
}
