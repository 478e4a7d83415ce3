//! The choice of the best candidates of each image, for all images of a batch at once.

use burn::tensor::Tensor;

use super::greedy_nms;
use crate::error::DetectionError;
use crate::host;

/// The candidates of an image, in any order.
pub(crate) struct Candidates {
    /// `[K, 4]`.
    pub boxes: Tensor<2>,
    /// `[K]`. A NaN is never chosen.
    pub scores: Tensor<1>,
    /// NMS runs within each class.
    pub classes: Vec<usize>,
}

/// Which candidates are chosen.
pub(crate) struct Choice {
    /// The least width and height of a box.
    pub min_size: f64,
    /// The lowest score, inclusive.
    pub lowest_score: f64,
    /// The threshold of NMS.
    pub iou_threshold: f64,
    /// The largest number of an image.
    pub limit: usize,
}

impl Choice {
    /// For each image the indices of the candidates that are chosen, by decreasing score. However many images and
    /// classes there are, a device of CubeCL is read once, and another one that is not the host twice.
    pub async fn of_images(&self, images: &[Candidates]) -> Result<Vec<Vec<usize>>, DetectionError> {
        #[cfg(feature = "cube")]
        let mut chosen = self.on_device(images).await?;
        #[cfg(not(feature = "cube"))]
        let mut chosen = vec![None; images.len()];
        let is_left = |(_, chosen): &(&Candidates, &mut Option<_>)| chosen.is_none();
        let left: Vec<_> = images.iter().zip(&mut chosen).filter(is_left).collect();
        if !left.is_empty() {
            self.on_host(left).await?;
        }
        for indices in chosen.iter_mut().flatten() {
            indices.truncate(self.limit);
        }
        Ok(chosen.into_iter().flatten().collect())
    }

    async fn on_host(&self, images: Vec<(&Candidates, &mut Option<Vec<usize>>)>) -> Result<(), DetectionError> {
        let boxes: Vec<_> = images.iter().map(|(of_image, _)| of_image.boxes.clone()).collect();
        let scores: Vec<_> = images.iter().map(|(of_image, _)| of_image.scores.clone()).collect();
        let boxes = host::read_boxes(&host::concatenate(&boxes)).await?;
        let scores = host::read_floats(&host::concatenate(&scores)).await?;
        let rows = host::consecutive(0, images.iter().map(|(of_image, _)| of_image.classes.len()));
        for ((of_image, chosen), rows) in images.into_iter().zip(rows) {
            *chosen = Some(self.of_image(of_image, &boxes[rows.clone()], &scores[rows]));
        }
        Ok(())
    }

    fn of_image(&self, candidates: &Candidates, boxes: &[[f64; 4]], scores: &[f64]) -> Vec<usize> {
        let dtype = candidates.boxes.dtype();
        let lowest_score = host::rounded(self.lowest_score, candidates.scores.dtype());
        let large = (0..boxes.len())
            .filter(|&index| host::is_large(&boxes[index], self.min_size, dtype))
            .filter(|&index| scores[index] >= lowest_score);
        greedy_nms(
            large.collect(),
            boxes,
            dtype,
            scores,
            |index| candidates.classes[index],
            self.iou_threshold,
            self.limit,
        )
    }
}
