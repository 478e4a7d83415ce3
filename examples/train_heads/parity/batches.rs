//! The recorded batches.

use std::num::NonZeroUsize;
use std::str::FromStr;

use burn::tensor::{Tensor, TensorData};
use detection_head::Recording;
use image::{Rgb, RgbImage};

use crate::data::{Batch, Features, Frozen, Truth};
use crate::drawing::{Drawn, Picture};
use crate::error::Error;

pub struct Batches<'a> {
    recording: &'a Recording,
    batches: Vec<Pictures>,
    samples: usize,
}

/// The pictures of a batch.
struct Pictures {
    features: Vec<Features>,
    truth: Vec<Truth>,
    size: [usize; 2],
}

impl<'a> Batches<'a> {
    pub fn new(frozen: &Frozen, recording: &'a Recording) -> Result<Self, Error> {
        let batches: NonZeroUsize = setting(recording, "batches")?;
        let batches = (0..batches.get()).map(|batch| read(frozen, recording, batch));
        Ok(Self {
            recording,
            batches: batches.collect::<Result<_, _>>()?,
            samples: setting(recording, "samples")?,
        })
    }

    /// The batch of a step, with the samples that torchvision drew.
    pub fn of_step(&self, step: usize) -> Result<Batch, Error> {
        let pictures = &self.batches[step % self.batches.len()];
        // For the positive and for the negative candidates of each picture.
        let calls = 0..2 * pictures.truth.len();
        let orders = calls.map(|call| self.recording.tensor(&format!("permutation.{step}.{call}")));
        let mut orders = orders.collect::<Result<Vec<_>, _>>()?.into_iter();
        // An order of another length is refused where the samples are drawn.
        let recorded = &mut |_| match orders.next() {
            Some(order) => order.values.iter().map(|&place| place as usize).collect(),
            None => Vec::new(),
        };
        let Pictures { features, truth, size } = pictures;
        let (features, truth) = (features.clone(), truth.clone());
        Ok(Batch::new(features, truth, *size, self.samples, recorded)?)
    }
}

/// A setting that the recording was made with.
pub fn setting<T: FromStr>(recording: &Recording, name: &str) -> Result<T, Error> {
    recording
        .setting(name)
        .ok_or_else(|| recording.wrong(format!("it has no setting {name}")).into())
}

/// Reads the pictures of a batch, and computes their features. The proposals are the recorded ones.
fn read(frozen: &Frozen, recording: &Recording, batch: usize) -> Result<Pictures, Error> {
    let pixels = recording.tensor(&format!("pictures.{batch}"))?;
    let shown = recording.tensor(&format!("shapes.{batch}"))?;
    let shape = &pixels.shape;
    let &[count, height, width, 3] = &shape[..] else {
        return Err(recording.wrong(format!("pictures.{batch} is {shape:?}")).into());
    };
    if shown.shape != shape[..3] {
        return Err(recording.wrong(format!("shapes.{batch} is {:?}", shown.shape)).into());
    }
    let (mut features, mut truth) = (Vec::new(), Vec::new());
    for index in 0..count {
        let labels = &recording.tensor(&format!("labels.{batch}.{index}"))?.values;
        let area = height * width;
        let pixels = &pixels.values[3 * area * index..][..3 * area];
        let picture = Picture {
            pixels: image(pixels, width, height),
            shapes: shapes(&shown.values[area * index..][..area], labels),
        };
        let proposals = recording.boxes(&format!("proposals.{batch}.{index}"))?;
        let values = TensorData::new(proposals.as_flattened().to_vec(), [proposals.len(), 4]);
        features.push(Features {
            proposals: Tensor::from_data(values, frozen.device()),
            ..frozen.features(&picture.pixels)?
        });
        truth.push(Truth::of(&picture, frozen.device()));
    }
    Ok(Pictures {
        features,
        truth,
        size: [height, width],
    })
}

fn image(pixels: &[f32], width: usize, height: usize) -> RgbImage {
    RgbImage::from_fn(width as u32, height as u32, |x, y| {
        let place = 3 * (y as usize * width + x as usize);
        Rgb([0, 1, 2].map(|channel| pixels[place + channel] as u8))
    })
}

/// The shapes of a picture, whose pixels have the number of the shape that they show, from 1.
fn shapes(shown: &[f32], labels: &[f32]) -> Vec<Drawn> {
    let shapes = (1..).zip(labels).map(|(number, &label)| {
        let mask = shown.iter().map(|&shape| shape as usize == number);
        Drawn::new(label as usize, mask.collect())
    });
    shapes.collect()
}
