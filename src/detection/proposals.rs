//! The best of what a region proposal network proposes.

use std::ops::Range;

use burn::config::Config;
use burn::tensor::{Tensor, activation};

use super::boxes::clip_boxes_to_image;
use super::nms::suppress_by_class;
use super::{arguments, host};
use crate::error::{RoiError, or_panic};

/// Options of [`filter_proposals`]; the defaults are those of torchvision's detectors at inference.
#[derive(Config, Debug, PartialEq)]
pub struct ProposalConfig {
    /// How many proposals of each level are considered at most.
    #[config(default = 1000)]
    pub pre_nms_top_n: usize,
    /// How many proposals an image has at most.
    #[config(default = 1000)]
    pub post_nms_top_n: usize,
    /// A proposal overlaps none of its level that has a higher score by more.
    #[config(default = 0.7)]
    pub nms_threshold: f64,
    /// Proposals have at least this score.
    #[config(default = 0.0)]
    pub score_threshold: f64,
    /// How long the sides of a proposal are at least, in pixels.
    #[config(default = 1e-3)]
    pub min_size: f64,
}

/// Chooses the proposals that a detector looks at, image by image; torchvision's
/// `RegionProposalNetwork.filter_proposals`.
///
/// The anchors with the highest objectness of each level are clipped to the image; those with long enough
/// sides and a high enough score, the sigmoid of the objectness, are suppressed within their level, and the
/// best are kept.
///
/// - `proposals`: `[N, A, 4]`: for each of N images the boxes that all its A anchors were decoded to, level
///   after level, `[x1, y1, x2, y2]` in pixels.
/// - `objectness`: `[N, A]`, logits.
/// - `image_sizes`: height and width of each image, in pixels, without padding.
/// - `anchors_per_level`: how many of the A anchors each level has.
/// - Returns for each image its boxes `[P, 4]` and their scores `[P]`, by decreasing score, in the dtypes of
///   the arguments.
///
/// Reads back the objectness of all anchors at once, then the boxes and scores of each image that it considers.
/// Of anchors with one objectness the first are considered, where torchvision leaves open which; an
/// objectness or a box that is NaN is never proposed.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi::detection::{ProposalConfig, filter_proposals};
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
///
/// # Panics
///
/// Where [`try_filter_proposals`] gives an error, with its text.
pub fn filter_proposals(
    proposals: Tensor<3>,
    objectness: Tensor<2>,
    image_sizes: &[[usize; 2]],
    anchors_per_level: &[usize],
    config: &ProposalConfig,
) -> (Vec<Tensor<2>>, Vec<Tensor<1>>) {
    or_panic(try_filter_proposals(
        proposals,
        objectness,
        image_sizes,
        anchors_per_level,
        config,
    ))
}

/// [`filter_proposals`] for arguments that may be wrong.
///
/// # Errors
///
/// - [`RoiError::Shape`], [`RoiError::Length`], [`RoiError::Device`]: `objectness` does not match
///   `proposals`, there are not as many image sizes as images, or the levels do not have A anchors together.
/// - [`RoiError::Option`]: a threshold or the smallest size is NaN.
pub fn try_filter_proposals(
    proposals: Tensor<3>,
    objectness: Tensor<2>,
    image_sizes: &[[usize; 2]],
    anchors_per_level: &[usize],
    config: &ProposalConfig,
) -> Result<(Vec<Tensor<2>>, Vec<Tensor<1>>), RoiError> {
    check(&proposals, &objectness, image_sizes, anchors_per_level, config)?;
    let [images, anchors, _] = proposals.dims();
    let all = Anchors {
        host_objectness: host::read_floats(&objectness),
        boxes: flat(proposals, [images * anchors, 4]),
        objectness: flat(objectness, [images * anchors]),
    };
    Ok(image_sizes
        .iter()
        .enumerate()
        .map(|(image, &image_size)| {
            let levels = levels(image * anchors, anchors_per_level);
            all.of_image(&levels, image_size, config)
        })
        .unzip())
}

/// The anchors of all images, as the network has moved and scored them.
struct Anchors {
    boxes: Tensor<2>,
    objectness: Tensor<1>,
    host_objectness: Vec<f64>,
}

impl Anchors {
    /// The boxes and scores that are kept of an image, whose levels have the anchors in `levels`.
    fn of_image(
        &self,
        levels: &[Range<usize>],
        image_size: [usize; 2],
        config: &ProposalConfig,
    ) -> (Tensor<2>, Tensor<1>) {
        let (considered, levels) = self.best_of_levels(levels, config.pre_nms_top_n);
        let boxes = clip_boxes_to_image(host::select_rows(&self.boxes, &considered), image_size);
        let objectness = host::select_rows(&self.objectness, &considered);
        let scores = match considered.len() {
            0 => objectness,
            _ => activation::sigmoid(objectness),
        };

        let (host_boxes, host_scores) = (host::read_boxes(&boxes), host::read_floats(&scores));
        let threshold = host::rounded(config.score_threshold, scores.dtype());
        let likely: Vec<usize> = (0..considered.len())
            .filter(|&index| host::is_large(&host_boxes[index], config.min_size, boxes.dtype()))
            .filter(|&index| host_scores[index] >= threshold)
            .collect();
        let likely_boxes: Vec<_> = likely.iter().map(|&index| host_boxes[index]).collect();
        let likely_scores: Vec<_> = likely.iter().map(|&index| host_scores[index]).collect();
        let likely_levels: Vec<_> = likely.iter().map(|&index| levels[index]).collect();

        let mut kept = suppress_by_class(&likely_boxes, &likely_scores, &likely_levels, config.nms_threshold);
        kept.truncate(config.post_nms_top_n);
        let kept: Vec<_> = kept.into_iter().map(|index| likely[index]).collect();
        (host::select_rows(&boxes, &kept), host::select_rows(&scores, &kept))
    }

    /// The best anchors of each level, level after level, and the level of each.
    fn best_of_levels(&self, levels: &[Range<usize>], count: usize) -> (Vec<usize>, Vec<i64>) {
        let mut best = Vec::new();
        let mut level_of = Vec::new();
        for (level, anchors) in levels.iter().enumerate() {
            best.extend(largest(&self.host_objectness, anchors.clone(), count));
            level_of.resize(best.len(), level as i64);
        }
        (best, level_of)
    }
}

/// The indices in a range of the `count` largest values, by decreasing value; of equal values the first come
/// first, and NaN is none of them.
fn largest(values: &[f64], range: Range<usize>, count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = range.filter(|&index| !values[index].is_nan()).collect();
    let decreasing = |left: &usize, right: &usize| {
        values[*right]
            .partial_cmp(&values[*left])
            .expect("values that are NaN are not sorted")
            .then(left.cmp(right))
    };
    if count < order.len() {
        order.select_nth_unstable_by(count, decreasing);
        order.truncate(count);
    }
    order.sort_unstable_by(decreasing);
    order
}

/// Where each level's anchors are, of an image whose anchors begin at `start`.
fn levels(mut start: usize, anchors_per_level: &[usize]) -> Vec<Range<usize>> {
    anchors_per_level
        .iter()
        .map(|&count| {
            let range = start..start + count;
            start = range.end;
            range
        })
        .collect()
}

/// A tensor with its first two dimensions as one.
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
) -> Result<(), RoiError> {
    let [images, anchors, columns] = proposals.dims();
    if columns != 4 {
        return Err(RoiError::Shape {
            argument: "proposals",
            shape: vec![images, anchors, columns],
            expected: "[N, A, 4]",
        });
    }
    if objectness.dims() != [images, anchors] {
        return Err(RoiError::Shape {
            argument: "objectness",
            shape: objectness.dims().to_vec(),
            expected: "[N, A], where `proposals` is [N, A, 4]",
        });
    }
    arguments::device("objectness", &objectness.device(), "proposals", &proposals.device())?;
    arguments::length("image_sizes", image_sizes.len(), images, "image of `proposals`")?;
    let total = anchors_per_level
        .iter()
        .fold(0, |total: usize, &count| total.saturating_add(count));
    if total != anchors {
        return Err(RoiError::Option {
            argument: "anchors_per_level",
            value: format!("{anchors_per_level:?}"),
            expected: "as many together as `proposals` [N, A, 4] has anchors A",
        });
    }
    arguments::threshold("nms_threshold", config.nms_threshold)?;
    arguments::threshold("score_threshold", config.score_threshold)?;
    arguments::threshold("min_size", config.min_size)
}
