//! The stages of a detection, with a progress bar and times.

use std::time::Duration;

use burn::backend::ExecutionError;
use burn::tensor::Device;
use indicatif::{ProgressBar, ProgressStyle};
use web_time::Instant;

use crate::error::Error;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    Preprocessing,
    Body,
    FeaturePyramid,
    RegionPredictions,
    Proposals,
    BoxPooling,
    BoxHead,
    Detections,
    MaskPooling,
    MaskHead,
    Masks,
}

impl Stage {
    pub const COUNT: u64 = 11;

    pub fn name(self) -> &'static str {
        match self {
            Self::Preprocessing => "preprocessing",
            Self::Body => "body",
            Self::FeaturePyramid => "feature pyramid",
            Self::RegionPredictions => "region predictions",
            Self::Proposals => "proposals",
            Self::BoxPooling => "box pooling",
            Self::BoxHead => "box head",
            Self::Detections => "detections",
            Self::MaskPooling => "mask pooling",
            Self::MaskHead => "mask head",
            Self::Masks => "masks in the picture",
        }
    }

    /// Whether the stage is `multi_scale_roi_align` and nothing else.
    pub fn is_region_operator(self) -> bool {
        matches!(self, Self::BoxPooling | Self::MaskPooling)
    }
}

/// Runs stages one after the other.
pub struct Stages {
    /// What is waited for after each stage, if anything is.
    device: Option<Device>,
    bar: ProgressBar,
    pub times: Vec<(Stage, Duration)>,
}

impl Stages {
    pub fn new(device: &Device) -> Self {
        Self {
            device: Some(device.clone()),
            bar: progress_bar(Stage::COUNT),
            times: Vec::new(),
        }
    }

    /// Stages without a progress bar, for programs that show their own.
    pub fn hidden(device: &Device) -> Self {
        Self {
            device: Some(device.clone()),
            bar: ProgressBar::hidden(),
            times: Vec::new(),
        }
    }

    /// Stages that wait for no device and show nothing. On a server's device, each wait is a message and its answer.
    #[cfg(feature = "remote")]
    pub fn unwatched() -> Self {
        Self {
            device: None,
            bar: ProgressBar::hidden(),
            times: Vec::new(),
        }
    }

    /// Runs a stage and waits until the device has finished it, since a GPU only queues its work.
    pub async fn run<T>(&mut self, stage: Stage, work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        self.bar.set_message(stage.name());
        let start = Instant::now();
        let output = work.await?;
        if let Some(device) = &self.device {
            finished(device).await?;
        }
        self.times.push((stage, start.elapsed()));
        self.bar.inc(1);
        Ok(output)
    }

    /// The times of the stages that ran.
    pub fn finish(self) -> Vec<(Stage, Duration)> {
        self.bar.finish_and_clear();
        self.times
    }
}

/// Waits until the device has finished what it was given.
#[cfg(not(target_family = "wasm"))]
async fn finished(device: &Device) -> Result<(), ExecutionError> {
    device.sync()
}

/// Waits until the device has finished what it was given. A browser can't block on a GPU: what is read back comes after
/// everything that was queued before it.
#[cfg(target_family = "wasm")]
async fn finished(device: &Device) -> Result<(), ExecutionError> {
    let last = burn::tensor::Tensor::<1>::zeros([1], device);
    last.into_data_async().await.map(drop)
}

/// A progress bar on stderr; hidden if stderr is not a terminal.
pub fn progress_bar(steps: u64) -> ProgressBar {
    let bar = ProgressBar::new(steps);
    if let Ok(style) = ProgressStyle::with_template("{bar:32} {pos}/{len} {msg}") {
        bar.set_style(style);
    }
    bar
}
