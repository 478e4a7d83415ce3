//! From a picture to its detections: the model's layers, and torchvision's steps between them.

use burn::module::Module;
use burn::tensor::{Device, Tensor, read_sync};
use burn_roi::torchvision::MultiScaleRoiAlign;
use burn_roi::{Rois, try_infer_scales, try_multi_scale_roi_align};
use burn_roi_detection::{
    AnchorGenerator, AnchorGeneratorConfig, BoxCoder, DetectionConfig, DetectionError, Detections, ProposalConfig,
    filter_proposals_async, postprocess_detections_async, try_maskrcnn_inference,
};
use image::RgbImage;

use crate::config::{BODY_LAYERS, Config};
use crate::error::Error;
use crate::found::{Found, Rows, paste, rescaled};
use crate::model::{MaskRcnn, RegionPredictions};
use crate::preprocessing::{Prepared, prepare};
use crate::stages::{Stage, Stages};

pub struct Detector {
    pub config: Config,
    pub model: MaskRcnn,
    device: Device,
    /// Where the heads run, on regions that are pooled there.
    heads: Device,
    /// Where masks are pasted into pictures, one by one.
    pasting: Device,
    anchors: AnchorGenerator,
}

impl Detector {
    pub fn new(config: Config, model: MaskRcnn, device: Device) -> Self {
        let proposals = &config.region_proposals;
        let ratios = vec![proposals.aspect_ratios.clone(); proposals.anchor_sizes.len()];
        let anchors = AnchorGeneratorConfig::new(proposals.anchor_sizes.clone(), ratios).init();
        Self {
            config,
            model,
            heads: device.clone(),
            pasting: device.clone(),
            device,
            anchors,
        }
    }

    /// Moves the heads to another device, such as that of a server. The feature maps follow them for each picture, and
    /// their answers come back.
    pub fn with_heads_on(mut self, device: &Device) -> Self {
        self.model.roi_heads = self.model.roi_heads.to_device(device);
        self.heads = device.clone();
        self
    }

    /// Pastes masks on another device. On that of a server, each mask would wait for an answer.
    pub fn with_masks_pasted_on(mut self, device: &Device) -> Self {
        self.pasting = device.clone();
        self
    }

    pub fn device(&self) -> &Device {
        &self.device
    }

    /// All detections of a picture, by decreasing score.
    pub fn detect(&self, picture: &RgbImage, stages: &mut Stages) -> Result<Vec<Found>, Error> {
        read_sync(self.detect_async(picture, stages))
    }

    /// [`detect`](Detector::detect) for a browser, which can't block on a GPU.
    pub async fn detect_async(&self, picture: &RgbImage, stages: &mut Stages) -> Result<Vec<Found>, Error> {
        let MaskRcnn {
            backbone,
            rpn,
            roi_heads,
        } = &self.model;
        let prepared = stages
            .run(Stage::Preprocessing, async { Ok(self.prepare(picture)) })
            .await?;
        let input = prepared.input.clone();
        let maps = stages
            .run(Stage::Body, async { Ok(backbone.body.forward(input)) })
            .await?;
        let levels = stages
            .run(Stage::FeaturePyramid, async { Ok(backbone.fpn.forward(maps)) })
            .await?;
        let predicted = stages
            .run(Stage::RegionPredictions, async { Ok(rpn.head.forward(&levels)) })
            .await?;
        let proposals = stages
            .run(Stage::Proposals, self.proposals_async(predicted, &prepared))
            .await?;
        // The heads are not called without regions: not every backend accepts empty tensors.
        if proposals.dims()[0] == 0 {
            return Ok(Vec::new());
        }

        // To the heads, where they are on another device, and once for both of them.
        let levels: Vec<_> = levels
            .into_iter()
            .take(BODY_LAYERS)
            .map(|level| level.to_device(&self.heads))
            .collect();
        let regions = proposals.clone().to_device(&self.heads);
        let pooled = stages
            .run(Stage::BoxPooling, async {
                self.pool_boxes(&levels, regions, &prepared)
            })
            .await?;
        let (logits, deltas) = stages
            .run(Stage::BoxHead, async {
                let (logits, deltas) = roi_heads.boxes(pooled);
                Ok((logits.to_device(&self.device), deltas.to_device(&self.device)))
            })
            .await?;
        let detections = stages
            .run(Stage::Detections, self.detections(logits, deltas, proposals, &prepared))
            .await?;
        if detections.is_empty() {
            return Ok(Vec::new());
        }

        let regions = detections.boxes.clone().to_device(&self.heads);
        let pooled = stages
            .run(Stage::MaskPooling, async {
                self.pool_masks(&levels, regions, &prepared)
            })
            .await?;
        let labels = detections.labels.clone().to_device(&self.heads);
        let masks = stages
            .run(Stage::MaskHead, async {
                let masks = try_maskrcnn_inference(roi_heads.masks(pooled), labels)?;
                Ok(masks.to_device(&self.pasting))
            })
            .await?;
        stages.run(Stage::Masks, self.found(detections, masks, &prepared)).await
    }

    pub fn prepare(&self, picture: &RgbImage) -> Prepared {
        prepare(picture, &self.config.preprocessing, &self.device)
    }

    /// Boxes `[K, 4]` in the resized picture, by decreasing objectness.
    pub fn proposals(&self, predicted: RegionPredictions, prepared: &Prepared) -> Result<Tensor<2>, Error> {
        read_sync(self.proposals_async(predicted, prepared))
    }

    async fn proposals_async(&self, predicted: RegionPredictions, prepared: &Prepared) -> Result<Tensor<2>, Error> {
        let map_sizes: Vec<[usize; 2]> = predicted.objectness.iter().map(size_of).collect();
        let [_, _, height, width] = prepared.input.dims();
        let anchors = self.anchors.try_forward([height, width], &map_sizes, &self.device)?;
        let counts: Vec<usize> = anchors.iter().map(|level| level.dims()[0]).collect();
        let total = counts.iter().sum();

        let objectness = predicted.objectness.into_iter().map(by_anchor::<1>).collect();
        let deltas = predicted.deltas.into_iter().map(by_anchor::<4>).collect();
        let coder = BoxCoder::new([1.0; 4]);
        let boxes = coder.try_decode(Tensor::cat(deltas, 0), Tensor::cat(anchors, 0))?;
        let config = &self.config.region_proposals;
        let (boxes, _) = filter_proposals_async(
            boxes.reshape([1, total, 4]),
            Tensor::cat(objectness, 0).reshape([1, total]),
            &[prepared.size],
            &counts,
            &ProposalConfig::new()
                .with_pre_nms_top_n(config.pre_nms_top_n)
                .with_post_nms_top_n(config.post_nms_top_n)
                .with_nms_threshold(config.nms_threshold)
                .with_score_threshold(config.score_threshold)
                .with_min_size(config.min_size),
        )
        .await?;
        Ok(only(boxes))
    }

    pub fn pool_boxes(&self, levels: &[Tensor<4>], boxes: Tensor<2>, prepared: &Prepared) -> Result<Tensor<4>, Error> {
        let config = &self.config.box_head;
        Ok(pool(
            levels,
            vec![boxes],
            prepared.size,
            config.pooled_size,
            config.sampling_ratio,
        )?)
    }

    pub fn pool_masks(&self, levels: &[Tensor<4>], boxes: Tensor<2>, prepared: &Prepared) -> Result<Tensor<4>, Error> {
        let config = &self.config.mask_head;
        Ok(pool(
            levels,
            vec![boxes],
            prepared.size,
            config.pooled_size,
            config.sampling_ratio,
        )?)
    }

    /// Detections in the resized picture.
    async fn detections(
        &self,
        logits: Tensor<2>,
        deltas: Tensor<2>,
        proposals: Tensor<2>,
        prepared: &Prepared,
    ) -> Result<Detections, Error> {
        let config = &self.config.box_head;
        let config = DetectionConfig::new()
            .with_score_threshold(config.score_threshold)
            .with_nms_threshold(config.nms_threshold)
            .with_detections_per_image(config.detections_per_image)
            .with_box_weights(config.weights);
        let proposals = vec![proposals];
        let images = postprocess_detections_async(logits, deltas, proposals, &[prepared.size], &config).await?;
        Ok(only(images))
    }

    /// Scales detections and their masks `[K, 1, M, M]` from the resized picture to the original one.
    async fn found(&self, detections: Detections, masks: Tensor<4>, prepared: &Prepared) -> Result<Vec<Found>, Error> {
        let rows = Rows::read(detections).await?;
        let threshold = self.config.mask_head.mask_threshold as f32;
        let mut found = Vec::with_capacity(rows.boxes.len());
        for (row, &corners) in rows.boxes.iter().enumerate() {
            let corners = rescaled(corners, prepared.size, prepared.original);
            let mask = masks.clone().slice_dim(0, row..row + 1);
            found.push(Found {
                class: rows.labels[row],
                score: rows.scores[row],
                corners,
                mask: paste(mask, corners, prepared.original, threshold).await?,
            });
        }
        Ok(found)
    }
}

/// Pools regions of resized pictures from all levels but the last and coarsest, which only the proposals use. `boxes`
/// has a tensor for each picture, and all pictures are of one size.
pub fn pool(
    levels: &[Tensor<4>],
    boxes: Vec<Tensor<2>>,
    size: [usize; 2],
    pooled_size: usize,
    sampling_ratio: usize,
) -> Result<Tensor<4>, DetectionError> {
    let levels = levels[..BODY_LAYERS].to_vec();
    let map_sizes: Vec<[usize; 2]> = levels.iter().map(size_of).collect();
    let scales = try_infer_scales(&map_sizes, &[size])?;
    let config = MultiScaleRoiAlign::new([pooled_size; 2]).with_sampling_ratio(sampling_ratio as i64);
    let rois = Rois::try_from_images(boxes)?;
    Ok(try_multi_scale_roi_align(levels, &rois, &scales, config)?)
}

fn size_of(map: &Tensor<4>) -> [usize; 2] {
    let [_, _, height, width] = map.dims();
    [height, width]
}

/// Rearranges `[1, anchors * VALUES, height, width]` into one row for each anchor, pixel by pixel.
fn by_anchor<const VALUES: usize>(map: Tensor<4>) -> Tensor<2> {
    let [_, channels, height, width] = map.dims();
    let anchors = channels / VALUES;
    map.reshape([anchors, VALUES, height, width])
        .permute([2, 3, 0, 1])
        .reshape([height * width * anchors, VALUES])
}

/// The only element of a batch of one picture.
fn only<T>(mut batch: Vec<T>) -> T {
    batch.remove(0)
}
