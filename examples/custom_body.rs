//! Trains a Faster R-CNN on a body that this file defines, a small ConvNeXt, and finds coins with it.
//!
//! A program of its own has this file as `src/main.rs`, and this `Cargo.toml`:
//!
//! ```toml
//! [package]
//! name = "custom_body"
//! version = "0.1.0"
//! edition = "2024"
//!
//! [dependencies]
//! burn = { version = "0.22.1", default-features = false, features = ["std", "flex"] }
//! burn-roi-detection = { path = "../burn-roi/burn-roi-detection", features = ["train", "pictures"] }
//! ```
//!
//! In a clone of burn-roi, `cargo run --release -p burn-roi-detection --features train,pictures --example custom_body`
//! takes 400 steps. `-- 60` takes 60.

use std::{env, error::Error, path::Path};

use burn::module::Module;
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::{LayerNorm, LayerNormConfig, Linear, LinearConfig, PaddingConfig2d};
use burn::tensor::activation::gelu;
use burn::tensor::{Device, Tensor};
use burn_roi_detection::data::coco::{CocoPictures, CocoPicturesConfig};
use burn_roi_detection::models::{BodyConfig, BodyMap, CustomBody, CustomBodyConfig, Detector};
use burn_roi_detection::train::{self, BatchSource, Trainer, TrainerConfig};
use burn_roi_detection::weights;

/// The number of channels of each stage.
const CHANNELS: [usize; 4] = [16, 32, 48, 64];

/// Four stages, with 1/4, 1/8, 1/16 and 1/32 of the picture's size.
#[derive(Module, Debug)]
struct ConvNext {
    stages: Vec<Stage>,
}

/// A convolution that makes a map smaller, and a block.
#[derive(Module, Debug)]
struct Stage {
    smaller: Conv2d,
    norm: LayerNorm,
    block: Block,
}

/// Each channel's neighbourhood, then all channels of each pixel, beside the identity.
#[derive(Module, Debug)]
struct Block {
    depthwise: Conv2d,
    norm: LayerNorm,
    expand: Linear,
    project: Linear,
}

impl ConvNext {
    fn new(device: &Device) -> Self {
        let inputs = [3].into_iter().chain(CHANNELS);
        let stages = inputs.zip(CHANNELS).map(|(input, channels)| {
            let side = if input == 3 { 4 } else { 2 };
            let depthwise = Conv2dConfig::new([channels; 2], [7, 7])
                .with_groups(channels)
                .with_padding(PaddingConfig2d::Explicit(3, 3, 3, 3));
            Stage {
                smaller: Conv2dConfig::new([input, channels], [side; 2])
                    .with_stride([side; 2])
                    .init(device),
                norm: LayerNormConfig::new(channels).init(device),
                block: Block {
                    depthwise: depthwise.init(device),
                    norm: LayerNormConfig::new(channels).init(device),
                    expand: LinearConfig::new(channels, 4 * channels).init(device),
                    project: LinearConfig::new(4 * channels, channels).init(device),
                },
            }
        });
        Self {
            stages: stages.collect(),
        }
    }
}

impl Stage {
    fn forward(&self, maps: Tensor<4>) -> Tensor<4> {
        let maps = self.smaller.forward(maps).permute([0, 2, 3, 1]);
        let maps = self.norm.forward(maps).permute([0, 3, 1, 2]);
        maps.clone() + self.block.forward(maps)
    }
}

impl Block {
    fn forward(&self, maps: Tensor<4>) -> Tensor<4> {
        let pixels = self.norm.forward(self.depthwise.forward(maps).permute([0, 2, 3, 1]));
        self.project
            .forward(gelu(self.expand.forward(pixels)))
            .permute([0, 3, 1, 2])
    }
}

impl CustomBody for ConvNext {
    fn maps(&self) -> Vec<BodyMap> {
        let name = |stage| format!("stage{stage}");
        (1..)
            .map(name)
            .zip(CHANNELS)
            .map(|(name, channels)| BodyMap::new(name, channels))
            .collect()
    }

    fn forward(&self, input: Tensor<4>) -> Vec<Tensor<4>> {
        let mut maps = vec![input];
        for stage in &self.stages {
            maps.push(stage.forward(maps[maps.len() - 1].clone()));
        }
        maps.split_off(1)
    }

    fn with_frozen_stages(mut self, count: usize) -> Self {
        let stages = self.stages.into_iter().enumerate();
        let stages = stages.map(|(index, stage)| if index < count { stage.freeze() } else { stage });
        self.stages = stages.collect();
        self
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let steps = env::args().nth(1).map_or(Ok(400), |steps| steps.parse())?;
    let shipped = |name| Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(name);
    let config = CocoPicturesConfig::new(); // the pictures are beside their annotations
    let training = CocoPictures::read(shipped("finetune/coins/left.json"), &config)?;
    let test = CocoPictures::read(shipped("finetune/coins/right.json"), &config)?;

    let (device, body) = (Device::flex(), ConvNext::new(&Device::flex()));
    let mut config = weights::read_config(shipped("find_objects/shapes.json"))?;
    config.body = BodyConfig::Custom(CustomBodyConfig::new(body.maps()));
    config.mask_head = None;
    let detector = train::with_categories(Detector::try_from_body(config, body, &device)?, training.dataset())?;

    let mut source = BatchSource::try_new(training, &detector)?;
    source.min_sizes = vec![128]; // small pictures, for a fast example
    let mut config = TrainerConfig::new(train::LearningRateSchedule::new(0.01));
    config.losses = train::DetectorLossConfig::for_min_size(128);
    config.frozen_stages = 0;
    let mut trainer = Trainer::try_new(detector, config)?;
    for batches in source.prefetch(0..steps, 2) {
        let step = trainer.step_batches(&batches?)?;
        if step.step % 20 == 0 {
            println!("step {}: loss {:.3}", step.step, step.total());
        }
    }
    for evaluation in test.evaluate(&trainer.detector()?, || ())? {
        println!("{evaluation}");
    }
    Ok(())
}
