//! [`heatmaps_to_keypoints`]: the keypoints of each detection from the heatmaps of a Keypoint R-CNN.

use burn::tensor::{Tensor, TensorData};

use super::cubic::{CubicTaps, Peak, peak};
use super::{arguments, host};
use crate::error::DetectionError;
use crate::forms::blocking_forms;
use burn_roi::{MAXIMUM_OUTPUT_SIZE, RoiError};

blocking_forms!(
    /// Finds the keypoints of each detection in its heatmaps. Same semantics as torchvision's `heatmaps_to_keypoints`
    /// (`torchvision.models.detection.roi_heads`).
    ///
    /// Each heatmap is resized to its box by bicubic interpolation without aligned corners. The sides of the box are
    /// rounded up for that, and are at least one pixel long. The keypoint is the centre of the pixel with the largest
    /// value, and of equal values the first.
    ///
    /// - `maps`: `[K, P, H, W]`, the heatmaps of P keypoints for each of K detections, of any float dtype.
    /// - `boxes`: `[K, 4]`, each `[x1, y1, x2, y2]` in pixels, of any float dtype.
    /// - Returns `[K, P, 3]`, the keypoints as x, y in pixels and a visibility of 1, and `[K, P]`, the largest values.
    ///   Both are of the dtype of `maps`.
    ///
    /// Heatmaps and boxes are read back to the host, which computes in f32. A NaN counts as the largest value of its
    /// heatmap, as in torch.
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use burn_roi_detection::heatmaps_to_keypoints;
    ///
    /// let device = Device::default();
    /// let maps = Tensor::<4>::from_floats([[[[0.0, 0.0], [0.0, 7.0]]]], &device);
    /// let boxes = Tensor::<2>::from_floats([[10.0, 20.0, 12.0, 22.0]], &device);
    /// let (keypoints, scores) = heatmaps_to_keypoints(maps, boxes);
    /// assert_eq!(keypoints.try_into_vec_as::<f32>().unwrap(), [11.5, 21.5, 1.0]);
    /// assert_eq!(scores.try_into_vec_as::<f32>().unwrap(), [7.0]);
    /// ```
    pub async fn heatmaps_to_keypoints(
        maps: Tensor<4>,
        boxes: Tensor<2>,
    ) -> Result<(Tensor<3>, Tensor<2>), DetectionError> {
        //! Async form of [`heatmaps_to_keypoints`]. Use it on WebGPU in a browser, which cannot block.
        //!
        //! # Errors
        //!
        //! - `RoiError::Shape`: `boxes` is not `[K, 4]`, or `maps` is not `[K, P, H, W]` with H and W above 0.
        //! - [`DetectionError::Length`]: `maps` does not have the heatmaps of one detection for each box.
        //! - `RoiError::Device`: `boxes` is on another device than `maps`.
        //! - `RoiError::BoxNotFinite`: a coordinate of `boxes` is NaN or infinite.
        //! - [`DetectionError::BoxTooLong`]: a side of a box is longer than
        //!   [`MAXIMUM_OUTPUT_SIZE`](burn_roi::MAXIMUM_OUTPUT_SIZE).

        let count = arguments::boxes("boxes", &boxes)?;
        let [rows, points, height, width] = maps.dims();
        arguments::length("maps", rows, count, "row of `boxes`")?;
        let expected = "[K, P, H, W], with H and W above 0";
        arguments::check_shape("maps", height.min(width) > 0, &maps.dims(), expected)?;
        arguments::device("boxes", &boxes, "maps", &maps)?;
        let places = read_places(&boxes).await?;
        let pixels: Vec<f32> = host::read_floats(&maps)
            .await?
            .into_iter()
            .map(|pixel| pixel as f32)
            .collect();

        let (mut keypoints, mut scores) = (Vec::new(), Vec::new());
        for (place, maps) in places.iter().zip(pixels.chunks(points.max(1) * height * width)) {
            let [columns, rows] = [
                CubicTaps::of(width, place.sizes[0]),
                CubicTaps::of(height, place.sizes[1]),
            ];
            for map in maps.chunks(height * width) {
                let Peak { x, y, value } = peak(map, &columns, &rows);
                keypoints.extend([place.coordinate(0, x), place.coordinate(1, y), 1.0]);
                scores.push(value);
            }
        }
        let options = (&maps.device(), maps.dtype());
        let keypoints = Tensor::from_data(TensorData::new(keypoints, [count, points, 3]), options);
        let scores = Tensor::from_data(TensorData::new(scores, [count, points]), options);
        Ok((keypoints, scores))
    }
);

/// Where the resized heatmap of a detection lies. Arrays have x first.
struct Place {
    /// The first corner of the box.
    first: [f32; 2],
    /// The sides of the box, at least one pixel long.
    lengths: [f32; 2],
    /// The pixels of the resized heatmap: the sides rounded up.
    sizes: [usize; 2],
}

impl Place {
    /// The centre of a pixel of the resized heatmap. The order of operations is torchvision's.
    fn coordinate(&self, axis: usize, pixel: usize) -> f32 {
        let correction = self.lengths[axis] / self.sizes[axis] as f32;
        (pixel as f32 + 0.5) * correction + self.first[axis]
    }
}

async fn read_places(boxes: &Tensor<2>) -> Result<Vec<Place>, DetectionError> {
    let place = |(row, &coordinates): (usize, &[f64; 4])| {
        if coordinates.iter().any(|coordinate| !coordinate.is_finite()) {
            return Err(RoiError::BoxNotFinite { row, coordinates }.into());
        }
        let [x1, y1, x2, y2] = coordinates.map(|coordinate| coordinate as f32);
        let lengths = [x2 - x1, y2 - y1].map(|length| length.max(1.0));
        if lengths.iter().any(|&length| length > MAXIMUM_OUTPUT_SIZE as f32) {
            return Err(DetectionError::BoxTooLong {
                row,
                coordinates,
                longest: MAXIMUM_OUTPUT_SIZE,
            });
        }
        Ok(Place {
            first: [x1, y1],
            lengths,
            sizes: lengths.map(|length| length.ceil() as usize),
        })
    };
    host::read_boxes(boxes).await?.iter().enumerate().map(place).collect()
}
