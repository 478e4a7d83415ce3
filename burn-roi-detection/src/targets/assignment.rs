//! The label and the ground-truth box that each proposal or anchor is trained on.

use burn::tensor::{Int, Tensor};

use super::IntsOfImages;
use super::ground_truth::{GroundTruth, check_boxes};
use super::matcher::Matcher;
use crate::arguments;
use crate::boxes::try_box_iou;
use crate::error::DetectionError;
use crate::forms::blocking_forms;
use crate::integers::of_device_dtype;
use crate::post_processing::BACKGROUND;

/// The label of a proposal or anchor that is ignored in training.
const IGNORED: i64 = -1;

blocking_forms!(
    /// The ground truth and the label of each proposal. Same semantics as torchvision's
    /// `RoIHeads.assign_targets_to_proposals`.
    ///
    /// - `proposals`: for each image `[K, 4]`, each `[x1, y1, x2, y2]` in pixels of the image, of any float dtype.
    /// - `gt_boxes`: for each image its ground-truth boxes `[G, 4]`, in the order, unit and dtype of `proposals`. G may
    ///   be 0.
    /// - `gt_labels`: for each image `[G]`, the class of each ground-truth box, 1 and above, of any integer dtype.
    /// - `matcher`: decides by the IoU. torchvision's is `Matcher::new(0.5, 0.5)`.
    /// - Returns for each image two tensors `[K]` of the device's integer dtype. The first has the row of the matched
    ///   ground-truth box, or 0 if there is none. The second has its class, or 0 for background, or -1 for a proposal
    ///   between the thresholds, which is ignored.
    ///
    /// The ground truth is read back to the host and checked. The results are on the inner device if the boxes are on
    /// an autodiff device.
    ///
    /// ```
    /// use burn::tensor::{Device, Int, Tensor};
    /// use burn_roi_detection::{Matcher, assign_targets_to_proposals};
    ///
    /// let device = Device::default();
    /// let proposals = [[0.0, 0.0, 9.0, 9.0], [50.0, 0.0, 60.0, 10.0], [20.0, 20.0, 30.0, 31.0]];
    /// let proposals = vec![Tensor::<2>::from_floats(proposals, &device)];
    /// let gt_boxes = [[20.0, 20.0, 30.0, 30.0], [0.0, 0.0, 10.0, 10.0]];
    /// let gt_boxes = vec![Tensor::<2>::from_floats(gt_boxes, &device)];
    /// let gt_labels = vec![Tensor::<1, Int>::from_ints([3, 7], &device)];
    ///
    /// let matcher = Matcher::new(0.5, 0.5);
    /// let (matched_idxs, labels) = assign_targets_to_proposals(&proposals, &gt_boxes, &gt_labels, &matcher);
    /// assert_eq!(matched_idxs[0].clone().try_into_vec_as::<i32>().unwrap(), [1, 0, 0]);
    /// assert_eq!(labels[0].clone().try_into_vec_as::<i32>().unwrap(), [7, 0, 3]);
    /// ```
    pub async fn assign_targets_to_proposals(
        proposals: &[Tensor<2>],
        gt_boxes: &[Tensor<2>],
        gt_labels: &[Tensor<1, Int>],
        matcher: &Matcher,
    ) -> Result<(IntsOfImages, IntsOfImages), DetectionError> {
        //! Async form of [`assign_targets_to_proposals`]. Use it on WebGPU in a browser, which cannot block.
        //!
        //! # Errors
        //!
        //! - [`DetectionError::Length`]: `gt_boxes` or `gt_labels` does not have one tensor for each image, or a tensor
        //!   of `gt_labels` does not have one label for each box.
        //! - `RoiError::Shape`: a tensor of `proposals` or `gt_boxes` is not `[K, 4]`.
        //! - `RoiError::Device`, `RoiError::DType`: a tensor of `gt_boxes` differs from the tensor of `proposals`, or
        //!   one of `gt_labels` is on another device.
        //! - [`DetectionError::Target`]: a ground-truth box is not finite or has no width or no height, or its label is
        //!   below 1 or above what the device's integer dtype holds.
        //! - `RoiError::Option`: a threshold of `matcher` is not finite, or `low_threshold` is above `high_threshold`.

        matcher.check("high_threshold", "low_threshold")?;
        let truth = GroundTruth::try_new(gt_boxes, gt_labels, proposals).await?;
        assign(proposals, &truth, matcher)
    }

    /// The label and the ground-truth box of each anchor. Same semantics as torchvision's
    /// `RegionProposalNetwork.assign_targets_to_anchors`.
    ///
    /// - `anchors`: `[A, 4]`: the anchors of all levels, which are the same for each image, each `[x1, y1, x2, y2]` in
    ///   pixels of the image, of any float dtype.
    /// - `gt_boxes`: for each image its ground-truth boxes `[G, 4]`, in the order, unit and dtype of `anchors`. G may
    ///   be 0.
    /// - `matcher`: decides by the IoU. torchvision's is `Matcher::new(0.7, 0.3).with_allow_low_quality_matches(true)`.
    /// - Returns for each image the labels, `[A]`, of the device's integer dtype: 1 for an anchor with a ground-truth
    ///   box, 0 for background, -1 for an anchor that is ignored. Then it returns for each image the matched
    ///   ground-truth boxes, `[A, 4]`, in the order, unit and dtype of `anchors`. An anchor without a match has the
    ///   image's first ground-truth box, or a box of zeros if there is none.
    ///
    /// torchvision's labels are floats. The ground truth is read back to the host and checked. The results are on the
    /// inner device if the boxes are on an autodiff device.
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use burn_roi_detection::{Matcher, assign_targets_to_anchors};
    ///
    /// let device = Device::default();
    /// let anchors = [[0.0, 0.0, 9.0, 9.0], [50.0, 0.0, 60.0, 10.0], [0.0, 0.0, 10.0, 5.0]];
    /// let anchors = Tensor::<2>::from_floats(anchors, &device);
    /// let gt_boxes = vec![Tensor::<2>::from_floats([[0.0, 0.0, 10.0, 10.0]], &device)];
    ///
    /// let matcher = Matcher::new(0.7, 0.3).with_allow_low_quality_matches(true);
    /// let (labels, matched_gt_boxes) = assign_targets_to_anchors(&anchors, &gt_boxes, &matcher);
    /// // The third IoU, 0.5, is between the thresholds.
    /// assert_eq!(labels[0].clone().try_into_vec_as::<i32>().unwrap(), [1, 0, -1]);
    /// assert_eq!(matched_gt_boxes[0].dims(), [3, 4]);
    /// ```
    pub async fn assign_targets_to_anchors(
        anchors: &Tensor<2>,
        gt_boxes: &[Tensor<2>],
        matcher: &Matcher,
    ) -> Result<(IntsOfImages, Vec<Tensor<2>>), DetectionError> {
        //! Async form of [`assign_targets_to_anchors`]. Use it on WebGPU in a browser, which cannot block.
        //!
        //! # Errors
        //!
        //! - `RoiError::Shape`: `anchors` or a tensor of `gt_boxes` is not `[K, 4]`.
        //! - `RoiError::Device`, `RoiError::DType`: a tensor of `gt_boxes` differs from `anchors`.
        //! - [`DetectionError::Target`]: a ground-truth box is not finite or has no width or no height.
        //! - `RoiError::Option`: a threshold of `matcher` is not finite, or `low_threshold` is above `high_threshold`.

        matcher.check("high_threshold", "low_threshold")?;
        arguments::boxes("anchors", anchors)?;
        let (mut labels, mut matched) = (Vec::new(), Vec::new());
        for (image, gt_boxes) in gt_boxes.iter().enumerate() {
            check_boxes(image, gt_boxes, "anchors", anchors).await?;
            let of_image = boxes_of_anchors(anchors, gt_boxes, matcher)?;
            labels.push(of_image.0);
            matched.push(of_image.1);
        }
        Ok((labels, matched))
    }
);

/// [`assign_targets_to_proposals`] of ground truth that is checked.
pub(super) fn assign(
    proposals: &[Tensor<2>],
    truth: &GroundTruth,
    matcher: &Matcher,
) -> Result<(IntsOfImages, IntsOfImages), DetectionError> {
    let images = proposals.iter().zip(truth.boxes).zip(truth.labels);
    images
        .map(|((proposals, boxes), labels)| labels_of_proposals(proposals, boxes, labels, matcher))
        .collect()
}

/// The matched rows of the ground truth and the labels of one image.
fn labels_of_proposals(
    proposals: &Tensor<2>,
    gt_boxes: &Tensor<2>,
    gt_labels: &Tensor<1, Int>,
    matcher: &Matcher,
) -> Result<(Tensor<1, Int>, Tensor<1, Int>), DetectionError> {
    let Some(matches) = matches(proposals, gt_boxes, matcher)? else {
        let none = background(proposals);
        return Ok((none.clone(), none));
    };
    let matched_idxs = matches.clone().clamp_min(0);
    let gt_labels = of_device_dtype(gt_labels.clone().inner());
    let labels = gt_labels.select(0, matched_idxs.clone());
    Ok((matched_idxs, without_unmatched(labels, matches)))
}

/// The labels and the matched ground-truth boxes of one image.
fn boxes_of_anchors(
    anchors: &Tensor<2>,
    gt_boxes: &Tensor<2>,
    matcher: &Matcher,
) -> Result<(Tensor<1, Int>, Tensor<2>), DetectionError> {
    let Some(matches) = matches(anchors, gt_boxes, matcher)? else {
        let no_boxes = Tensor::zeros(anchors.dims(), (&anchors.device().inner(), anchors.dtype()));
        return Ok((background(anchors), no_boxes));
    };
    let boxes = gt_boxes.clone().inner().select(0, matches.clone().clamp_min(0));
    let labels = without_unmatched(matches.ones_like(), matches);
    Ok((labels, boxes))
}

/// The match of each box with the ground truth, or nothing if there are no boxes or no ground truth.
fn matches(
    boxes: &Tensor<2>,
    gt_boxes: &Tensor<2>,
    matcher: &Matcher,
) -> Result<Option<Tensor<1, Int>>, DetectionError> {
    if boxes.dims()[0] == 0 || gt_boxes.dims()[0] == 0 {
        return Ok(None);
    }
    let quality = try_box_iou(gt_boxes.clone().inner(), boxes.clone().inner())?;
    matcher.try_forward(quality).map(Some)
}

/// The label, or the match, of boxes in an image without ground truth.
fn background(boxes: &Tensor<2>) -> Tensor<1, Int> {
    Tensor::zeros([boxes.dims()[0]], &boxes.device().inner())
}

/// The labels, with those of background and of ignored boxes in place of what they have.
fn without_unmatched(labels: Tensor<1, Int>, matches: Tensor<1, Int>) -> Tensor<1, Int> {
    let below = matches.clone().equal_elem(Matcher::BELOW_LOW_THRESHOLD);
    let between = matches.equal_elem(Matcher::BETWEEN_THRESHOLDS);
    labels.mask_fill(below, BACKGROUND).mask_fill(between, IGNORED)
}
