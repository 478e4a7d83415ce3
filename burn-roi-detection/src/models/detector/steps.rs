//! The steps before the heads: from pictures to proposals.

use burn::tensor::Tensor;

use super::Detector;
use crate::error::DetectionError;
use crate::forms::blocking_forms;
use crate::models::image_list::ImageList;
use crate::models::picture::Picture;
use crate::models::proposing::AnchorPredictions;
use crate::models::region_proposals::RegionPredictions;

impl Detector {
    blocking_forms!(
        /// The pictures as the model's input. There is at least one.
        pub async fn prepare(&self, pictures: &[Picture<'_>]) -> Result<ImageList, DetectionError> {
            //! Async form of [`prepare`](Self::prepare). Use it on WebGPU in a browser, which cannot block.
            //!
            //! # Errors
            //!
            //! `RoiError::Memory`: the batch does not fit into memory.

            ImageList::prepare(pictures, &self.config.preprocessing, &self.device).await
        }
    );

    /// The feature maps of the backbone.
    ///
    /// - `images`: the pictures, as [`prepare`](Self::prepare) returns them.
    /// - Returns a map `[N, channels, height, width]` for each output of the config's body, the finest first.
    pub fn body(&self, images: &ImageList) -> Vec<Tensor<4>> {
        let input = images.tensors.clone().cast(self.layers_dtype());
        self.model.backbone.body.forward(input)
    }

    /// What the region proposal network and the heads read, the finest level first: the levels of the feature pyramid,
    /// or without one the backbone's last map.
    ///
    /// - `maps`: what [`body`](Self::body) returned.
    /// - Returns levels `[N, channels, height, width]`.
    pub fn feature_pyramid(&self, maps: Vec<Tensor<4>>) -> Vec<Tensor<4>> {
        self.model.backbone.levels(maps)
    }

    /// What the region proposal network predicts for the anchors of each level.
    ///
    /// - `levels`: what [`feature_pyramid`](Self::feature_pyramid) returned.
    pub fn region_predictions(&self, levels: &[Tensor<4>]) -> RegionPredictions {
        self.model.rpn.head.forward(levels)
    }

    blocking_forms!(
        /// The proposals of each image.
        ///
        /// - `predicted`: what [`region_predictions`](Self::region_predictions) returned for the levels of `images`.
        /// - Returns for each image boxes `[K, 4]` in pixels of the resized picture, by decreasing objectness.
        pub async fn proposals(
            &self,
            predicted: RegionPredictions,
            images: &ImageList,
        ) -> Result<Vec<Tensor<2>>, DetectionError> {
            //! Async form of [`proposals`](Self::proposals). Use it on WebGPU in a browser, which cannot block.
            //!
            //! # Errors
            //!
            //! All errors of [`filter_proposals_async`](crate::filter_proposals_async).

            let predicted = AnchorPredictions::try_new(&self.anchors, predicted, images)?;
            predicted.proposals(images, &self.config.region_proposals).await
        }
    );
}
