//! The proposals of a region proposal network's predictions.

use burn::tensor::Tensor;

use super::config::RegionProposalsConfig;
use super::image_list::ImageList;
use super::pooling::size_of;
use super::region_proposals::RegionPredictions;
use crate::error::DetectionError;
use crate::{AnchorGenerator, AnchorGeneratorConfig, BoxCoder, ProposalConfig, filter_proposals_async};

/// The anchors of a region proposal network.
#[derive(Debug, Clone)]
pub struct Proposing {
    anchors: AnchorGenerator,
}

impl Proposing {
    pub fn try_new(config: &RegionProposalsConfig) -> Result<Self, DetectionError> {
        let ratios = vec![config.aspect_ratios.clone(); config.anchor_sizes.len()];
        let anchors = AnchorGeneratorConfig::new(config.anchor_sizes.clone(), ratios)
            .with_base_anchors(config.base_anchors)
            .with_offset(config.anchor_offset)
            .with_strides(config.anchor_strides.clone());
        Ok(Self {
            anchors: anchors.try_init()?,
        })
    }

    /// For each image boxes `[K, 4]` in pixels of the resized picture, by decreasing objectness.
    pub async fn proposals(
        &self,
        predicted: RegionPredictions,
        images: &ImageList,
        config: &RegionProposalsConfig,
    ) -> Result<Vec<Tensor<2>>, DetectionError> {
        let map_sizes: Vec<[usize; 2]> = predicted.objectness.iter().map(size_of).collect();
        let [count, _, height, width] = images.tensors.dims();
        let device = images.tensors.device();
        let anchors = self.anchors.try_forward([height, width], &map_sizes, &device)?;
        let counts: Vec<usize> = anchors.iter().map(|level| level.dims()[0]).collect();
        let total: usize = counts.iter().sum();

        let objectness = predicted.objectness.into_iter().map(by_anchor::<1>).collect();
        let deltas = predicted.deltas.into_iter().map(by_anchor::<4>).collect();
        let deltas = Tensor::cat(deltas, 1).reshape([count * total, 4]);
        let anchors = Tensor::cat(anchors, 0).unsqueeze::<3>().expand([count, total, 4]);
        let coder = BoxCoder::new(config.weights);
        let boxes = coder.try_decode(deltas, anchors.reshape([count * total, 4]))?;
        let (boxes, _) = filter_proposals_async(
            boxes.reshape([count, total, 4]),
            Tensor::cat(objectness, 1).reshape([count, total]),
            &images.image_sizes,
            &counts,
            &ProposalConfig::new()
                .with_pre_nms_top_n(config.pre_nms_top_n)
                .with_post_nms_top_n(config.post_nms_top_n)
                .with_nms_threshold(config.nms_threshold)
                .with_score_threshold(config.score_threshold)
                .with_min_size(config.min_size),
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
