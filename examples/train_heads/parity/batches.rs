//! The recorded batches.

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
        let batches = setting(recording, "batches")?;
        Ok(Self {
            recording,
            batches: (0..batches)
                .map(|batch| read(frozen, recording, batch))
                .collect::<Result<_, _>>()?,
            samples: setting(recording, "samples")?,
        })
    }

    /// The batch of a step, with the samples that torchvision drew.
    pub fn of_step(&self, step: usize) -> Result<Batch, Error> {
        let pictures = &self.batches[step % self.batches.len()];
        let mut orders = Vec::new();
        for call in 0..2 * pictures.truth.len() {
            orders.push(self.recording.tensor(&format!("permutation.{step}.{call}"))?);
        }
        let mut orders = orders.into_iter();
        // An order of another length is refused where the samples are drawn.
        let recorded = &mut |_| {
            let order = orders
                .next()
                .map(|order| order.values.iter().map(|&place| place as usize).collect());
            order.unwrap_or_default()
        };
        let Pictures { features, truth, size } = pictures;
        Ok(Batch::new(
            features.clone(),
            truth.clone(),
            *size,
            self.samples,
            recorded,
        )?)
    }
}

/// A setting that the recording was made with.
pub fn setting<T: std::str::FromStr>(recording: &Recording, name: &str) -> Result<T, Error> {
    recording
        .setting(name)
        .ok_or_else(|| recording.wrong(format!("it has no setting {name}")).into())
}

fn read(frozen: &Frozen, recording: &Recording, batch: usize) -> Result<Pictures, Error> {
    let pixels = recording.tensor(&format!("pictures.{batch}"))?;
    let shown = recording.tensor(&format!("shapes.{batch}"))?;
    let [count, height, width, 3] = pixels.shape[..] else {
        return Err(recording
            .wrong(format!("pictures.{batch} is {:?}", pixels.shape))
            .into());
    };
    let area = height * width;
    if shown.values.len() != count * area || area == 0 {
        return Err(recording.wrong(format!("shapes.{batch} is {:?}", shown.shape)).into());
    }
    let mut pictures = Pictures {
        features: Vec::new(),
        truth: Vec::new(),
        size: [height, width],
    };
    for (index, (pixels, shown)) in pixels
        .values
        .chunks(3 * area)
        .zip(shown.values.chunks(area))
        .enumerate()
    {
        let labels = &recording.tensor(&format!("labels.{batch}.{index}"))?.values;
        let shapes = labels.iter().enumerate().map(|(place, &label)| {
            let mask = shown.iter().map(|&number| number as usize == place + 1);
            Drawn::new(label as usize, mask.collect())
        });
        let picture = Picture {
            pixels: RgbImage::from_fn(width as u32, height as u32, |x, y| {
                let place = 3 * (y as usize * width + x as usize);
                Rgb([0, 1, 2].map(|channel| pixels[place + channel] as u8))
            }),
            shapes: shapes.collect(),
        };
        let proposals = recording.boxes(&format!("proposals.{batch}.{index}"))?;
        let values = TensorData::new(proposals.as_flattened().to_vec(), [proposals.len(), 4]);
        pictures.features.push(Features {
            proposals: Tensor::from_data(values, frozen.device()),
            ..frozen.features(&picture.pixels)?
        });
        pictures.truth.push(Truth::of(&picture, frozen.device()));
    }
    Ok(pictures)
}
