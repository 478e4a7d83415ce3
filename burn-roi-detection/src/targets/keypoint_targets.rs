//! [`keypoints_to_heatmap`]: the pixel of a heatmap that each keypoint must be found at.

use burn::tensor::{Bool, DType, Int, Tensor, TensorData};

use super::ground_truth::finite_boxes;
use crate::error::DetectionError;
use crate::forms::blocking_forms;
use crate::{arguments, host};

/// x, y and the visibility of a keypoint.
pub type Keypoint = [f64; 3];

blocking_forms!(
    /// Finds the pixel of a heatmap that each keypoint lies in, for heatmaps that cover a box each. Same semantics as
    /// torchvision's `keypoints_to_heatmap` (`torchvision.models.detection.roi_heads`).
    ///
    /// A keypoint exactly at `x2` or `y2` of its box lies in the last column or row.
    ///
    /// - `keypoints`: `[K, P, 3]`, for each of K boxes its P keypoints `[x, y, visibility]` in pixels of the image, of
    ///   any float dtype. A keypoint is visible if its visibility is above 0.
    /// - `rois`: `[K, 4]`, each `[x1, y1, x2, y2]` in pixels of the image, in the dtype of `keypoints`.
    /// - `heatmap_size`: the height and width of a heatmap, 1 to 32767.
    /// - Returns `[K, P]`, the index of the pixel, `y * heatmap_size + x`, or 0, in the device's integer dtype; and
    ///   `[K, P]`, whether the keypoint is visible and lies in its box. torchvision returns 1 and 0 for that.
    ///
    /// Keypoints and boxes are read back to the host, which rounds each step to their dtype. The result is on the inner
    /// device if the keypoints are on an autodiff device.
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use burn_roi_detection::keypoints_to_heatmap;
    ///
    /// let device = Device::default();
    /// let keypoints = [[11.0, 23.0, 1.0], [20.0, 20.0, 1.0], [12.0, 22.0, 0.0], [9.0, 22.0, 1.0]];
    /// let keypoints = Tensor::<3>::from_floats([keypoints], &device);
    /// let rois = Tensor::<2>::from_floats([[10.0, 20.0, 20.0, 30.0]], &device);
    /// let (pixels, valid) = keypoints_to_heatmap(keypoints, rois, 5);
    /// assert_eq!(pixels.try_into_vec_as::<i32>().unwrap(), [5, 4, 0, 0]);
    /// // The third is not visible, and the last one lies to the left of the box.
    /// assert_eq!(valid.into_data().iter::<bool>().collect::<Vec<_>>(), [true, true, false, false]);
    /// ```
    pub async fn keypoints_to_heatmap(
        keypoints: Tensor<3>,
        rois: Tensor<2>,
        heatmap_size: usize,
    ) -> Result<(Tensor<2, Int>, Tensor<2, Bool>), DetectionError> {
        //! Async form of [`keypoints_to_heatmap`]. Use it on WebGPU in a browser, which cannot block.
        //!
        //! # Errors
        //!
        //! - `RoiError::Shape`: `keypoints` is not `[K, P, 3]`, or `rois` is not `[K, 4]`.
        //! - [`DetectionError::Length`]: `keypoints` does not have as many rows as `rois`.
        //! - `RoiError::Device`, `RoiError::DType`: `rois` differs from `keypoints`.
        //! - `RoiError::Option`: `heatmap_size` is 0 or above 32767.
        //! - [`DetectionError::Target`]: a box is not finite, a visible keypoint is not finite, or a visibility is NaN.
        //!   The image is 0.

        arguments::output_size("heatmap_size", heatmap_size)?;
        let count = arguments::boxes("rois", &rois)?;
        let [rows, points, _] = check_keypoints("keypoints", &keypoints)?;
        arguments::length("keypoints", rows, count, "row of `rois`")?;
        arguments::device_and_dtype("rois", &rois, "keypoints", &keypoints)?;
        let boxes = finite_boxes(0, "rois", &rois).await?;
        let all = read_keypoints(0, "keypoints", &keypoints).await?;

        let (mut indices, mut valid) = (Vec::new(), Vec::new());
        for (roi, keypoints) in boxes.iter().zip(all.chunks(points.max(1))) {
            for keypoint in keypoints {
                let pixel = pixel_of(keypoint, roi, heatmap_size, rois.dtype());
                indices.push(pixel.unwrap_or(0) as i64);
                valid.push(pixel.is_some());
            }
        }
        let device = keypoints.device().inner();
        let indices = Tensor::from_data(TensorData::new(indices, [count, points]), &device);
        let valid = Tensor::from_data(TensorData::new(valid, [count, points]), &device);
        Ok((indices, valid))
    }
);

/// The pixel of a heatmap of `size` x `size` that covers `roi`, or nothing if the keypoint is not visible or not in the
/// box. The order of operations is torchvision's, and each is rounded to `dtype`.
pub fn pixel_of(
    &[x, y, visibility]: &Keypoint,
    &[x1, y1, x2, y2]: &[f64; 4],
    size: usize,
    dtype: DType,
) -> Option<usize> {
    let round = |value| host::rounded(value, dtype);
    let index = |position: f64, first: f64, last: f64| {
        if position == last {
            return Some(size - 1);
        }
        let scale = round(size as f64 / round(last - first));
        let index = round(round(position - first) * scale).floor();
        // NaN, where the box has no extent, is in no range.
        (0.0..size as f64).contains(&index).then_some(index as usize)
    };
    match visibility > 0.0 {
        true => Some(index(y, y1, y2)? * size + index(x, x1, x2)?),
        false => None,
    }
}

/// Checks that a tensor holds keypoints, `[K, P, 3]`, and returns its shape.
pub fn check_keypoints(argument: &'static str, keypoints: &Tensor<3>) -> Result<[usize; 3], DetectionError> {
    match keypoints.dims() {
        dims @ [_, _, 3] => Ok(dims),
        dims => Err(arguments::shape(argument, &dims, "[K, P, 3]")),
    }
}

/// Reads and checks the keypoints of an image.
pub async fn read_keypoints(
    image: usize,
    argument: &'static str,
    keypoints: &Tensor<3>,
) -> Result<Vec<Keypoint>, DetectionError> {
    let [_, points, _] = keypoints.dims();
    let keypoints = host::read_rows(keypoints).await?;
    let fits = |[x, y, visibility]: &Keypoint| match *visibility > 0.0 {
        true => x.is_finite() && y.is_finite(),
        false => !visibility.is_nan(),
    };
    match keypoints.iter().position(|keypoint| !fits(keypoint)) {
        None => Ok(keypoints),
        Some(index) => {
            let value = format!("{:?}", keypoints[index]);
            let expected = "finite if it is visible, and its visibility not NaN";
            Err(arguments::target(argument, image, index / points, value, expected))
        }
    }
}
