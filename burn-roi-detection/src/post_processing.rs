//! [`postprocess_detections`]: the detections of a box head.

use std::ops::Range;

use burn::tensor::{Int, Tensor, activation};

use super::box_coder::BoxCoder;
use super::boxes::clip_boxes_to_image;
use super::suppression::{Candidates, Choice};
use super::{arguments, host};
use crate::configs::configs;
use crate::error::DetectionError;
use crate::forms::blocking_forms;

configs! {
/// Options of [`postprocess_detections`]; the defaults match torchvision's detectors.
pub struct DetectionConfig {
    /// The score that a detection must be above. Not NaN.
    pub score_threshold: f64 = 0.05,
    /// The threshold of NMS: a detection is suppressed if its IoU with a better one of its class is above this. Not
    /// NaN.
    pub nms_threshold: f64 = 0.5,
    /// The number of detections of an image, at most: those with the highest score.
    pub detections_per_image: usize = 100,
    /// The least width and height of a detection, in pixels. Not NaN.
    pub min_size: f64 = 0.01,
    /// The weights of the box deltas, as in [`BoxCoder`]. Finite and not 0.
    pub box_weights: [f64; 4] = [10.0, 10.0, 5.0, 5.0],
}
}

/// The D detections of an image, by decreasing score.
#[derive(Debug, Clone)]
pub struct Detections {
    /// `[D, 4]`: `[x1, y1, x2, y2]` in pixels, within the image.
    pub boxes: Tensor<2>,
    /// `[D]`: the probability of the class, from 0 to 1.
    pub scores: Tensor<1>,
    /// `[D]`: the class. The lowest is 1, since class 0 is the background.
    pub labels: Tensor<1, Int>,
}

impl Detections {
    /// The number of detections.
    pub fn len(&self) -> usize {
        self.boxes.dims()[0]
    }

    /// Whether there are no detections.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

blocking_forms!(
    /// Turns the outputs of a box head for K proposals into the detections of each image. Same semantics as
    /// torchvision's `RoIHeads.postprocess_detections`.
    ///
    /// Each class of each proposal is a candidate, except class 0, the background. Its score is the softmax of the
    /// logits, and its box is the proposal with the class's box deltas applied, clipped to the image. For each image
    /// the steps are:
    ///
    /// 1. Candidates whose score is not above `score_threshold` or that have a side below `min_size` are dropped.
    /// 2. NMS runs within each class.
    /// 3. The `detections_per_image` candidates with the highest score are the detections.
    ///
    /// Arguments and result:
    ///
    /// - `class_logits`: `[K, classes]`, of any float dtype.
    /// - `box_regression`: `[K, 4 * classes]`, for each class in turn the box deltas `[dx, dy, dw, dh]`, or `[K, 4]`,
    ///   the box deltas of all classes but the background (class-agnostic regression). Of any float dtype.
    /// - `proposals`: for each image i `[Kᵢ, 4]`, each `[x1, y1, x2, y2]` in pixels of the image. The float dtype is
    ///   the same for all images, and the sum of all Kᵢ is K.
    /// - `image_sizes`: `[height, width]` of each image in pixels, without padding.
    /// - Returns one [`Detections`] for each image: boxes in the dtype of `proposals`, scores in the dtype of
    ///   `class_logits`, labels in the device's integer dtype.
    ///
    /// [`BoxCoder::decode`] says in which precision boxes are computed. torchvision's boxes have the dtype of
    /// `box_regression`. Without a class besides the background there are no detections, and both shapes of
    /// `box_regression` are the same.
    ///
    /// The scores of all candidates are read back to the host at once, and then, for all images at once, what is left
    /// of those above `score_threshold`: on a GPU the indices that its NMS keeps, elsewhere their boxes and scores. A
    /// candidate whose score or box is NaN is never a detection. NMS runs within each class as in
    /// [`batched_nms`](super::batched_nms), which says where torchvision's result can differ.
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use burn_roi_detection::{DetectionConfig, postprocess_detections};
    ///
    /// let device = Device::default();
    /// // One proposal and two classes besides the background. Box deltas of 0 leave the proposal as it is.
    /// let class_logits = Tensor::<2>::from_floats([[0.0, -4.0, 8.0]], &device);
    /// let box_regression = Tensor::<2>::zeros([1, 4 * 3], &device);
    /// let proposals = vec![Tensor::<2>::from_floats([[8.0, 8.0, 24.0, 40.0]], &device)];
    ///
    /// let config = DetectionConfig::new();
    /// let images = postprocess_detections(class_logits, box_regression, proposals, &[[32, 32]], &config);
    /// assert_eq!(images[0].len(), 1);
    /// assert_eq!(images[0].boxes.clone().try_into_vec_as::<f32>().unwrap(), [8.0, 8.0, 24.0, 32.0]);
    /// assert_eq!(images[0].labels.clone().try_into_vec_as::<i32>().unwrap(), [2]);
    /// ```
    pub async fn postprocess_detections(
        class_logits: Tensor<2>,
        box_regression: Tensor<2>,
        proposals: Vec<Tensor<2>>,
        image_sizes: &[[usize; 2]],
        config: &DetectionConfig,
    ) -> Result<Vec<Detections>, DetectionError> {
        //! Async form of [`postprocess_detections`]. Use it on WebGPU in a browser, which cannot block.
        //!
        //! # Errors
        //!
        //! - `RoiError::Shape`: `box_regression` is neither `[K, 4 * classes]` nor `[K, 4]`, or an element of
        //!   `proposals` is not `[Kᵢ, 4]`.
        //! - [`DetectionError::Length`]: `box_regression` or `proposals` does not have as many rows as `class_logits`,
        //!   or `image_sizes` does not have one size for each image.
        //! - `RoiError::Device`: `box_regression` or an element of `proposals` is on another device than
        //!   `class_logits`.
        //! - `RoiError::DType`: the elements of `proposals` have different dtypes.
        //! - `RoiError::Option`: `score_threshold`, `nms_threshold` or `min_size` is NaN, or an element of
        //!   `box_weights` is 0 or not finite.

        check(&class_logits, &box_regression, &proposals, image_sizes, config)?;
        let ranges = host::consecutive(0, proposals.iter().map(|boxes| boxes.dims()[0]));
        let all = Predictions::decode(class_logits, box_regression, proposals, config).await?;
        let rows = ranges.into_iter().map(|rows| all.above(config.score_threshold, rows));
        let rows: Vec<Vec<usize>> = rows.collect();
        let candidates = rows.iter().zip(image_sizes);
        let candidates: Vec<_> = candidates.map(|(rows, &size)| all.candidates(rows, size)).collect();
        let choice = Choice {
            min_size: config.min_size,
            // Those that are not above the threshold are left out already.
            lowest_score: f64::NEG_INFINITY,
            iou_threshold: config.nms_threshold,
            limit: config.detections_per_image,
        };
        let chosen = choice.of_images(&candidates).await?;
        let images = candidates.iter().zip(&chosen).map(|(candidates, chosen)| {
            let labels = chosen.iter().map(|&index| candidates.classes[index] as i64);
            Detections {
                boxes: host::select_rows(&candidates.boxes, chosen),
                scores: host::select_rows(&candidates.scores, chosen),
                labels: host::ints(labels.collect(), &candidates.boxes.device()),
            }
        });
        Ok(images.collect())
    }
);

/// The class of the background, which is never a detection.
pub(super) const BACKGROUND: i64 = 0;

/// All classes of all proposals: row `proposal * classes + class`.
struct Predictions {
    /// `[K * classes, 4]`, or `[K, 4]` if all classes of a proposal have the same box. Not clipped.
    boxes: Tensor<2>,
    /// The number of candidates of each row of `boxes`.
    per_box: usize,
    /// `[K * classes]`.
    scores: Tensor<1>,
    /// The scores on the host.
    host_scores: Vec<f64>,
    classes: usize,
}

impl Predictions {
    async fn decode(
        class_logits: Tensor<2>,
        box_regression: Tensor<2>,
        proposals: Vec<Tensor<2>>,
        config: &DetectionConfig,
    ) -> Result<Self, DetectionError> {
        let [count, classes] = class_logits.dims();
        if count * classes == 0 {
            let device = class_logits.device();
            let dtype = proposals.first().map_or(box_regression.dtype(), Tensor::dtype);
            return Ok(Self {
                boxes: Tensor::zeros([0, 4], (&device, dtype)),
                per_box: 1,
                scores: Tensor::zeros([0], (&device, class_logits.dtype())),
                host_scores: Vec::new(),
                classes,
            });
        }
        let proposals = host::concatenate(&proposals);
        let boxes = BoxCoder::new(config.box_weights).try_decode(box_regression, proposals)?;
        let [_, boxes_of_proposal, _] = boxes.dims();
        let scores = activation::softmax(class_logits, 1).reshape([count * classes]);
        Ok(Self {
            boxes: boxes.reshape([count * boxes_of_proposal, 4]),
            per_box: classes / boxes_of_proposal,
            host_scores: host::read_floats(&scores).await?,
            scores,
            classes,
        })
    }

    /// The candidates of an image in these rows.
    fn candidates(&self, rows: &[usize], image_size: [usize; 2]) -> Candidates {
        let box_rows: Vec<usize> = rows.iter().map(|&row| row / self.per_box).collect();
        Candidates {
            boxes: clip_boxes_to_image(host::select_rows(&self.boxes, &box_rows), image_size),
            scores: host::select_rows(&self.scores, rows),
            classes: rows.iter().map(|&row| self.label(row)).collect(),
        }
    }

    /// The rows of the candidates with a score above `threshold`, for the proposals in `rows`.
    fn above(&self, threshold: f64, rows: Range<usize>) -> Vec<usize> {
        let threshold = host::rounded(threshold, self.scores.dtype());
        (rows.start * self.classes..rows.end * self.classes)
            .filter(|&row| self.label(row) != BACKGROUND as usize && self.host_scores[row] > threshold)
            .collect()
    }

    fn label(&self, row: usize) -> usize {
        row % self.classes
    }
}

fn check(
    class_logits: &Tensor<2>,
    box_regression: &Tensor<2>,
    proposals: &[Tensor<2>],
    image_sizes: &[[usize; 2]],
    config: &DetectionConfig,
) -> Result<(), DetectionError> {
    let [count, _] = class_logits.dims();
    arguments::box_regression(box_regression, class_logits)?;
    let mut total = 0;
    for boxes in proposals {
        total += arguments::boxes("proposals", boxes)?;
        arguments::device("proposals", boxes, "class_logits", class_logits)?;
        arguments::dtype("proposals", boxes, "proposals[0]", &proposals[0])?;
    }
    arguments::length("proposals", total, count, "row of `class_logits`")?;
    let (sizes, images) = (image_sizes.len(), proposals.len());
    arguments::length("image_sizes", sizes, images, "image of `proposals`")?;
    arguments::not_nan("score_threshold", config.score_threshold)?;
    arguments::not_nan("nms_threshold", config.nms_threshold)?;
    arguments::not_nan("min_size", config.min_size)?;
    arguments::weights("box_weights", &config.box_weights)
}
