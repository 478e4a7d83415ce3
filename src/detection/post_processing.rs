//! What the box head's numbers mean: detections, and the mask of each one's class.

use std::ops::Range;

use burn::config::Config;
use burn::tensor::{Int, Tensor, activation};

use super::box_coder::BoxCoder;
use super::boxes::clip_boxes_to_image;
use super::nms::suppress_by_class;
use super::{arguments, host};
use crate::error::{RoiError, or_panic};

/// Options of [`postprocess_detections`]; the defaults are those of torchvision's detectors.
#[derive(Config, Debug, PartialEq)]
pub struct DetectionConfig {
    /// Detections have a higher score.
    #[config(default = 0.05)]
    pub score_threshold: f64,
    /// A detection overlaps none of its class that has a higher score by more.
    #[config(default = 0.5)]
    pub nms_threshold: f64,
    /// How many detections an image has at most.
    #[config(default = 100)]
    pub detections_per_image: usize,
    /// How long the sides of a detection are at least, in pixels.
    #[config(default = 0.01)]
    pub min_size: f64,
    /// The weights of the codes, as [`BoxCoder`] has them.
    #[config(default = "[10.0, 10.0, 5.0, 5.0]")]
    pub box_weights: [f64; 4],
}

/// The D objects that were found in an image, by decreasing score.
#[derive(Debug, Clone)]
pub struct Detections {
    /// `[D, 4]`: `[x1, y1, x2, y2]` in pixels, within the image.
    pub boxes: Tensor<2>,
    /// `[D]`: how sure the detector is, 0 to 1.
    pub scores: Tensor<1>,
    /// `[D]`: the class, from 1, since 0 is the background.
    pub labels: Tensor<1, Int>,
}

impl Detections {
    /// The number of detections.
    pub fn len(&self) -> usize {
        self.boxes.dims()[0]
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Turns what a box head gives for K proposals into detections, image by image; torchvision's
/// `RoIHeads.postprocess_detections`.
///
/// Every class but the background, class 0, of every proposal is a candidate: its score is the softmax of the
/// logits, its box the proposal with the class's code applied, clipped to the image. Candidates with a score
/// above the threshold and long enough sides are suppressed within their class, and the best are kept.
///
/// - `class_logits`: `[K, classes]`. `box_regression`: `[K, 4 * classes]`.
/// - `proposals`: `[Kᵢ, 4]` for each image, `[x1, y1, x2, y2]` in pixels; together K.
/// - `image_sizes`: height and width of each image, in pixels, without padding.
/// - Returns one [`Detections`] an image, empty where nothing was found: boxes in the dtype of
///   `box_regression`, scores in that of `class_logits`, labels in the device's integer dtype.
///
/// Reads back all scores at once, then the boxes of each image's candidates. A score or a box that is NaN is no
/// detection. Classes are decided one by one; [`batched_nms`](super::batched_nms) says where torchvision's
/// can differ.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi::detection::{DetectionConfig, postprocess_detections};
///
/// let device = Device::default();
/// // One proposal, two classes besides the background: the second is likely, and its code changes nothing.
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
///
/// # Panics
///
/// Where [`try_postprocess_detections`] gives an error, with its text.
pub fn postprocess_detections(
    class_logits: Tensor<2>,
    box_regression: Tensor<2>,
    proposals: Vec<Tensor<2>>,
    image_sizes: &[[usize; 2]],
    config: &DetectionConfig,
) -> Vec<Detections> {
    or_panic(try_postprocess_detections(
        class_logits,
        box_regression,
        proposals,
        image_sizes,
        config,
    ))
}

/// [`postprocess_detections`] for arguments that may be wrong.
///
/// # Errors
///
/// - [`RoiError::Shape`], [`RoiError::Length`], [`RoiError::DType`], [`RoiError::Device`]: the tensors do not
///   match each other, or there are not as many image sizes as images.
/// - [`RoiError::Option`]: a threshold or the smallest size is NaN, or a weight is 0 or not finite.
pub fn try_postprocess_detections(
    class_logits: Tensor<2>,
    box_regression: Tensor<2>,
    proposals: Vec<Tensor<2>>,
    image_sizes: &[[usize; 2]],
    config: &DetectionConfig,
) -> Result<Vec<Detections>, RoiError> {
    check(&class_logits, &box_regression, &proposals, image_sizes, config)?;
    let ranges = ranges(&proposals);
    let candidates = Candidates::decode(class_logits, box_regression, proposals, config)?;
    Ok(ranges
        .into_iter()
        .zip(image_sizes)
        .map(|(rows, &image_size)| candidates.detections(rows, image_size, config))
        .collect())
}

/// Every class of every proposal, K * C, row by row.
struct Candidates {
    /// `[K * C, 4]`, not clipped.
    boxes: Tensor<2>,
    /// `[K * C]`.
    scores: Tensor<1>,
    /// The scores, on the host.
    host_scores: Vec<f64>,
    /// C.
    classes: usize,
}

impl Candidates {
    fn decode(
        class_logits: Tensor<2>,
        box_regression: Tensor<2>,
        proposals: Vec<Tensor<2>>,
        config: &DetectionConfig,
    ) -> Result<Self, RoiError> {
        let [count, classes] = class_logits.dims();
        let options = (&class_logits.device(), class_logits.dtype());
        if count * classes == 0 {
            return Ok(Self {
                boxes: Tensor::zeros([0, 4], (options.0, box_regression.dtype())),
                scores: Tensor::zeros([0], options),
                host_scores: Vec::new(),
                classes,
            });
        }
        let filled = proposals.into_iter().filter(|boxes| boxes.dims()[0] > 0);
        let proposals = Tensor::cat(filled.collect(), 0);
        let boxes = BoxCoder::new(config.box_weights).try_decode(box_regression, proposals)?;
        let scores = activation::softmax(class_logits, 1).reshape([count * classes]);
        Ok(Self {
            boxes: boxes.reshape([count * classes, 4]),
            host_scores: host::read_floats(&scores),
            scores,
            classes,
        })
    }

    /// The detections of the image whose proposals are `rows`.
    fn detections(&self, rows: Range<usize>, image_size: [usize; 2], config: &DetectionConfig) -> Detections {
        let likely = self.above(rows, config.score_threshold);
        let boxes = clip_boxes_to_image(host::select_rows(&self.boxes, &likely), image_size);
        let host_boxes = host::read_boxes(&boxes);

        let dtype = boxes.dtype();
        let large: Vec<usize> = (0..likely.len())
            .filter(|&index| host::is_large(&host_boxes[index], config.min_size, dtype))
            .collect();
        let large_boxes: Vec<_> = large.iter().map(|&index| host_boxes[index]).collect();
        let scores: Vec<_> = large.iter().map(|&index| self.host_scores[likely[index]]).collect();
        let labels: Vec<_> = large.iter().map(|&index| self.label(likely[index])).collect();

        let mut kept = suppress_by_class(&large_boxes, &scores, &labels, config.nms_threshold);
        kept.truncate(config.detections_per_image);
        let of_boxes: Vec<_> = kept.iter().map(|&index| large[index]).collect();
        let of_scores: Vec<_> = of_boxes.iter().map(|&index| likely[index]).collect();
        let labels = kept.iter().map(|&index| labels[index]).collect();
        Detections {
            scores: host::select_rows(&self.scores, &of_scores),
            labels: host::ints(labels, &boxes.device()),
            boxes: host::select_rows(&boxes, &of_boxes),
        }
    }

    /// The candidates of proposals that are not background and have a score above a threshold.
    fn above(&self, rows: Range<usize>, threshold: f64) -> Vec<usize> {
        let threshold = host::rounded(threshold, self.scores.dtype());
        (rows.start * self.classes..rows.end * self.classes)
            .filter(|&candidate| self.label(candidate) != 0)
            .filter(|&candidate| self.host_scores[candidate] > threshold)
            .collect()
    }

    fn label(&self, candidate: usize) -> i64 {
        (candidate % self.classes) as i64
    }
}

/// The rows of each image's proposals.
fn ranges(proposals: &[Tensor<2>]) -> Vec<Range<usize>> {
    let mut end = 0;
    proposals
        .iter()
        .map(|boxes| {
            let start = end;
            end += boxes.dims()[0];
            start..end
        })
        .collect()
}

fn check(
    class_logits: &Tensor<2>,
    box_regression: &Tensor<2>,
    proposals: &[Tensor<2>],
    image_sizes: &[[usize; 2]],
    config: &DetectionConfig,
) -> Result<(), RoiError> {
    let [count, classes] = class_logits.dims();
    let device = class_logits.device();
    let [rows, columns] = box_regression.dims();
    arguments::length("box_regression", rows, count, "row of `class_logits`")?;
    if columns != 4 * classes {
        return Err(RoiError::Shape {
            argument: "box_regression",
            shape: vec![rows, columns],
            expected: "[K, 4 * classes], where `class_logits` is [K, classes]",
        });
    }
    let of = "class_logits";
    arguments::device("box_regression", &box_regression.device(), of, &device)?;

    let mut total = 0;
    for boxes in proposals {
        total += arguments::boxes("proposals", boxes)?;
        arguments::device("proposals", &boxes.device(), of, &device)?;
        if boxes.dtype() != proposals[0].dtype() {
            return Err(RoiError::DType {
                argument: "proposals",
                dtype: boxes.dtype(),
                expected: format!("{:?}, as those of the first image are", proposals[0].dtype()),
            });
        }
    }
    arguments::length("proposals", total, count, "row of `class_logits`")?;
    arguments::length(
        "image_sizes",
        image_sizes.len(),
        proposals.len(),
        "image of `proposals`",
    )?;
    arguments::threshold("score_threshold", config.score_threshold)?;
    arguments::threshold("nms_threshold", config.nms_threshold)?;
    arguments::threshold("min_size", config.min_size)?;
    arguments::weights("box_weights", &config.box_weights)
}
