//! TensorRT's plugins `CropAndResizeDynamic` and `PyramidROIAlign_TRT`, as their documents and kernels describe them.
//! `ROIAlign_TRT` follows ONNX's rule: [`onnx::RoiAlign16`](burn_roi::onnx::RoiAlign16).
//!
//! No number here was compared with a run of TensorRT. The regions of each image have their own row of `rois`, and the
//! output `[N, K, C, P, Q]` as well.

use burn::tensor::Tensor;

use burn_roi::{CropAndResizeConfig, MultiScaleRoiAlignConfig, RoiAlignConfig, Rois, Sampling, config};

config! {
/// The attributes of `CropAndResizeDynamic`, and of its older name `CropAndResize`.
#[derive(Debug, PartialEq)]
pub struct CropAndResize {
    /// Height of a crop.
    pub crop_height: usize,
    /// Width of a crop.
    pub crop_width: usize,
}
}

impl CropAndResize {
    /// Crops the regions of each image.
    ///
    /// - `feature_maps`: `[N, C, H, W]`.
    /// - `rois`: `[N, K, 4, 1]`, boxes `[y1, x1, y2, x2]`: 0 is the centre of the first pixel, and 1 the centre of the
    ///   last.
    /// - Returns `[N, K, C, crop_height, crop_width]`.
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use burn_roi_detection::onnx::tensorrt;
    ///
    /// let device = Device::default();
    /// let features = Tensor::<4>::ones([2, 8, 20, 30], &device);
    /// let boxes = Tensor::<2>::from_floats([[0.1, 0.2, 0.6, 0.9], [0.0, 0.0, 1.0, 1.0]], &device);
    /// let rois = boxes.reshape([2, 1, 4, 1]);
    /// assert_eq!(tensorrt::CropAndResize::new(7, 9).pool(features, rois).dims(), [2, 1, 8, 7, 9]);
    /// ```
    ///
    /// # Panics
    ///
    /// If `rois` is not `[N, K, 4, 1]`, and where [`try_crop_and_resize`](burn_roi::try_crop_and_resize) gives an
    /// error.
    pub fn pool(&self, feature_maps: Tensor<4>, rois: Tensor<4>) -> Tensor<5> {
        let [images, count, columns, last] = rois.dims();
        assert!(
            [columns, last] == [4, 1],
            "`rois` has the shape {:?}; it must be [N, K, 4, 1]",
            rois.dims()
        );
        let channels = feature_maps.dims()[1];
        let regions = of_images(rois.reshape([images, count, 4]));
        let options = CropAndResizeConfig::new([self.crop_height, self.crop_width]);
        let pooled = burn_roi::crop_and_resize(feature_maps, &regions, options);
        pooled.reshape([images, count, channels, self.crop_height, self.crop_width])
    }
}

/// The attribute `roi_coords_transform` of `PyramidROIAlign_TRT`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum CoordinateTransform {
    /// 0: samples start at the edges of their elements.
    None,
    /// 1: samples are in the middle of their parts of an element.
    OutputHalfPixel,
    /// 2: half a pixel is subtracted from scaled coordinates as well.
    HalfPixel,
}

config! {
/// The attributes of `PyramidROIAlign_TRT`, without `roi_coords_plusone` and `legacy`, which must be 0.
#[derive(Debug, PartialEq)]
pub struct PyramidRoiAlign {
    /// Height and width of the output.
    pub pooled_size: usize = 7,
    /// Height and width of the image.
    pub image_size: [usize; 2] = [1024, 1024],
    /// A box with longer sides belongs to the third map or to the fourth.
    pub fpn_scale: usize = 224,
    /// Samples of an output element along each axis; 0 for the adaptive number.
    pub sampling_ratio: usize = 0,
    /// Whether boxes are in pixels of the image; otherwise the image is from 0 to 1.
    pub roi_coords_absolute: bool = true,
    /// Whether a box is `[y1, x1, y2, x2]` rather than `[x1, y1, x2, y2]`.
    pub roi_coords_swap: bool = false,
    /// How coordinates map to pixels.
    pub roi_coords_transform: CoordinateTransform = CoordinateTransform::HalfPixel,
}
}

impl PyramidRoiAlign {
    /// Pools each region from the map of its size. Boxes are cut to the image.
    ///
    /// - `rois`: `[N, K, 4]`.
    /// - `feature_maps`: four maps `[N, C, Hᵢ, Wᵢ]`, from the finest to the coarsest.
    /// - Returns `[N, K, C, pooled_size, pooled_size]`.
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use burn_roi_detection::onnx::tensorrt;
    ///
    /// let device = Device::default();
    /// let maps = [64, 32, 16, 8].map(|size| Tensor::<4>::ones([1, 8, size, size], &device)).into();
    /// let rois = Tensor::<2>::from_floats([[10.0, 20.0, 60.0, 90.0]], &device).reshape([1, 1, 4]);
    /// let attributes = tensorrt::PyramidRoiAlign::new().with_image_size([256, 256]);
    /// assert_eq!(attributes.pool(rois, maps).dims(), [1, 1, 8, 7, 7]);
    /// ```
    ///
    /// # Panics
    ///
    /// If there are not four maps, if a map is not scaled alike along both axes and on each level, and if
    /// [`try_multi_scale_roi_align`](burn_roi::try_multi_scale_roi_align) returns an error.
    pub fn pool(&self, rois: Tensor<3>, feature_maps: Vec<Tensor<4>>) -> Tensor<5> {
        let [images, count, _] = rois.dims();
        assert!(
            feature_maps.len() == 4,
            "there are {} maps; there must be 4",
            feature_maps.len()
        );
        let channels = feature_maps[0].dims()[1];
        let [height, width] = self.image_size.map(|size| size as f64);
        let scale = |map: &Tensor<4>| [map.dims()[2] as f64 / height, map.dims()[3] as f64 / width];
        let scales: Vec<_> = feature_maps.iter().map(scale).collect();
        let [first_y, first_x] = scales[0];
        for [y, x] in &scales {
            // Of whole numbers, so that equal ratios are equal but for their rounding.
            let same = (y * first_x / (x * first_y) - 1.0).abs() < 1e-9;
            assert!(
                same,
                "the scales {scales:?} of the maps must have one ratio of height to width"
            );
        }
        let levels: Vec<f64> = scales.iter().map(|[y, _]| *y).collect();
        let config = self.config(first_x / first_y);
        let pooled = burn_roi::multi_scale_roi_align(feature_maps, &of_images(self.boxes(rois)), &levels, config);
        pooled.reshape([images, count, channels, self.pooled_size, self.pooled_size])
    }

    /// The boxes as `[x1, y1, x2, y2]` in pixels of the image, cut to it.
    fn boxes(&self, rois: Tensor<3>) -> Tensor<3> {
        let column = |at: usize| rois.clone().narrow(2, at, 1);
        let [x1, y1, x2, y2] = if self.roi_coords_swap {
            [1, 0, 3, 2]
        } else {
            [0, 1, 2, 3]
        };
        let [height, width] = self.image_size.map(|size| size as f64);
        let ends = |low: usize, high: usize, size: f64| {
            let (low, high) = (column(low), column(high));
            let factor = if self.roi_coords_absolute { 1.0 } else { size };
            let held = |ends: Tensor<3>| ends.mul_scalar(factor).clamp(0.0, size);
            [held(low.clone().min_pair(high.clone())), held(low.max_pair(high))]
        };
        let ([x1, x2], [y1, y2]) = (ends(x1, x2, width), ends(y1, y2, height));
        Tensor::cat(vec![x1, y1, x2, y2], 2)
    }

    fn config(&self, x_per_y: f64) -> MultiScaleRoiAlignConfig {
        let samples = match self.sampling_ratio {
            // An empty region takes one sample.
            0 => Sampling::Clamped {
                minimum: 1,
                maximum: u32::MAX as usize,
            },
            ratio => Sampling::Fixed(ratio),
        };
        let half = |half| if half { 0.5 } else { 0.0 };
        let transform = self.roi_coords_transform;
        let roi_align = RoiAlignConfig::new([self.pooled_size; 2])
            .with_spatial_scale_x(x_per_y)
            .with_sampling(samples)
            .with_minimum_length(None)
            .with_input_pixel_offset(half(transform == CoordinateTransform::HalfPixel))
            .with_output_pixel_offset(-half(transform != CoordinateTransform::None));
        // A box whose sides are exactly the scale belongs to the finer map, so the scale is the next float.
        MultiScaleRoiAlignConfig::new(roi_align)
            .with_canonical_scale((self.fpn_scale as f32).next_up().into())
            .with_canonical_level(0)
            .with_first_level(Some(-2))
            .with_level_epsilon(0.0)
    }
}

/// The boxes `[N, K, 4]` of each image.
fn of_images(boxes: Tensor<3>) -> Rois {
    let [images, count, columns] = boxes.dims();
    let of_image = |image: usize| boxes.clone().narrow(0, image, 1).reshape([count, columns]);
    Rois::from_images((0..images).map(of_image).collect())
}
