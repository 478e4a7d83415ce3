//! The box heads of a Cascade R-CNN: each refines the boxes of the one before it, and their scores are averaged.

use burn::tensor::Tensor;
use burn::tensor::activation::softmax;

use super::Detector;
use crate::error::DetectionError;
use crate::models::image_list::ImageList;
use crate::models::pooling::Head;
use crate::{BoxCoder, host, try_clip_boxes_to_image};

/// What the last stage predicts, and the boxes that it refines.
pub(super) struct Refined {
    pub logits: Tensor<2>,
    pub deltas: Tensor<2>,
    pub boxes: Vec<Tensor<2>>,
}

impl Detector {
    /// Runs the later stages on what the first one predicts. The logits that it returns are the logarithms of the
    /// averaged probabilities.
    ///
    /// - `first`: class logits `[K, classes]`, box deltas `[K, 4]` and the proposals of each image.
    pub(super) fn refine(
        &self,
        levels: &[Tensor<4>],
        first: Refined,
        images: &ImageList,
    ) -> Result<Refined, DetectionError> {
        let head = &self.config.box_head;
        let dtype = first.logits.dtype();
        let mut probabilities = softmax(first.logits, 1);
        let (mut deltas, mut boxes, mut weights) = (first.deltas, first.boxes, head.weights);
        for (stage, &later) in self.model.roi_heads.later_stages.iter().zip(&head.later_stages) {
            boxes = refined_boxes(deltas, boxes, weights, &images.image_sizes)?;
            let pooled = self.pooled(Head::Box, levels, boxes.clone(), images)?;
            let (logits, refined) = stage.forward(pooled);
            probabilities = probabilities + softmax(logits.to_device(&self.device).cast(dtype), 1);
            (deltas, weights) = (refined.to_device(&self.device).cast(dtype), later);
        }
        let stages = 1 + head.later_stages.len();
        Ok(Refined {
            logits: (probabilities / stages as f64).log(),
            deltas,
            boxes,
        })
    }
}

/// The boxes that class-agnostic deltas `[K, 4]` move those of each image to, clipped to the image.
pub(crate) fn refined_boxes(
    deltas: Tensor<2>,
    boxes: Vec<Tensor<2>>,
    weights: [f64; 4],
    image_sizes: &[[usize; 2]],
) -> Result<Vec<Tensor<2>>, DetectionError> {
    let coder = BoxCoder::new(weights);
    let rows = host::consecutive(0, boxes.iter().map(|boxes| boxes.dims()[0]));
    let images = boxes.into_iter().zip(rows).zip(image_sizes);
    let decoded = images.map(|((boxes, rows), &size)| {
        let count = rows.len();
        if count == 0 {
            return Ok(boxes);
        }
        let deltas = deltas.clone().slice_dim(0, rows);
        try_clip_boxes_to_image(coder.try_decode(deltas, boxes)?.reshape([count, 4]), size)
    });
    decoded.collect()
}
