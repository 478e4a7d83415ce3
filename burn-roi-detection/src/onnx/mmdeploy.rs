//! mmdeploy's `NMSRotated`, as its code for onnxruntime describes it, and its `MMCVMultiLevelRoiAlign` of enlarged
//! boxes. Its other operators of regions are in [`burn_roi::mmcv`].

use burn::tensor::{Int, Tensor, TensorData};

use super::per_class;
use crate::boxes::upcast_dtype;
use crate::error::DetectionError;
use crate::forms::blocking_forms;
use crate::rotated::{RotatedBox, kept, read};
use crate::{arguments, host};
use burn_roi::{AngleConvention, MultiScaleRoiAlignConfig, RoiAlignConfig, Rois, config, mmcv, multi_scale_roi_align};

config! {
/// The attributes of `NMSRotated`.
#[derive(Debug, PartialEq)]
pub struct NmsRotated {
    /// A box is suppressed if its IoU with a kept box is above this.
    pub iou_threshold: f32,
    /// A box is left out unless its score is above this.
    pub score_threshold: f32,
}
}

blocking_forms!(
    /// mmdeploy's `NMSRotated`: NMS of rotated boxes for each class of each image.
    ///
    /// - `boxes`: `[N, K, 5]`, of N images, each `[cx, cy, w, h, angle]` in any unit, and the angle in radians. Whether
    ///   it turns a box clockwise does not matter, since the overlap of two boxes is the same.
    /// - `scores`: `[N, C, K]`: the scores of an image's boxes for each of C classes.
    /// - Both are of any float dtype. They are read back to the host, which computes as
    ///   [`nms_rotated`](crate::nms_rotated()) does.
    /// - Returns `[M, 3]`, the image, the class and the box of each kept one, in the device's integer dtype. They are
    ///   ordered by image, then by class, then by decreasing score. Of equal scores the lower index of the box comes
    ///   first.
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use burn_roi_detection::onnx::mmdeploy;
    ///
    /// let device = Device::default();
    /// let boxes = Tensor::<3>::from_floats([[[5.0, 5.0, 8.0, 2.0, 0.8], [5.0, 5.0, 8.0, 2.0, 0.9]]], &device);
    /// let scores = Tensor::<3>::from_floats([[[0.6, 0.9], [0.4, 0.1]]], &device);
    /// let kept = mmdeploy::nms_rotated(boxes, scores, &mmdeploy::NmsRotated::new(0.5, 0.3));
    /// assert_eq!(kept.try_into_vec_as::<i32>().unwrap(), [0, 0, 1, 0, 1, 0]);
    /// ```
    pub async fn nms_rotated(
        boxes: Tensor<3>,
        scores: Tensor<3>,
        options: &NmsRotated,
    ) -> Result<Tensor<2, Int>, DetectionError> {
        //! Async form of [`nms_rotated`]. Use it on WebGPU in a browser, which cannot block.
        //!
        //! # Errors
        //!
        //! - `RoiError::Shape`: `boxes` is not `[N, K, 5]`, or `scores` is not `[N, C, K]`.
        //! - `RoiError::Device`: `scores` is on another device than `boxes`.
        //! - `RoiError::Option`: `iou_threshold` is NaN.
        //! - [`DetectionError::RotatedBoxNotFinite`]: a box has a coordinate, a size or an angle that is NaN or
        //!   infinite.

        let [images, classes, count] = per_class::check(&boxes, &scores, 5, "[N, K, 5]")?;
        arguments::not_nan("iou_threshold", options.iou_threshold.into())?;
        let (device, dtype) = (boxes.device(), upcast_dtype(boxes.dtype()));
        if images * count * classes == 0 {
            return Ok(Tensor::from_data(TensorData::new(Vec::<i64>::new(), [0, 3]), &device));
        }
        let boxes = boxes.reshape([images * count, 5]);
        let boxes = read("boxes", &boxes, AngleConvention::RADIANS_CLOCKWISE).await?;
        let scores = host::read_floats(&scores).await?;
        let kept = |boxes: &[RotatedBox], scores: &[f64]| {
            let mut of_class = kept(boxes, dtype, scores, |_| 0, options.iou_threshold.into());
            of_class.retain(|&index| scores[index] > options.score_threshold.into());
            of_class
        };
        Ok(per_class::indices(&boxes, &scores, [classes, count], kept, &device))
    }
);

/// mmdeploy's `MMCVMultiLevelRoiAlign` with its attribute `roi_scale_factor`: a box of length l is enlarged to
/// `(l + 1) * roi_scale_factor - 1` about its centre, once its level is known.
///
/// - `feature_maps`: `[N, C, Hᵢ, Wᵢ]` for each level.
/// - `rois`: `[K, 5]`: batch index, x1, y1, x2, y2.
/// - `roi_scale_factor`: above 1.
/// - Returns `[K, C, P, Q]`. It is a call for each level, and one that finds the levels.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi::mmcv;
/// use burn_roi_detection::onnx::mmdeploy;
///
/// let device = Device::default();
/// let maps = vec![Tensor::<4>::ones([1, 8, 16, 16], &device), Tensor::<4>::ones([1, 8, 8, 8], &device)];
/// let rois = Tensor::<2>::from_floats([[0.0, 8.0, 8.0, 20.0, 24.0]], &device);
/// let attributes = mmcv::MultiLevelRoiAlign::new(vec![4.0, 8.0]);
/// let pooled = mmdeploy::multi_level_roi_align(maps, rois, attributes, 1.3);
/// assert_eq!(pooled.dims(), [1, 8, 7, 7]);
/// ```
///
/// # Panics
///
/// If `roi_scale_factor` is not above 1, and where
/// [`try_multi_scale_roi_align`](burn_roi::try_multi_scale_roi_align()) returns an error.
pub fn multi_level_roi_align(
    feature_maps: Vec<Tensor<4>>,
    rois: Tensor<2>,
    attributes: mmcv::MultiLevelRoiAlign,
    roi_scale_factor: f32,
) -> Tensor<4> {
    assert!(
        roi_scale_factor > 1.0,
        "`roi_scale_factor` is {roi_scale_factor}; it must be above 1"
    );
    let scales = attributes.scales();
    let config = MultiScaleRoiAlignConfig::from(attributes);
    let levels = levels(&feature_maps, &rois, &config);
    let rois = enlarged(rois, roi_scale_factor);
    // A box without area returns 0, so each call computes the boxes of its level only. No enlarged box has no area.
    let config = config.with_pools_empty(false);
    let maps = feature_maps.into_iter().zip(scales).enumerate();
    let pooled = maps.map(|(level, (map, scale))| {
        let others = levels.clone().not_equal_elem(level as f32).repeat_dim(1, 5);
        let rois = Rois::from_index_first(rois.clone().mask_fill(others, 0.0));
        multi_scale_roi_align(vec![map], &rois, &[scale], config.clone())
    });
    pooled
        .reduce(Tensor::add)
        .expect("the levels were found, so there is one")
}

/// The level of each box `[K, 1]`: the element of each box on maps that hold the numbers of their levels.
fn levels(feature_maps: &[Tensor<4>], rois: &Tensor<2>, config: &MultiScaleRoiAlignConfig) -> Tensor<2> {
    let numbers = feature_maps.iter().enumerate().map(|(level, map)| {
        let number = Tensor::<4>::full([map.dims()[0], 1, 1, 1], level as f32, &map.device());
        number.cast(map.dtype())
    });
    // With this scale all boxes lie on the only pixel.
    let scales = vec![1e-6; feature_maps.len()];
    let roi_align = RoiAlignConfig::new([1, 1]).with_sampling_ratio(1);
    let config = MultiScaleRoiAlignConfig {
        roi_align,
        ..config.clone()
    };
    let rois = Rois::from_index_first(rois.clone());
    multi_scale_roi_align(numbers.collect(), &rois, &scales, config).flatten::<2>(1, 3)
}

fn enlarged(rois: Tensor<2>, factor: f32) -> Tensor<2> {
    let columns = |range| rois.clone().slice_dim(1, range);
    let (low, high) = (columns(1..3), columns(3..5));
    let centres = (low.clone() + high.clone()) * 0.5;
    let halves = ((high - low + 1.0) * factor - 1.0) * 0.5;
    let (low, high) = (centres.clone() - halves.clone(), centres + halves);
    Tensor::cat(vec![columns(0..1), low, high], 1)
}
