//! The proposals of a region proposal network's predictions.

use burn::tensor::Tensor;

use super::config::RegionProposalsConfig;
use super::image_list::ImageList;
use super::pooling::size_of;
use super::region_proposals::RegionPredictions;
use crate::error::DetectionError;
use crate::{AnchorGenerator, AnchorGeneratorConfig, BoxCoder, ProposalConfig, filter_proposals_async};

impl RegionProposalsConfig {
    pub(super) fn try_anchors(&self) -> Result<AnchorGenerator, DetectionError> {
        let ratios = vec![self.aspect_ratios.clone(); self.anchor_sizes.len()];
        let anchors = AnchorGeneratorConfig::new(self.anchor_sizes.clone(), ratios)
            .with_base_anchors(self.base_anchors)
            .with_offset(self.anchor_offset)
            .with_strides(self.anchor_strides.clone());
        anchors.try_init()
    }
}

/// What the region proposal network predicts for each of the A anchors of all levels.
pub struct AnchorPredictions {
    /// `[N, A]`.
    pub objectness: Tensor<2>,
    /// `[N, A, 4]`.
    pub deltas: Tensor<3>,
    /// `[A, 4]`, without autodiff.
    pub anchors: Tensor<2>,
    /// The number of anchors of each level.
    pub counts: Vec<usize>,
}

impl AnchorPredictions {
    /// The predictions of all levels, in the dtype of the images, and the anchors.
    pub fn try_new(
        anchors: &AnchorGenerator,
        predicted: RegionPredictions,
        images: &ImageList,
    ) -> Result<Self, DetectionError> {
        let map_sizes: Vec<[usize; 2]> = predicted.objectness.iter().map(size_of).collect();
        let [count, _, height, width] = images.tensors.dims();
        let device = images.tensors.device().inner();
        let anchors = anchors.try_forward([height, width], &map_sizes, &device)?;
        let counts: Vec<usize> = anchors.iter().map(|level| level.dims()[0]).collect();
        let dtype = images.tensors.dtype();
        let objectness = predicted.objectness.into_iter().map(by_anchor::<1>).collect();
        let deltas = predicted.deltas.into_iter().map(by_anchor::<4>).collect();
        Ok(Self {
            objectness: Tensor::cat(objectness, 1)
                .reshape([count, counts.iter().sum()])
                .cast(dtype),
            deltas: Tensor::cat(deltas, 1).cast(dtype),
            anchors: Tensor::cat(anchors, 0),
            counts,
        })
    }

    /// The predictions without their gradients.
    #[cfg(feature = "train")]
    pub fn inner(&self) -> Self {
        Self {
            objectness: self.objectness.clone().inner(),
            deltas: self.deltas.clone().inner(),
            anchors: self.anchors.clone(),
            counts: self.counts.clone(),
        }
    }

    /// For each image boxes `[K, 4]` in pixels of the resized picture, by decreasing objectness.
    pub async fn proposals(
        self,
        images: &ImageList,
        config: &RegionProposalsConfig,
    ) -> Result<Vec<Tensor<2>>, DetectionError> {
        let [count, total, _] = self.deltas.dims();
        let anchors = self.anchors.unsqueeze::<3>().expand([count, total, 4]);
        let anchors = anchors.reshape([count * total, 4]);
        let coder = BoxCoder::new(config.weights);
        let boxes = coder.try_decode(self.deltas.reshape([count * total, 4]), anchors)?;
        let (boxes, _) = filter_proposals_async(
            boxes.reshape([count, total, 4]),
            self.objectness,
            &images.image_sizes,
            &self.counts,
            &ProposalConfig {
                pre_nms_top_n: config.pre_nms_top_n,
                post_nms_top_n: config.post_nms_top_n,
                nms_threshold: config.nms_threshold,
                score_threshold: config.score_threshold,
                min_size: config.min_size,
            },
        )
        .await?;
        Ok(boxes)
    }
}

/// Rearranges `[N, anchors * VALUES, height, width]` into one row for each anchor of an image, pixel by pixel.
fn by_anchor<const VALUES: usize>(map: Tensor<4>) -> Tensor<3> {
    let [count, channels, height, width] = map.dims();
    let anchors = channels / VALUES;
    map.reshape([count, anchors, VALUES, height, width])
        .permute([0, 3, 4, 1, 2])
        .reshape([count, height * width * anchors, VALUES])
}
