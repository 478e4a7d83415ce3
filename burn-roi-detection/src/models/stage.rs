//! [`Stage`]: the stages of a detection, which an observer can watch.

use burn::tensor::Device;

use super::config::DetectorConfig;
use crate::error::DetectionError;
use burn_roi::RoiError;

/// A stage of a detection. The stages of pooling are one call of a region operator each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stage {
    /// Resizing and normalizing the pictures.
    Preprocessing,
    /// The backbone.
    Body,
    /// The feature pyramid, if there is one.
    FeaturePyramid,
    /// The layers of the region proposal network.
    RegionPredictions,
    /// The choice of proposals.
    Proposals,
    /// Pooling the proposals.
    BoxPooling,
    /// The layers of the box head.
    BoxHead,
    /// The later box heads of a cascade, each with its pooling.
    LaterBoxHeads,
    /// The choice of detections.
    Detections,
    /// Pooling the detections for masks.
    MaskPooling,
    /// The layers of the mask head.
    MaskHead,
    /// Pasting masks into the pictures.
    Masks,
    /// Pooling the detections for keypoints.
    KeypointPooling,
    /// The layers of the keypoint head.
    KeypointHead,
    /// Finding keypoints in heatmaps.
    Keypoints,
}

impl Stage {
    /// The stages that a detector with this config has, in their order. The later ones do not run if nothing is
    /// detected.
    pub fn of(config: &DetectorConfig) -> Vec<Self> {
        let mut stages = vec![
            Self::Preprocessing,
            Self::Body,
            Self::FeaturePyramid,
            Self::RegionPredictions,
            Self::Proposals,
            Self::BoxPooling,
            Self::BoxHead,
        ];
        if !config.box_head.later_stages.is_empty() {
            stages.push(Self::LaterBoxHeads);
        }
        stages.push(Self::Detections);
        if let Some(head) = &config.mask_head {
            stages.extend([Self::MaskPooling, Self::MaskHead]);
            stages.extend(head.pasted.then_some(Self::Masks));
        }
        if config.keypoint_head.is_some() {
            stages.extend([Self::KeypointPooling, Self::KeypointHead, Self::Keypoints]);
        }
        stages
    }

    /// A name for messages, in small letters.
    pub fn name(self) -> &'static str {
        match self {
            Self::Preprocessing => "preprocessing",
            Self::Body => "body",
            Self::FeaturePyramid => "feature pyramid",
            Self::RegionPredictions => "region predictions",
            Self::Proposals => "proposals",
            Self::BoxPooling => "box pooling",
            Self::BoxHead => "box head",
            Self::LaterBoxHeads => "later box heads",
            Self::Detections => "detections",
            Self::MaskPooling => "mask pooling",
            Self::MaskHead => "mask head",
            Self::Masks => "masks in the picture",
            Self::KeypointPooling => "keypoint pooling",
            Self::KeypointHead => "keypoint head",
            Self::Keypoints => "keypoints",
        }
    }

    /// Whether the stage is a region operator and nothing else.
    pub fn is_region_operator(self) -> bool {
        matches!(self, Self::BoxPooling | Self::MaskPooling | Self::KeypointPooling)
    }
}

/// Watches the stages of a detection, to show or to time them. `()` watches nothing.
pub trait StageObserver {
    /// Whether the detector waits at the end of each stage until its device has finished it. A GPU only queues work, so
    /// times need this. On a server's device, each wait is a message and its answer.
    fn waits(&self) -> bool {
        false
    }

    /// A stage begins.
    fn begins(&mut self, _stage: Stage) {}

    /// A stage has ended. It is not called if the stage fails.
    fn ends(&mut self, _stage: Stage) {}
}

impl StageObserver for () {}

/// Runs the stages of a detection on a device.
pub(super) struct Stages<'a> {
    pub observer: &'a mut dyn StageObserver,
    pub device: &'a Device,
}

impl Stages<'_> {
    pub async fn run<T>(
        &mut self,
        stage: Stage,
        work: impl Future<Output = Result<T, DetectionError>>,
    ) -> Result<T, DetectionError> {
        self.observer.begins(stage);
        let output = work.await?;
        if self.observer.waits() {
            finished(self.device).await?;
        }
        self.observer.ends(stage);
        Ok(output)
    }
}

/// Waits until the device has finished what it was given.
#[cfg(not(target_family = "wasm"))]
async fn finished(device: &Device) -> Result<(), RoiError> {
    device.sync().map_err(|error| RoiError::DeviceRead {
        reason: error.to_string(),
    })
}

/// Waits until the device has finished what it was given. A browser can't block on a GPU: what is read back comes after
/// everything that was queued before it.
#[cfg(target_family = "wasm")]
async fn finished(device: &Device) -> Result<(), RoiError> {
    let last = burn::tensor::Tensor::<1>::zeros([1], device);
    let is_host = burn_roi::internal::is_host(device);
    burn_roi::internal::read(is_host, || last.into_data_async())
        .await
        .map(drop)
}
