//! [`Instances`]: what was detected in a picture.

use burn::tensor::{Tensor, TensorData};

use super::config::{KeypointScores, MaskHeadConfig, MaskPaste};
use super::pixel_centres::paste;
use crate::error::DetectionError;
use crate::{Detections, RunLengths, heatmaps_to_keypoints_async, host, paste_masks_as_run_lengths_async};

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
    /// The pixels of each instance whose probability is above the config's `mask_threshold`. Empty without a mask head.
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

    /// Instances without masks and keypoints, scaled from a resized picture to the original one.
    pub(super) async fn read(
        detections: &Detections,
        resized: [usize; 2],
        original: [usize; 2],
    ) -> Result<Self, DetectionError> {
        let boxes = host::read_boxes(&detections.boxes).await?;
        let scores = host::read_floats(&detections.scores).await?;
        let labels = host::read_ints(&detections.labels).await?;
        let scales = scales(resized, original);
        Ok(Self {
            size: original,
            boxes: boxes.into_iter().map(|corners| rescaled(corners, scales)).collect(),
            scores: scores.into_iter().map(|score| score as f32).collect(),
            labels: labels.into_iter().map(|label| label as usize).collect(),
            ..Self::default()
        })
    }

    /// Pastes masks `[D, 1, M, M]`, in probabilities, into the picture.
    pub(super) async fn paste(&mut self, masks: Tensor<4>, head: &MaskHeadConfig) -> Result<(), DetectionError> {
        let corners = self.boxes.as_flattened().to_vec();
        let boxes = TensorData::new(corners, [self.len(), 4]);
        let boxes = Tensor::from_data(boxes, (&masks.device(), masks.dtype()));
        self.masks = match head.paste {
            MaskPaste::Expanded => {
                let threshold = head.mask_threshold;
                paste_masks_as_run_lengths_async(masks.clone(), boxes, self.size, PADDING, threshold).await?
            }
            MaskPaste::PixelCentres => {
                let side = masks.dims()[3];
                let pixels = host::read_floats(&masks).await?;
                let masks = self.boxes.iter().zip(pixels.chunks(side * side));
                let paste = |(&corners, mask)| paste(mask, side, corners, self.size, head.mask_threshold);
                masks.map(paste).collect()
            }
        };
        self.class_masks = Some(masks);
        Ok(())
    }

    /// Finds keypoints in heatmaps `[D, keypoints, M, M]` of the boxes `[D, 4]` of a resized picture.
    pub(super) async fn find_keypoints(
        &mut self,
        heatmaps: Tensor<4>,
        boxes: Tensor<2>,
        resized: [usize; 2],
        scores: KeypointScores,
    ) -> Result<(), DetectionError> {
        let [_, points, height, width] = heatmaps.dims();
        let (keypoints, largest) = heatmaps_to_keypoints_async(heatmaps.clone(), boxes).await?;
        let places = host::read_floats(&keypoints).await?;
        let largest = host::read_floats(&largest).await?;
        let scores = match scores {
            KeypointScores::Logits => largest,
            KeypointScores::Probabilities => {
                let heatmaps = host::read_floats(&heatmaps).await?;
                let pairs = largest.into_iter().zip(heatmaps.chunks(height * width));
                pairs.map(|(largest, heatmap)| probability(largest, heatmap)).collect()
            }
        };
        let [width, height] = scales(resized, self.size);
        let keypoints = places
            .as_chunks::<3>()
            .0
            .iter()
            .zip(scores)
            .map(|(&[x, y, _], score)| Keypoint {
                x: x as f32 * width,
                y: y as f32 * height,
                score: score as f32,
            });
        let keypoints: Vec<Keypoint> = keypoints.collect();
        self.keypoints = keypoints.chunks(points).map(<[Keypoint]>::to_vec).collect();
        Ok(())
    }
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
