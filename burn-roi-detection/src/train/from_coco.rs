//! Samples of a COCO data set.

use super::sample::{Object, Sample};
use crate::data::coco::CocoDataset;
use crate::error::DetectionError;

impl Sample {
    /// The sample of an image of a COCO data set, without its crowds. Boxes are limited to the picture, and an object
    /// whose box is then empty is left out. If the data set does not know the size of the image, polygons are drawn in
    /// the picture's size, and an object has no mask if
    /// [`RunLengths::try_from_polygons`](crate::RunLengths::try_from_polygons) refuses them. The label is
    /// [`CocoDataset::label_of`]. An image that the data set does not have is a sample without objects.
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
        let limits = size.map(|side| side as f64);
        let drawn_in = dataset.image(image_id).and_then(|image| image.size).unwrap_or(size);
        let annotations = dataset
            .annotations_of(image_id)
            .filter(|annotation| !annotation.is_crowd);
        let objects = annotations.filter_map(|annotation| {
            let corners = annotation.corners_in(limits)?;
            let mask = annotation.segmentation.as_ref();
            let keypoints = annotation.keypoints.iter().flatten();
            Some(Object {
                mask: mask.and_then(|mask| mask.drawn(Some(drawn_in))),
                keypoints: keypoints.map(|keypoint| keypoint.map(|value| value as f32)).collect(),
                ..Object::new(corners, dataset.label_of(annotation.category_id)?)
            })
        });
        Self::try_new(size, pixels, objects.collect())
    }
}
