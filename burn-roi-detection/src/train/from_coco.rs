//! Samples of a COCO data set.

use super::sample::{Object, Sample};
use crate::data::coco::CocoDataset;
use crate::error::DetectionError;

impl Sample {
    /// The sample of an image of a COCO data set, without its crowds. Boxes are limited to the image, and an object
    /// whose box is then empty is left out. The label is [`CocoDataset::label_of`]. An image that the data set does not
    /// have is a sample without objects.
    ///
    /// - `size`: `[height, width]` of the picture in pixels.
    /// - `pixels`: row by row, the red, green and blue of each pixel.
    ///
    /// # Errors
    ///
    /// All errors of [`try_new`](Self::try_new). A mask of another size than the picture's is one of them.
    pub fn try_from_coco(
        dataset: &CocoDataset,
        image_id: i64,
        size: [usize; 2],
        pixels: Vec<u8>,
    ) -> Result<Self, DetectionError> {
        let [height, width] = size.map(|side| side as f64);
        let annotations = dataset
            .annotations_of(image_id)
            .filter(|annotation| !annotation.is_crowd);
        let objects = annotations.filter_map(|annotation| {
            let [x, y, w, h] = annotation.bbox;
            let [x1, x2] = [x, x + w].map(|coordinate| coordinate.clamp(0.0, width) as f32);
            let [y1, y2] = [y, y + h].map(|coordinate| coordinate.clamp(0.0, height) as f32);
            if x1 >= x2 || y1 >= y2 {
                return None;
            }
            let keypoints = annotation.keypoints.iter().flatten();
            Some(Object {
                mask: dataset.mask_of(annotation),
                keypoints: keypoints.map(|keypoint| keypoint.map(|value| value as f32)).collect(),
                ..Object::new([x1, y1, x2, y2], dataset.label_of(annotation.category_id)?)
            })
        });
        Self::try_new(size, pixels, objects.collect())
    }
}
