//! [`Instances`]: what was detected in a picture.

use std::ops::Range;

use burn::tensor::{FloatDType, Tensor};

use super::config::{KeypointScores, MaskHeadConfig, MaskPaste};
use super::image_list::ImageList;
use super::pixel_centres::paste;
use crate::arguments::option;
use crate::binary_masks::paste_rows_as_run_lengths;
use crate::error::DetectionError;
use crate::{Detections, RunLengths, heatmaps_to_keypoints_async, host};

/// The pixels of zeros that torchvision adds around a mask before it enlarges it.
const PADDING: usize = 1;

/// The D instances that were detected in a picture, by decreasing score. All coordinates are in pixels of the original
/// picture.
#[derive(Debug, Clone, Default)]
pub struct Instances {
    /// `[height, width]` of the picture.
    pub size: [usize; 2],
    /// `[x1, y1, x2, y2]` of each instance.
    pub boxes: Vec<[f32; 4]>,
    /// The probability of the class of each instance, from 0 to 1.
    pub scores: Vec<f32>,
    /// The class of each instance, an index into the config's `classes`.
    pub labels: Vec<usize>,
    /// The pixels of each instance whose probability is above the config's `mask_threshold`. Empty without a mask head,
    /// and if masks are not [`pasted`](super::MaskHeadConfig::pasted).
    pub masks: Vec<RunLengths>,
    /// `[D, 1, M, M]`: the mask of each instance within its box, as probabilities, on the device of the heads. `None`
    /// without a mask head or without instances.
    pub class_masks: Option<Tensor<4>>,
    /// The keypoints of each instance, in the order of the config's `keypoints`. Empty without a keypoint head.
    pub keypoints: Vec<Vec<Keypoint>>,
}

/// A keypoint of an instance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Keypoint {
    /// From the left, in pixels.
    pub x: f32,
    /// From the top, in pixels.
    pub y: f32,
    /// The value of the heatmap there: a logit, or a probability by the config's
    /// [`KeypointScores`](super::KeypointScores).
    pub score: f32,
}

impl Instances {
    /// The number of instances.
    pub fn len(&self) -> usize {
        self.boxes.len()
    }

    /// Whether nothing was detected.
    pub fn is_empty(&self) -> bool {
        self.boxes.is_empty()
    }
}

/// The instances of each image without masks and keypoints, scaled from the resized picture to the original one. The
/// device is read once.
pub(super) async fn read_instances(
    detections: &[Detections],
    images: &ImageList,
) -> Result<Vec<Instances>, DetectionError> {
    let found: Vec<_> = detections
        .iter()
        .filter(|of_image| !of_image.is_empty())
        .map(columns)
        .collect();
    let values = match found.is_empty() {
        true => Vec::new(),
        false => host::read_floats(&host::concatenate(&found)).await?,
    };
    let rows = host::consecutive(0, detections.iter().map(Detections::len));
    let instances = rows.into_iter().enumerate().map(|(image, rows)| {
        let (resized, original) = (images.image_sizes[image], images.original_sizes[image]);
        let scales = scales(resized, original);
        let mut instances = Instances {
            size: original,
            ..Instances::default()
        };
        for &[x1, y1, x2, y2, score, label] in &values.as_chunks::<COLUMNS>().0[rows] {
            instances.boxes.push(rescaled([x1, y1, x2, y2], scales));
            instances.scores.push(score as f32);
            instances.labels.push(label as usize);
        }
        instances
    });
    Ok(instances.collect())
}

const COLUMNS: usize = 6;

/// The box, score and label of each detection, as f32: an integer of at most 2^24 is one.
fn columns(detections: &Detections) -> Tensor<2> {
    let Detections { boxes, scores, labels } = detections.clone();
    let scores = scores.cast(FloatDType::F32).unsqueeze_dim(1);
    let labels = labels.cast(FloatDType::F32).unsqueeze_dim(1);
    Tensor::cat(vec![boxes.cast(FloatDType::F32), scores, labels], 1)
}

/// Gives each image its rows of the masks of all instances, `[D, 1, M, M]`.
pub(super) fn keep_class_masks(instances: &mut [Instances], masks: &Tensor<4>) {
    let rows = rows_of(instances);
    for (of_image, rows) in instances.iter_mut().zip(rows).filter(|(_, rows)| !rows.is_empty()) {
        of_image.class_masks = Some(masks.clone().slice_dim(0, rows));
    }
}

/// The masks of all instances, of which there is one at least: `[D, 1, M, M]`.
pub(super) fn all_class_masks(instances: &[Instances]) -> Result<Tensor<4>, DetectionError> {
    let found = instances.iter().filter(|of_image| !of_image.is_empty());
    let expected = "what this detector detected";
    let refused = || option("instances", "without a mask for each box", expected);
    let masks = found.map(|of_image| {
        let masks = of_image.class_masks.clone();
        masks
            .filter(|masks| masks.dims()[0] == of_image.len())
            .ok_or_else(refused)
    });
    let masks: Vec<Tensor<4>> = masks.collect::<Result<_, _>>()?;
    let of_one = |masks: &Tensor<4>| (masks.dims()[1..].to_vec(), masks.device());
    match masks.iter().all(|other| of_one(other) == of_one(&masks[0])) {
        true => Ok(Tensor::cat(masks, 0)),
        false => Err(refused()),
    }
}

/// Pastes the masks of all instances, `[D, 1, M, M]`, in probabilities, into their pictures. The device is read once.
pub(super) async fn paste_masks(
    instances: &mut [Instances],
    masks: Tensor<4>,
    head: &MaskHeadConfig,
) -> Result<(), DetectionError> {
    let rows = rows_of(instances);
    let corners: Vec<[f32; 4]> = instances.iter().flat_map(|of_image| of_image.boxes.clone()).collect();
    let sizes: Vec<_> = instances
        .iter()
        .flat_map(|of_image| vec![of_image.size; of_image.len()])
        .collect();
    let threshold = head.mask_threshold;
    let pasted = match head.paste {
        MaskPaste::Expanded => paste_rows_as_run_lengths(masks, &corners, sizes, PADDING, threshold).await?,
        MaskPaste::PixelCentres => {
            let side = masks.dims()[3];
            let pixels = host::read_floats(&masks).await?;
            let of_rows = corners.iter().zip(sizes).zip(pixels.chunks(side * side));
            let paste = |((&corners, size), mask)| paste(mask, side, corners, size, threshold);
            of_rows.map(paste).collect()
        }
    };
    for (of_image, rows) in instances.iter_mut().zip(rows) {
        of_image.masks = pasted[rows].to_vec();
    }
    Ok(())
}

/// Finds the keypoints of all instances in heatmaps `[D, keypoints, M, M]` of the boxes `[D, 4]` of resized pictures,
/// which have these sizes.
pub(super) async fn find_keypoints(
    instances: &mut [Instances],
    heatmaps: Tensor<4>,
    boxes: Tensor<2>,
    resized: &[[usize; 2]],
    scores: KeypointScores,
) -> Result<(), DetectionError> {
    let [_, points, height, width] = heatmaps.dims();
    let (keypoints, largest) = heatmaps_to_keypoints_async(heatmaps.clone(), boxes).await?;
    let places = host::read_floats(&keypoints).await?;
    let mut scores_of_points = host::read_floats(&largest).await?;
    if scores == KeypointScores::Probabilities {
        let heatmaps = host::read_floats(&heatmaps).await?;
        for (score, heatmap) in scores_of_points.iter_mut().zip(heatmaps.chunks(height * width)) {
            *score = probability(*score, heatmap);
        }
    }
    for (image, rows) in rows_of(instances).into_iter().enumerate() {
        let [width, height] = scales(resized[image], instances[image].size);
        let of_image = rows.start * points..rows.end * points;
        let places = places.as_chunks::<3>().0[of_image.clone()]
            .iter()
            .zip(&scores_of_points[of_image]);
        let keypoints: Vec<Keypoint> = places
            .map(|(&[x, y, _], &score)| Keypoint {
                x: x as f32 * width,
                y: y as f32 * height,
                score: score as f32,
            })
            .collect();
        instances[image].keypoints = keypoints.chunks(points).map(<[Keypoint]>::to_vec).collect();
    }
    Ok(())
}

/// The rows of each image's instances.
fn rows_of(instances: &[Instances]) -> Vec<Range<usize>> {
    host::consecutive(0, instances.iter().map(Instances::len))
}

/// The probability of the value of a resized heatmap, over the heatmap before it was resized.
fn probability(value: f64, heatmap: &[f64]) -> f64 {
    1.0 / heatmap.iter().map(|other| (other - value).exp()).sum::<f64>()
}

/// From a picture of one size to a picture of another: the factors of x and y.
fn scales(from: [usize; 2], to: [usize; 2]) -> [f32; 2] {
    [1, 0].map(|axis| to[axis] as f32 / from[axis] as f32)
}

fn rescaled(corners: [f64; 4], [width, height]: [f32; 2]) -> [f32; 4] {
    let [x1, y1, x2, y2] = corners.map(|coordinate| coordinate as f32);
    [x1 * width, y1 * height, x2 * width, y2 * height]
}
