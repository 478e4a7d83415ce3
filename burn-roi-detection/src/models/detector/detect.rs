//! All stages of a detection.

use super::Detector;
use super::heads::HeadStages;
use crate::Detections;
use crate::error::DetectionError;
use crate::forms::blocking_forms;
use crate::models::instances::{Instances, all_class_masks, paste_masks, read_instances};
use crate::models::picture::Picture;
use crate::models::stage::{Stage, StageObserver, Stages};

impl Detector {
    blocking_forms!(
        /// Detects in pictures of any sizes, as one batch. Same results as torchvision's detector in evaluation mode
        /// for the same list of pictures.
        ///
        /// - Returns the instances of each picture, and an empty list if there are no pictures.
        pub async fn detect(&self, pictures: &[Picture<'_>]) -> Result<Vec<Instances>, DetectionError> {
            //! Async form of [`detect`](Self::detect). Use it on WebGPU in a browser, which cannot block.
            //!
            //! # Errors
            //!
            //! - `RoiError::Memory`: the batch does not fit into memory.
            //! - All errors of the functions that this calls:
            //!   [`filter_proposals_async`](crate::filter_proposals_async),
            //!   [`try_pool_regions`](crate::models::try_pool_regions),
            //!   [`postprocess_detections_async`](crate::postprocess_detections_async),
            //!   [`try_maskrcnn_inference`](crate::try_maskrcnn_inference),
            //!   [`paste_masks_as_run_lengths_async`](crate::paste_masks_as_run_lengths_async) and
            //!   [`heatmaps_to_keypoints_async`](crate::heatmaps_to_keypoints_async).

            self.detect_observed_async(pictures, &mut ()).await
        }

        /// Detects as [`detect`](Self::detect) does, and calls an observer around each stage.
        pub async fn detect_observed(
            &self,
            pictures: &[Picture<'_>],
            observer: &mut dyn StageObserver,
        ) -> Result<Vec<Instances>, DetectionError> {
            //! Async form of [`detect_observed`](Self::detect_observed). Use it on WebGPU in a browser, which cannot
            //! block.
            //!
            //! # Errors
            //!
            //! All errors of [`detect_async`](Self::detect_async).

            if pictures.is_empty() {
                return Ok(Vec::new());
            }
            let mut stages = Stages {
                observer,
                device: &self.device,
            };
            let images = stages.run(Stage::Preprocessing, self.prepare_async(pictures)).await?;
            let maps = stages.run(Stage::Body, async { Ok(self.body(&images)) }).await?;
            let levels = stages
                .run(Stage::FeaturePyramid, async { Ok(self.feature_pyramid(maps)) })
                .await?;
            let predicted = stages
                .run(Stage::RegionPredictions, async { Ok(self.region_predictions(&levels)) })
                .await?;
            let proposals = stages
                .run(Stage::Proposals, self.proposals_async(predicted, &images))
                .await?;
            let levels: Vec<_> = levels
                .into_iter()
                .map(|level| level.to_device(&self.heads_device))
                .collect();
            let mut heads = HeadStages {
                detector: self,
                levels: &levels,
                images: &images,
                stages,
            };
            let detections = heads.detections(proposals).await?;
            let mut instances = read_instances(&detections, &images).await?;
            if detections.iter().all(Detections::is_empty) {
                return Ok(instances);
            }
            heads.add_masks(&detections, &mut instances).await?;
            heads.add_keypoints(&detections, &mut instances).await?;
            Ok(instances)
        }

        /// Pastes the masks of instances into their pictures: for a config whose masks are not
        /// [`pasted`](crate::models::MaskHeadConfig::pasted) by a detection.
        ///
        /// - `instances`: of this detector; all of a batch, or some pictures of it.
        /// - Returns them with their `masks`. Without a mask head they stay as they are.
        pub async fn paste_masks(&self, instances: Vec<Instances>) -> Result<Vec<Instances>, DetectionError> {
            //! Async form of [`paste_masks`](Self::paste_masks). Use it on WebGPU in a browser, which cannot block.
            //!
            //! # Errors
            //!
            //! - `RoiError::Option`: instances do not have as many `class_masks` as boxes.
            //! - `RoiError::DeviceRead`: the device could not be read.

            let mut instances = instances;
            let is_found = instances.iter().any(|of_image| !of_image.is_empty());
            if let Some(head) = self.config.mask_head.as_ref().filter(|_| is_found) {
                let masks = all_class_masks(&instances)?;
                paste_masks(&mut instances, masks, head).await?;
            }
            Ok(instances)
        }
    );
}
