//! [`TrainingBatch`]: samples as a detector's input and its targets.

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burn_roi::internal::{check_memory, or_panic};

use super::sample::{Object, Sample};
use crate::RunLengths;
use crate::arguments;
use crate::error::DetectionError;
use crate::models::{DetectorConfig, ImageList, Picture};

/// Samples as a detector's input and its targets. None of its tensors has a gradient.
#[derive(Debug, Clone)]
pub struct TrainingBatch {
    /// The pictures.
    pub images: ImageList,
    /// The objects of each picture.
    pub truth: Vec<GroundTruth>,
}

/// The G objects of a picture, in pixels of the resized picture.
#[derive(Debug, Clone)]
pub struct GroundTruth {
    /// `[G, 4]`, each `[x1, y1, x2, y2]`.
    pub boxes: Tensor<2>,
    /// `[G]`: the class of each object, from 1. The background counts as class 0, wherever the detector has it.
    pub labels: Tensor<1, Int>,
    /// `[G, H, W]`: 1 inside of each object and 0 outside, if the detector has a mask head.
    pub masks: Option<Tensor<3>>,
    /// `[G, P, 3]`, each `[x, y, visibility]`, if the detector has a keypoint head.
    pub keypoints: Option<Tensor<3>>,
}

impl TrainingBatch {
    /// Resizes samples and their objects as the detector of this config does.
    ///
    /// - `device`: the device of the tensors, with or without autodiff.
    ///
    /// # Panics
    ///
    /// If [`try_new`](Self::try_new) returns an error, with its text.
    pub fn new(samples: &[Sample], config: &DetectorConfig, device: &Device) -> Self {
        or_panic(Self::try_new(samples, config, device))
    }

    /// Fallible form of [`new`](Self::new).
    ///
    /// # Errors
    ///
    /// - `RoiError::NoImages`: there is no sample.
    /// - `RoiError::Option`: a picture has a side of 0.
    /// - `RoiError::Memory`: the pictures or the masks do not fit into memory.
    /// - [`DetectionError::Length`]: a picture does not have three bytes for each pixel.
    /// - [`DetectionError::Target`]: a label is 0 or not below the number of classes, an object has no mask although
    ///   the config has a mask head, or another number of keypoints than the keypoint head.
    pub fn try_new(samples: &[Sample], config: &DetectorConfig, device: &Device) -> Result<Self, DetectionError> {
        if samples.is_empty() {
            return Err(burn_roi::RoiError::NoImages { argument: "samples" }.into());
        }
        let device = device.clone().inner();
        let pictures = samples
            .iter()
            .map(|sample| Picture::try_from_rgb(sample.size, &sample.pixels));
        let pictures = pictures.collect::<Result<Vec<_>, _>>()?;
        // Bytes are on the host, so that nothing is awaited.
        let images = ImageList::prepare(&pictures, &config.preprocessing, &device);
        let images = burn::tensor::read_sync(images)?;
        let truth = samples.iter().enumerate().map(|(image, sample)| {
            check(image, sample, config)?;
            GroundTruth::of(sample, images.image_sizes[image], config, &device)
        });
        let truth = truth.collect::<Result<_, DetectionError>>()?;
        Ok(Self { images, truth })
    }
}

impl GroundTruth {
    fn of(
        sample: &Sample,
        resized: [usize; 2],
        config: &DetectorConfig,
        device: &Device,
    ) -> Result<Self, DetectionError> {
        let objects = &sample.objects;
        let count = objects.len();
        let [height, width] = [0, 1].map(|axis| resized[axis] as f32 / sample.size[axis] as f32);
        let scaled = |[x1, y1, x2, y2]: [f32; 4]| [x1 * width, y1 * height, x2 * width, y2 * height];
        let boxes: Vec<f32> = objects.iter().flat_map(|object| scaled(object.corners)).collect();
        let labels: Vec<i64> = objects.iter().map(|object| object.label as i64).collect();
        if config.mask_head.is_some() {
            check_memory("masks", &[count, resized[0], resized[1]], DType::F32, device)?;
        }
        let masks = config.mask_head.as_ref().map(|_| {
            let masks = objects
                .iter()
                .flat_map(|object| resized_mask(object, sample.size, resized));
            let shape = [count, resized[0], resized[1]];
            Tensor::from_data(TensorData::new(masks.collect::<Vec<f32>>(), shape), device)
        });
        let keypoints = config.keypoint_head.as_ref().map(|head| {
            let keypoints = objects.iter().flat_map(|object| &object.keypoints);
            let keypoints = keypoints.flat_map(|&[x, y, visibility]| [x * width, y * height, visibility]);
            let shape = [count, head.keypoints.len(), 3];
            Tensor::from_data(TensorData::new(keypoints.collect::<Vec<f32>>(), shape), device)
        });
        Ok(Self {
            boxes: Tensor::from_data(TensorData::new(boxes, [count, 4]), device),
            labels: Tensor::from_data(TensorData::new(labels, [count]), device),
            masks,
            keypoints,
        })
    }
}

/// The pixels of a mask, resized to the nearest pixel as in torch.
fn resized_mask(object: &Object, [height, width]: [usize; 2], resized: [usize; 2]) -> impl Iterator<Item = f32> {
    let nearest = |input: usize, output: usize| {
        let scale = input as f32 / output as f32;
        (0..output).map(move |index| ((index as f32 * scale) as usize).min(input - 1))
    };
    let columns: Vec<usize> = nearest(width, resized[1]).collect();
    let rows: Vec<usize> = nearest(height, resized[0]).collect();
    // `check` saw that there is a mask.
    let mask = object.mask.as_ref().map(|mask| mask.at(&rows, &columns));
    mask.into_iter().flatten().map(|is_set| f32::from(u8::from(is_set)))
}

/// Checks that the objects of a sample have what the heads learn.
fn check(image: usize, sample: &Sample, config: &DetectorConfig) -> Result<(), DetectionError> {
    let classes = config.classes.len();
    for (row, object) in sample.objects.iter().enumerate() {
        let wrong = |argument, value, expected: String| Err(arguments::target(argument, image, row, value, expected));
        if !(1..classes).contains(&object.label) {
            let expected = format!("above 0, which is the background, and below the {classes} classes");
            return wrong("objects[_].label", object.label.to_string(), expected);
        }
        let size = object.mask.as_ref().map(RunLengths::size);
        if config.mask_head.is_some() && size != Some(sample.size) {
            let value = size.map_or_else(|| "None".to_string(), |size| format!("of size {size:?}"));
            let expected = format!("of size {:?} as the picture, since there is a mask head", sample.size);
            return wrong("objects[_].mask", value, expected);
        }
        let points = config.keypoint_head.as_ref().map(|head| head.keypoints.len());
        if let Some(points) = points.filter(|&points| points != object.keypoints.len()) {
            let expected = format!("of the {points} keypoints of the keypoint head");
            let value = format!("of {}", object.keypoints.len());
            return wrong("objects[_].keypoints", value, expected);
        }
    }
    arguments::check("classes", !config.classes.is_empty(), "empty", "not empty")
}
