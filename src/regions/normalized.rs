//! Normalized boxes, which [`crop_and_resize`](crate::crop_and_resize()) takes: made from boxes in pixels, and checks
//! that boxes are normalized.

use burn::tensor::Tensor;

use super::{RegionTable, Rois};
use crate::error::RoiError;
use crate::read_back::wait;

impl Rois {
    /// Converts boxes `[x1, y1, x2, y2]` in pixels of an image to the normalized `[y1, x1, y2, x2]` of
    /// [`crop_and_resize`](crate::crop_and_resize()). It divides x by the width - 1 and y by the height - 1, so that
    /// pixel 0 becomes 0 and the last pixel becomes 1. The batch indices stay the same.
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use burn_roi::{CropAndResizeConfig, Rois, crop_and_resize};
    ///
    /// let device = Device::default();
    /// let image = Tensor::<4>::ones([1, 3, 241, 321], &device);
    /// let pixels = Tensor::<2>::from_floats([[32.0, 60.0, 160.0, 180.0]], &device);
    /// let rois = Rois::from_images(vec![pixels]).to_normalized([241, 321]);
    /// assert_eq!(rois.boxes().into_data().try_to_vec::<f32>().unwrap(), [0.25, 0.1, 0.75, 0.5]);
    /// assert_eq!(crop_and_resize(image, &rois, CropAndResizeConfig::new([64, 64])).dims(), [1, 3, 64, 64]);
    /// ```
    pub fn to_normalized(&self, [height, width]: [usize; 2]) -> Self {
        let boxes = self.boxes();
        // An image of one pixel has no distance between its first and its last pixel.
        let [last_y, last_x] = [height, width].map(|size| size.saturating_sub(1).max(1) as f64);
        let columns = [(1, last_y), (0, last_x), (3, last_y), (2, last_x)];
        let columns = columns.map(|(column, last)| boxes.clone().narrow(1, column, 1).div_scalar(last));
        let mut rois = self.clone();
        rois.boxes = Tensor::cat(columns.into(), 1);
        rois
    }

    /// Checks what [`validate`](Self::validate) checks, and that boxes are normalized: each coordinate must be from -1
    /// to 2. A box can then reach beyond the image by at most the image's size.
    ///
    /// [`crop_and_resize`](crate::crop_and_resize()) itself accepts any box, as TensorFlow does. If you pass a box in
    /// pixels, nearly the whole crop is the extrapolation value. This check finds such boxes.
    ///
    /// # Errors
    ///
    /// [`RoiError::BoxNotNormalized`] for the first row that is wrong, and all errors of [`validate`](Self::validate).
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use burn_roi::Rois;
    ///
    /// let device = Device::default();
    /// let pixels = Rois::from_images(vec![Tensor::<2>::from_floats([[32.0, 60.0, 160.0, 180.0]], &device)]);
    /// assert!(pixels.validate_normalized(1).is_err());
    /// assert!(pixels.to_normalized([241, 321]).validate_normalized(1).is_ok());
    /// ```
    pub fn validate_normalized(&self, batch: usize) -> Result<(), RoiError> {
        let future = self.validate_normalized_async(batch);
        wait("validate_normalized", "validate_normalized_async", future)
    }

    /// Async form of [`validate_normalized`](Self::validate_normalized). Use it on WebGPU in a browser, which cannot
    /// block.
    ///
    /// # Errors
    ///
    /// All errors of [`validate_normalized`](Self::validate_normalized) except [`RoiError::SynchronousRead`].
    pub async fn validate_normalized_async(&self, batch: usize) -> Result<(), RoiError> {
        let regions = self.regions().read(batch).await?;
        let near_image = |coordinate: &f64| (-1.0..=2.0).contains(coordinate);
        let outside = regions.iter().position(|region| !region.corners.iter().all(near_image));
        outside.map_or(Ok(()), |row| {
            Err(RoiError::BoxNotNormalized {
                row,
                coordinates: regions[row].corners,
            })
        })
    }
}
