//! [`filter_proposals`]: the proposals of a region proposal network.

use burn::tensor::{Tensor, activation};

use super::boxes::clip_boxes_to_image;
use super::suppression::{Candidates, Choice, best_of_groups};
use super::{arguments, host};
use crate::configs::configs;
use crate::error::DetectionError;
use crate::forms::blocking_forms;

configs! {
/// Options of [`filter_proposals`]; the defaults match torchvision's detectors at inference.
pub struct ProposalConfig {
    /// The largest number of anchors of each level that enter NMS; the highest objectness comes first.
    pub pre_nms_top_n: usize = 1000,
    /// The largest number of proposals of an image; the highest score comes first.
    pub post_nms_top_n: usize = 1000,
    /// The threshold of NMS: a proposal is suppressed if its IoU with a better one of its level is above this. Not NaN.
    pub nms_threshold: f64 = 0.7,
    /// The lowest score of a proposal, inclusive. Not NaN.
    pub score_threshold: f64 = 0.0,
    /// The least width and height of a proposal, in pixels. Not NaN.
    pub min_size: f64 = 1e-3,
}
}

blocking_forms!(
    /// Chooses the proposals of each image from the decoded anchors of a region proposal network. Same semantics as
    /// torchvision's `RegionProposalNetwork.filter_proposals`.
    ///
    /// For each image the steps are:
    ///
    /// 1. On each level the `pre_nms_top_n` anchors with the highest objectness are taken.
    /// 2. Their boxes are clipped to the image. The score is the sigmoid of the objectness.
    /// 3. Boxes with a side below `min_size` or a score below `score_threshold` are dropped.
    /// 4. NMS runs within each level.
    /// 5. The `post_nms_top_n` boxes with the highest score are the proposals.
    ///
    /// Arguments and result:
    ///
    /// - `proposals`: `[N, A, 4]`: for each of N images the boxes that its A anchors were decoded to, level after
    ///   level, each `[x1, y1, x2, y2]` in pixels of the image, of any float dtype.
    /// - `objectness`: `[N, A]`: logits, of any float dtype.
    /// - `image_sizes`: `[height, width]` of each image in pixels, without padding.
    /// - `anchors_per_level`: the number of anchors of each level. The sum is A.
    /// - Returns for each image its P boxes, `[P, 4]`, in the order, unit and dtype of `proposals`, and their scores,
    ///   `[P]`, from 0 to 1, in the dtype of `objectness`. Both are sorted by decreasing score.
    ///
    /// On a GPU, the indices that NMS keeps are read back to the host, for all images at once. Elsewhere the host first
    /// reads the objectness of all anchors, and then the boxes and scores that enter NMS. Among anchors with equal
    /// objectness the first ones are taken; in torchvision the choice is unspecified. An anchor whose objectness or box
    /// is NaN is never a proposal.
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use burn_roi_detection::{ProposalConfig, filter_proposals};
    ///
    /// let device = Device::default();
    /// let proposals = Tensor::<3>::from_floats(
    ///     [[[0.0, 0.0, 8.0, 8.0], [0.0, 0.0, 8.0, 7.0], [-4.0, 4.0, 60.0, 60.0]]],
    ///     &device,
    /// );
    /// let objectness = Tensor::<2>::from_floats([[1.0, 2.0, 0.5]], &device);
    /// // Two anchors on the first level, one on the second.
    /// let config = ProposalConfig::new();
    /// let (boxes, scores) = filter_proposals(proposals, objectness, &[[32, 48]], &[2, 1], &config);
    /// assert_eq!(
    ///     boxes[0].clone().try_into_vec_as::<f32>().unwrap(),
    ///     [0.0, 0.0, 8.0, 7.0, 0.0, 4.0, 48.0, 32.0],
    /// );
    /// assert_eq!(scores[0].dims(), [2]);
    /// ```
    pub async fn filter_proposals(
        proposals: Tensor<3>,
        objectness: Tensor<2>,
        image_sizes: &[[usize; 2]],
        anchors_per_level: &[usize],
        config: &ProposalConfig,
    ) -> Result<(Vec<Tensor<2>>, Vec<Tensor<1>>), DetectionError> {
        //! Async form of [`filter_proposals`]. Use it on WebGPU in a browser, which cannot block.
        //!
        //! # Errors
        //!
        //! - `RoiError::Shape`: `proposals` is not `[N, A, 4]`, or `objectness` is not `[N, A]`.
        //! - `RoiError::Device`: `objectness` is on another device than `proposals`.
        //! - [`DetectionError::Length`]: `image_sizes` does not have one size for each image.
        //! - `RoiError::Option`: the sum of `anchors_per_level` is not A, or `nms_threshold`, `score_threshold` or
        //!   `min_size` is NaN.

        check(&proposals, &objectness, image_sizes, anchors_per_level, config)?;
        let [images, anchors, _] = proposals.dims();
        let boxes = flat(proposals, [images * anchors, 4]);
        let objectness = flat(objectness, [images * anchors]);
        let levels = anchors_per_level.len();
        let groups = host::consecutive(0, anchors_per_level.iter().copied().cycle().take(images * levels));
        let (rows, counts) = best_of_groups(&objectness, &groups, config.pre_nms_top_n).await?;
        let of_images = (0..images).map(|image| &counts[image * levels..(image + 1) * levels]);
        let rows_of_images = host::consecutive(0, of_images.clone().map(|counts| counts.iter().sum()));
        let candidates = of_images.zip(rows_of_images).zip(image_sizes);
        let candidates = candidates.map(|((counts, range), &image_size)| {
            let levels = counts.iter().enumerate();
            Candidates {
                scores: scores(host::select_range(&objectness, &rows, range.clone())),
                boxes: clip_boxes_to_image(host::select_range(&boxes, &rows, range), image_size),
                classes: levels.flat_map(|(level, &count)| vec![level; count]).collect(),
            }
        });
        let candidates: Vec<Candidates> = candidates.collect();
        let choice = Choice {
            min_size: config.min_size,
            // Only the score of a NaN, -1, is below 0.
            lowest_score: config.score_threshold.max(0.0),
            iou_threshold: config.nms_threshold,
            limit: config.post_nms_top_n,
        };
        let chosen = choice.of_images(&candidates).await?;
        let proposals = candidates.iter().zip(chosen).map(|(of_image, rows)| {
            let boxes = host::select_rows(&of_image.boxes, &rows);
            (boxes, host::select_rows(&of_image.scores, &rows))
        });
        Ok(proposals.unzip())
    }
);

/// The scores of anchors, 0 to 1; -1 where the objectness is NaN, since a GPU may make any score of that.
fn scores(objectness: Tensor<1>) -> Tensor<1> {
    // Not every backend computes with tensors without elements.
    if objectness.dims() == [0] {
        return objectness;
    }
    let is_nan = objectness.clone().is_nan();
    activation::sigmoid(objectness).mask_fill(is_nan, -1.0)
}

/// A tensor with its first two dimensions merged into one.
fn flat<const D: usize, const E: usize>(tensor: Tensor<D>, shape: [usize; E]) -> Tensor<E> {
    if shape[0] == 0 {
        return Tensor::zeros(shape, (&tensor.device(), tensor.dtype()));
    }
    tensor.reshape(shape)
}

fn check(
    proposals: &Tensor<3>,
    objectness: &Tensor<2>,
    image_sizes: &[[usize; 2]],
    anchors_per_level: &[usize],
    config: &ProposalConfig,
) -> Result<(), DetectionError> {
    let [images, anchors, columns] = proposals.dims();
    arguments::check_shape("proposals", columns == 4, &proposals.dims(), "[N, A, 4]")?;
    let (shape, expected) = (objectness.dims(), "[N, A], where `proposals` is [N, A, 4]");
    arguments::check_shape("objectness", shape == [images, anchors], &shape, expected)?;
    arguments::device("objectness", objectness, "proposals", proposals)?;
    arguments::length("image_sizes", image_sizes.len(), images, "image of `proposals`")?;
    let total = anchors_per_level
        .iter()
        .fold(0, |total: usize, &count| total.saturating_add(count));
    let expected = "counts whose sum is A, where `proposals` is [N, A, 4]";
    let value = format_args!("{anchors_per_level:?}");
    arguments::check("anchors_per_level", total == anchors, value, expected)?;
    arguments::not_nan("nms_threshold", config.nms_threshold)?;
    arguments::not_nan("score_threshold", config.score_threshold)?;
    arguments::not_nan("min_size", config.min_size)
}
