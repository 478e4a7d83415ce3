//! Pooling of regions for a head.

use burn::tensor::Tensor;
use burn_roi::{RoiAlignConfig, Rois, torchvision, try_infer_scales, try_multi_scale_pool};

use super::config::DetectorConfig;
use crate::arguments::option;
use crate::error::DetectionError;
use burn_roi::internal::or_panic;

/// A head on pooled regions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Head {
    /// The box head.
    Box,
    /// The mask head.
    Mask,
    /// The keypoint head.
    Keypoint,
}

/// Pools regions for a head, each from the level of its size: torchvision's `MultiScaleRoIAlign`.
///
/// - `levels`: what [`Detector::feature_pyramid`](super::Detector::feature_pyramid) returns. The coarsest level of a
///   feature pyramid is not used. The scales are 1 divided by `anchor_strides`; without strides they follow from sizes
///   as in torchvision.
/// - `boxes`: for each image `[Kᵢ, 4]`, each `[x1, y1, x2, y2]` in pixels of the resized picture.
/// - `image_sizes`: `[height, width]` of each resized picture, without padding.
/// - Returns `[K, channels, P, P]`, where P is the `pooled_size` of the head.
///
/// # Panics
///
/// If [`try_pool_regions`] returns an error, with its text.
pub fn pool_regions(
    levels: &[Tensor<4>],
    boxes: Vec<Tensor<2>>,
    image_sizes: &[[usize; 2]],
    config: &DetectorConfig,
    head: Head,
) -> Tensor<4> {
    or_panic(try_pool_regions(levels, boxes, image_sizes, config, head))
}

/// Fallible form of [`pool_regions`].
///
/// # Errors
///
/// - `RoiError::Option`: the config has no such head.
/// - All errors of [`try_multi_scale_roi_align`](burn_roi::try_multi_scale_roi_align) and [`try_infer_scales`].
pub fn try_pool_regions(
    levels: &[Tensor<4>],
    boxes: Vec<Tensor<2>>,
    image_sizes: &[[usize; 2]],
    config: &DetectorConfig,
    head: Head,
) -> Result<Tensor<4>, DetectionError> {
    let (masks, keypoints) = (config.mask_head.as_ref(), config.keypoint_head.as_ref());
    let pooling = match (head, &config.box_head) {
        (Head::Box, head) => Some((head.pooled_size, head.sampling_ratio, head.aligned)),
        (Head::Mask, _) => masks.map(|head| (head.pooled_size, head.sampling_ratio, head.aligned)),
        (Head::Keypoint, _) => keypoints.map(|head| (head.pooled_size, head.sampling_ratio, head.aligned)),
    };
    let Some((pooled_size, sampling_ratio, aligned)) = pooling else {
        return Err(option("head", format!("{head:?}"), "a head that the config has"));
    };
    let used = match config.feature_pyramid {
        Some(_) => &levels[..levels.len().saturating_sub(1)],
        None => levels,
    };
    let scales = match &config.region_proposals.anchor_strides {
        Some(strides) => strides
            .iter()
            .take(used.len())
            .map(|&stride| 1.0 / stride as f64)
            .collect(),
        None => {
            let map_sizes: Vec<[usize; 2]> = used.iter().map(size_of).collect();
            distinct(try_infer_scales(&map_sizes, image_sizes)?)
        }
    };
    let roi_align = torchvision::RoiAlign::new([pooled_size; 2])
        .with_sampling_ratio(sampling_ratio as i64)
        .with_aligned(aligned);
    let rois = Rois::try_from_images(boxes)?;
    let used = used[..scales.len()].to_vec();
    Ok(try_multi_scale_pool(
        used,
        &rois,
        &scales,
        RoiAlignConfig::from(roi_align),
        config.pooling_levels.clone(),
    )?)
}

/// The scales of the maps that regions are pooled from. In torchvision the first and the last scale decide how many
/// maps there are. The two maps of a MobileNetV3 have one scale, so that the second map is never used.
fn distinct(mut scales: Vec<f64>) -> Vec<f64> {
    if let [first, .., last] = scales[..] {
        let levels = (first / last).log2().round();
        scales.truncate(levels.max(0.0) as usize + 1);
    }
    scales
}

/// `[height, width]` of a map.
pub(super) fn size_of(map: &Tensor<4>) -> [usize; 2] {
    let [_, _, height, width] = map.dims();
    [height, width]
}
