//! [`keypointrcnn_loss`]: the loss of a keypoint head.

use burn::tensor::{Int, Tensor};

use super::elementary::cross_entropy;
use crate::error::DetectionError;
use crate::forms::blocking_forms;
use crate::targets::{Keypoint, check_keypoints, finite_boxes, matched_rows, pixel_of, read_keypoints};
use crate::zeros::zero;
use crate::{arguments, host};

blocking_forms!(
    /// The loss of a keypoint head: how wrong its heatmaps are. Same semantics as torchvision's `keypointrcnn_loss`
    /// (`torchvision.models.detection.roi_heads`).
    ///
    /// It is the mean of the cross entropy between the pixels of each heatmap and the pixel that its keypoint lies in,
    /// by [`keypoints_to_heatmap`](crate::keypoints_to_heatmap()). Keypoints that are not visible or not in their
    /// proposal do not count. If none counts, the loss is 0, and so is its gradient.
    ///
    /// - `keypoint_logits`: `[K, P, M, M]`, the output of a keypoint head for P keypoints of the K proposals of all
    ///   images, of any float dtype. M is at most 32767.
    /// - `proposals`: for each image i the proposals that are not background, `[Kᵢ, 4]`, as
    ///   [`TrainingSamples::positive`](crate::TrainingSamples::positive) returns them: each `[x1, y1, x2, y2]` in
    ///   pixels of the image, of any float dtype. The sum of all Kᵢ is K.
    /// - `gt_keypoints`: for each image `[G, P, 3]`: the keypoints `[x, y, visibility]` of each ground-truth object in
    ///   pixels of the image, in the dtype of `proposals`. A keypoint is visible if its visibility is above 0.
    /// - `keypoint_matched_idxs`: for each image i `[Kᵢ]`, the row of each proposal's ground truth, of any integer
    ///   dtype.
    /// - Returns the loss, `[1]`, in the dtype of `keypoint_logits`.
    ///
    /// On an autodiff device the loss has a gradient for `keypoint_logits`. All others are constants, on the same
    /// device with or without autodiff. They are read back to the host.
    ///
    /// ```
    /// use burn::tensor::{Device, Int, Tensor};
    /// use burn_roi_detection::keypointrcnn_loss;
    ///
    /// let device = Device::default();
    /// let proposals = vec![Tensor::<2>::from_floats([[2.0, 2.0, 14.0, 14.0]], &device)];
    /// // Two keypoints, of which the second is not visible.
    /// let gt_keypoints = vec![Tensor::<3>::from_floats([[[8.0, 5.0, 2.0], [0.0, 0.0, 0.0]]], &device)];
    /// let matched_idxs = vec![Tensor::<1, Int>::from_ints([0], &device)];
    ///
    /// // What a keypoint head would compute.
    /// let keypoint_logits = Tensor::<4>::zeros([1, 2, 56, 56], &device.autodiff()).require_grad();
    /// let loss = keypointrcnn_loss(keypoint_logits.clone(), &proposals, &gt_keypoints, &matched_idxs);
    /// let gradients = loss.backward();
    /// // All 56 * 56 pixels have the same probability.
    /// assert!((loss.into_scalar::<f32>() - 3136.0f32.ln()).abs() < 1e-4);
    /// assert_eq!(keypoint_logits.grad(&gradients).unwrap().dims(), [1, 2, 56, 56]);
    /// ```
    pub async fn keypointrcnn_loss(
        keypoint_logits: Tensor<4>,
        proposals: &[Tensor<2>],
        gt_keypoints: &[Tensor<3>],
        keypoint_matched_idxs: &[Tensor<1, Int>],
    ) -> Result<Tensor<1>, DetectionError> {
        //! Async form of [`keypointrcnn_loss`]. Use it on WebGPU in a browser, which cannot block.
        //!
        //! # Errors
        //!
        //! - `RoiError::Shape`: `keypoint_logits` is not `[K, P, M, M]` with M above 0, an element of `proposals` is
        //!   not `[Kᵢ, 4]`, or one of `gt_keypoints` is not `[G, P, 3]` with the P of `keypoint_logits`.
        //! - [`DetectionError::Length`]: `proposals` does not have as many rows as `keypoint_logits`; `gt_keypoints` or
        //!   `keypoint_matched_idxs` does not have one tensor for each image; or an element of `keypoint_matched_idxs`
        //!   does not have one row for each proposal.
        //! - `RoiError::Device`: a tensor is on another device than `keypoint_logits`.
        //! - `RoiError::DType`: an element of `gt_keypoints` has another dtype than the proposals of its image.
        //! - [`DetectionError::Target`]: a proposal is not finite, a visible keypoint is not finite, a visibility is
        //!   NaN, or an index names no object.
        //! - `RoiError::Option`: M is above 32767.

        check(&keypoint_logits, proposals, gt_keypoints, keypoint_matched_idxs)?;
        let [count, points, size, _] = keypoint_logits.dims();
        let mut pixels = Vec::new();
        for image in 0..proposals.len() {
            let (proposals, matched_idxs) = (&proposals[image], &keypoint_matched_idxs[image]);
            pixels.extend(pixels_of_image(image, proposals, &gt_keypoints[image], matched_idxs, size).await?);
        }
        let counting = (0..).zip(pixels).filter_map(|(heatmap, pixel)| Some((heatmap, pixel?)));
        let (heatmaps, pixels): (Vec<usize>, Vec<usize>) = counting.unzip();
        if heatmaps.is_empty() {
            return Ok(zero(keypoint_logits));
        }
        let logits = keypoint_logits.reshape([count * points, size * size]);
        Ok(cross_entropy(host::select_rows(&logits, &heatmaps), &pixels))
    }
);

/// For each keypoint of each proposal of an image the pixel of its heatmap, if the keypoint counts.
async fn pixels_of_image(
    image: usize,
    proposals: &Tensor<2>,
    gt_keypoints: &Tensor<3>,
    matched_idxs: &Tensor<1, Int>,
    size: usize,
) -> Result<Vec<Option<usize>>, DetectionError> {
    let [_, points, _] = gt_keypoints.dims();
    let boxes = finite_boxes(image, "proposals", proposals).await?;
    let keypoints = read_keypoints(image, "gt_keypoints", gt_keypoints).await?;
    let rows = matched_rows(image, "keypoint_matched_idxs", matched_idxs, gt_keypoints, "objects").await?;
    let of_row = |row: i128| -> &[Keypoint] { &keypoints[points * row as usize..][..points] };
    let dtype = proposals.dtype();
    Ok(boxes
        .iter()
        .zip(rows)
        .flat_map(|(roi, row)| of_row(row).iter().map(move |keypoint| (roi, keypoint)))
        .map(|(roi, keypoint)| pixel_of(keypoint, roi, size, dtype))
        .collect())
}

fn check(
    keypoint_logits: &Tensor<4>,
    proposals: &[Tensor<2>],
    gt_keypoints: &[Tensor<3>],
    keypoint_matched_idxs: &[Tensor<1, Int>],
) -> Result<(), DetectionError> {
    let [count, points, height, width] = keypoint_logits.dims();
    let (is_square, expected) = (height == width && height > 0, "[K, P, M, M], with M above 0");
    arguments::check_shape("keypoint_logits", is_square, &keypoint_logits.dims(), expected)?;
    arguments::output_size("M", height)?;
    let mut total = 0;
    for proposals in proposals {
        total += arguments::boxes("proposals", proposals)?;
        arguments::device("proposals", proposals, "keypoint_logits", keypoint_logits)?;
    }
    arguments::length("proposals", total, count, "row of `keypoint_logits`")?;

    let images = proposals.len();
    arguments::length("gt_keypoints", gt_keypoints.len(), images, "image of `proposals`")?;
    let lists = keypoint_matched_idxs.len();
    arguments::length("keypoint_matched_idxs", lists, images, "image of `proposals`")?;
    for (proposals, (keypoints, rows)) in proposals.iter().zip(gt_keypoints.iter().zip(keypoint_matched_idxs)) {
        let [_, of_object, _] = check_keypoints("gt_keypoints", keypoints)?;
        let expected = "[G, P, 3], where `keypoint_logits` is [K, P, M, M]";
        arguments::check_shape("gt_keypoints", of_object == points, &keypoints.dims(), expected)?;
        arguments::device("gt_keypoints", keypoints, "keypoint_logits", keypoint_logits)?;
        arguments::dtype("gt_keypoints", keypoints, "proposals", proposals)?;
        let (length, expected) = (rows.dims()[0], proposals.dims()[0]);
        arguments::length("keypoint_matched_idxs", length, expected, "row of `proposals`")?;
        arguments::device("keypoint_matched_idxs", rows, "keypoint_logits", keypoint_logits)?;
    }
    Ok(())
}
