//! [`select_training_samples`]: the proposals that the heads are trained on.

use burn::tensor::kind::Basic;
use burn::tensor::{Int, Tensor};

use super::assignment::assign;
use super::ground_truth::GroundTruth;
use super::matcher::Matcher;
use super::sampler::{BalancedPositiveNegativeSampler, rows_where};
use crate::box_coder::BoxCoder;
use crate::configs::configs;
use crate::error::DetectionError;
use crate::forms::blocking_forms;
use crate::post_processing::BACKGROUND;
use crate::{arguments, host};

configs! {
/// Options of [`select_training_samples`]; the defaults match torchvision's detectors.
pub struct TrainingSamplesConfig {
    /// The lowest IoU with a ground-truth box of a positive sample: the `high_threshold` of [`Matcher`]. Finite.
    pub fg_iou_threshold: f64 = 0.5,
    /// A proposal whose best IoU is below this is background: the `low_threshold` of [`Matcher`]. Finite and at most
    /// `fg_iou_threshold`.
    pub bg_iou_threshold: f64 = 0.5,
    /// The number of samples of an image, at most. Above 0.
    pub batch_size_per_image: usize = 512,
    /// The largest fraction of positive samples: from 0 to 1.
    pub positive_fraction: f64 = 0.25,
    /// The weights of the box deltas, as in [`BoxCoder`]. Finite and not 0.
    pub box_weights: [f64; 4] = [10.0, 10.0, 5.0, 5.0],
}
}

/// The proposals that the heads are trained on, and their targets. Each list has a tensor for each image.
#[derive(Debug, Clone)]
pub struct TrainingSamples {
    /// `[S, 4]`: `[x1, y1, x2, y2]` in pixels.
    pub proposals: Vec<Tensor<2>>,
    /// `[S]`: the row of the matched ground-truth box, or 0 if there is none.
    pub matched_idxs: Vec<Tensor<1, Int>>,
    /// `[S]`: the class, 0 for background.
    pub labels: Vec<Tensor<1, Int>>,
    /// `[S, 4]`: the box deltas `[dx, dy, dw, dh]` of the matched ground-truth box relative to the proposal. They mean
    /// nothing for background, and may be infinite there.
    pub regression_targets: Vec<Tensor<2>>,
}

impl TrainingSamples {
    blocking_forms!(
        /// The samples that are not background: what a mask head is trained on.
        ///
        /// The labels are read back to the host.
        pub async fn positive(&self) -> Result<Self, DetectionError> {
            //! Async form of [`positive`](TrainingSamples::positive). Use it on WebGPU in a browser, which cannot
            //! block.
            //!
            //! # Errors
            //!
            //! `RoiError::DeviceRead`.

            let labels = host::read_lists(&self.labels).await?.into_iter();
            let rows = labels.map(|labels| rows_where(&labels, |label| label > BACKGROUND.into()));
            Ok(self.rows(&rows.collect::<Vec<_>>()))
        }
    );

    /// All `proposals`, matched with ground truth that is checked. Nothing is drawn.
    ///
    /// - `box_weights`: the weights of the box deltas.
    pub(crate) fn matched(
        proposals: Vec<Tensor<2>>,
        truth: &GroundTruth,
        matcher: &Matcher,
        box_weights: [f64; 4],
    ) -> Result<Self, DetectionError> {
        let (matched_idxs, labels) = assign(&proposals, truth, matcher)?;
        Ok(Self {
            regression_targets: box_deltas(&proposals, truth.boxes, &matched_idxs, BoxCoder::new(box_weights))?,
            labels,
            matched_idxs,
            proposals,
        })
    }

    /// The given rows of each image.
    fn rows(&self, rows: &[Vec<usize>]) -> Self {
        Self {
            proposals: select_rows(&self.proposals, rows),
            matched_idxs: select_rows(&self.matched_idxs, rows),
            labels: select_rows(&self.labels, rows),
            regression_targets: select_rows(&self.regression_targets, rows),
        }
    }
}

blocking_forms!(
    /// Chooses the proposals that the heads are trained on. Same semantics as torchvision's
    /// `RoIHeads.select_training_samples`.
    ///
    /// For each image the steps are:
    ///
    /// 1. The ground-truth boxes are appended to the proposals.
    /// 2. [`assign_targets_to_proposals`](super::assign_targets_to_proposals()) assigns a ground-truth box and a label
    ///    to each proposal.
    /// 3. [`BalancedPositiveNegativeSampler`] draws the samples.
    /// 4. [`BoxCoder::encode`] computes the box deltas that the box head must learn.
    ///
    /// Arguments and result:
    ///
    /// - `proposals`: for each image `[K, 4]`, each `[x1, y1, x2, y2]` in pixels of the image, of any float dtype.
    /// - `gt_boxes`: for each image its ground-truth boxes `[G, 4]`, in the order, unit and dtype of `proposals`. G may
    ///   be 0.
    /// - `gt_labels`: for each image `[G]`, the class of each ground-truth box, 1 and above, of any integer dtype.
    /// - `permutation`: the random choice, as in [`BalancedPositiveNegativeSampler::forward`].
    /// - Returns the samples of each image in the order of the proposals, with their targets. Floats have the dtype of
    ///   `proposals`, integers the device's dtype.
    ///
    /// The ground truth and the labels of the proposals are read back to the host. The result is on the inner device if
    /// the proposals are on an autodiff device: targets have no gradient.
    ///
    /// ```
    /// use burn::tensor::{Device, Int, Tensor};
    /// use burn_roi_detection::{TrainingSamplesConfig, random_permutations, select_training_samples};
    ///
    /// let device = Device::default();
    /// let proposals = vec![Tensor::<2>::from_floats([[0.0, 0.0, 9.0, 9.0], [50.0, 0.0, 60.0, 10.0]], &device)];
    /// let gt_boxes = vec![Tensor::<2>::from_floats([[0.0, 0.0, 10.0, 10.0]], &device)];
    /// let gt_labels = vec![Tensor::<1, Int>::from_ints([3], &device)];
    ///
    /// let config = TrainingSamplesConfig::new();
    /// let permutation = &mut random_permutations(0);
    /// let samples = select_training_samples(&proposals, &gt_boxes, &gt_labels, &config, permutation);
    /// // The last one is the ground truth itself.
    /// assert_eq!(samples.labels[0].clone().try_into_vec_as::<i32>().unwrap(), [3, 0, 3]);
    /// assert_eq!(samples.positive().proposals[0].dims(), [2, 4]);
    /// ```
    pub async fn select_training_samples(
        proposals: &[Tensor<2>],
        gt_boxes: &[Tensor<2>],
        gt_labels: &[Tensor<1, Int>],
        config: &TrainingSamplesConfig,
        permutation: &mut impl FnMut(usize) -> Vec<usize>,
    ) -> Result<TrainingSamples, DetectionError> {
        //! Async form of [`select_training_samples`]. Use it on WebGPU in a browser, which cannot block.
        //!
        //! # Errors
        //!
        //! - [`DetectionError::Length`], `RoiError::Shape`, `RoiError::Device`, `RoiError::DType`,
        //!   [`DetectionError::Target`]: as for
        //!   [`assign_targets_to_proposals_async`](super::assign_targets_to_proposals_async()).
        //! - `RoiError::Option`: `fg_iou_threshold` or `bg_iou_threshold` is not finite, the second is above the first,
        //!   `batch_size_per_image` is 0, `positive_fraction` is not from 0 to 1, an element of `box_weights` is 0 or
        //!   not finite, or `permutation` returns anything but a permutation.

        let matcher = Matcher::new(config.fg_iou_threshold, config.bg_iou_threshold);
        let sampler = BalancedPositiveNegativeSampler::new(config.batch_size_per_image, config.positive_fraction);
        matcher.check("fg_iou_threshold", "bg_iou_threshold")?;
        sampler.check()?;
        arguments::weights("box_weights", &config.box_weights)?;

        let truth = GroundTruth::try_new(gt_boxes, gt_labels, proposals).await?;
        let proposals = with_ground_truth(proposals, gt_boxes);
        let all = TrainingSamples::matched(proposals, &truth, &matcher, config.box_weights)?;
        let labels = host::read_lists(&all.labels).await?.into_iter();
        let rows = labels.map(|labels| Ok(sampler.draw(&labels, permutation)?.into_rows()));
        Ok(all.rows(&rows.collect::<Result<Vec<_>, DetectionError>>()?))
    }
);

/// The proposals of each image, followed by its ground-truth boxes.
fn with_ground_truth(proposals: &[Tensor<2>], gt_boxes: &[Tensor<2>]) -> Vec<Tensor<2>> {
    proposals
        .iter()
        .zip(gt_boxes)
        .map(|(proposals, gt_boxes)| host::concatenate(&[proposals.clone().inner(), gt_boxes.clone().inner()]))
        .collect()
}

/// The given rows of each image.
fn select_rows<const D: usize, K: Basic>(images: &[Tensor<D, K>], rows: &[Vec<usize>]) -> Vec<Tensor<D, K>> {
    images
        .iter()
        .zip(rows)
        .map(|(tensor, rows)| host::select_rows(tensor, rows))
        .collect()
}

/// For each image the box deltas of the matched ground-truth boxes relative to the proposals.
fn box_deltas(
    proposals: &[Tensor<2>],
    gt_boxes: &[Tensor<2>],
    matched_idxs: &[Tensor<1, Int>],
    coder: BoxCoder,
) -> Result<Vec<Tensor<2>>, DetectionError> {
    (0..proposals.len())
        .map(|image| {
            let (proposals, gt_boxes) = (proposals[image].clone(), gt_boxes[image].clone().inner());
            // Without ground truth torchvision encodes boxes of zeros.
            let matched = match proposals.dims()[0] * gt_boxes.dims()[0] {
                0 => proposals.zeros_like(),
                _ => gt_boxes.select(0, matched_idxs[image].clone()),
            };
            coder.try_encode(matched, proposals)
        })
        .collect()
}
