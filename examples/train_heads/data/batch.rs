//! A batch: features of several pictures, and the samples of their proposals.

use burn::tensor::{Device, Int, Tensor, TensorData};
use burn_roi_detection::{DetectionError, TrainingSamples, TrainingSamplesConfig, try_select_training_samples};

use super::frozen::Features;
use crate::drawing::Picture;

/// What a training step takes. Nothing in it has a gradient.
pub struct Batch {
    /// `[pictures, channels, height, width]` for each level of the feature pyramid.
    pub levels: Vec<Tensor<4>>,
    /// Height and width of the pictures.
    pub size: [usize; 2],
    pub samples: TrainingSamples,
    pub truth: Vec<Truth>,
}

/// The ground truth of a picture with G shapes.
#[derive(Clone)]
pub struct Truth {
    /// `[G, 4]`.
    pub boxes: Tensor<2>,
    /// `[G]`.
    pub labels: Tensor<1, Int>,
    /// `[G, height, width]`: 1 where a shape is visible.
    pub masks: Tensor<3>,
}

impl Truth {
    pub fn of(picture: &Picture, device: &Device) -> Self {
        let (width, height) = picture.pixels.dimensions();
        let [width, height] = [width, height].map(|side| side as usize);
        let count = picture.shapes.len();
        let boxes = picture.shapes.iter().flat_map(|shape| shape.corners(width));
        let labels = picture.shapes.iter().map(|shape| shape.class as i64);
        let masks = picture.shapes.iter().flat_map(|shape| &shape.mask);
        let masks = masks.map(|&shown| if shown { 1.0f32 } else { 0.0 });
        Self {
            boxes: Tensor::from_data(TensorData::new(boxes.collect::<Vec<_>>(), [count, 4]), device),
            labels: Tensor::from_data(TensorData::new(labels.collect::<Vec<_>>(), [count]), device),
            masks: Tensor::from_data(
                TensorData::new(masks.collect::<Vec<_>>(), [count, height, width]),
                device,
            ),
        }
    }
}

impl Batch {
    /// Draws `samples` samples at most of each picture. All pictures are of one size; `permutation` is the random
    /// choice.
    pub fn new(
        features: Vec<Features>,
        truth: Vec<Truth>,
        size: [usize; 2],
        samples: usize,
        permutation: &mut impl FnMut(usize) -> Vec<usize>,
    ) -> Result<Self, DetectionError> {
        let proposals: Vec<_> = features.iter().map(|features| features.proposals.clone()).collect();
        let boxes: Vec<_> = truth.iter().map(|truth| truth.boxes.clone()).collect();
        let labels: Vec<_> = truth.iter().map(|truth| truth.labels.clone()).collect();
        let config = TrainingSamplesConfig::new().with_batch_size_per_image(samples);
        Ok(Self {
            samples: try_select_training_samples(&proposals, &boxes, &labels, &config, permutation)?,
            levels: stacked(&features),
            size,
            truth,
        })
    }
}

/// The levels of all pictures.
fn stacked(features: &[Features]) -> Vec<Tensor<4>> {
    let levels = features.first().map_or(0, |features| features.levels.len());
    let of_all = |level: usize| features.iter().map(|features| features.levels[level].clone()).collect();
    (0..levels).map(|level| Tensor::cat(of_all(level), 0)).collect()
}
