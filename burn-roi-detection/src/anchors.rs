//! [`AnchorGenerator`]: the anchors of a region proposal network.

use burn::tensor::{DType, Device, Tensor, TensorData};

use super::arguments;
use super::base_anchors::{BaseAnchors, half_sizes};
use crate::error::DetectionError;
use burn_roi::config;
use burn_roi::internal::{check_memory, or_panic};

config! {
/// The sizes and aspect ratios of anchors. The defaults have the semantics of torchvision's `AnchorGenerator`
/// (`torchvision.models.detection.anchor_utils`).
///
/// Each pixel of feature map l has one anchor for each pair of an aspect ratio of `aspect_ratios[l]` and a size of
/// `sizes[l]`. [`BaseAnchors`] decides their order, which is the order of the channels of a region proposal network. By
/// default all sizes of the first aspect ratio come first.
///
/// ```
/// use burn::tensor::Device;
/// use burn_roi_detection::AnchorGeneratorConfig;
///
/// // The anchors of torchvision's Faster R-CNN with a feature pyramid.
/// let sizes = [32.0, 64.0, 128.0, 256.0, 512.0].map(|size| vec![size]).to_vec();
/// let aspect_ratios = vec![vec![0.5, 1.0, 2.0]; sizes.len()];
/// let generator = AnchorGeneratorConfig::new(sizes, aspect_ratios).init();
/// assert_eq!(generator.num_anchors_per_location(), [3; 5]);
///
/// let map_sizes = [[200, 304], [100, 152], [50, 76], [25, 38], [13, 19]];
/// let anchors = generator.forward([800, 1216], &map_sizes, &Device::default());
/// assert_eq!(anchors[0].dims(), [200 * 304 * 3, 4]);
/// ```
///
/// The anchors of detectron2 are not rounded, and its strides do not depend on the image:
///
/// ```
/// use burn::tensor::Device;
/// use burn_roi_detection::{AnchorGeneratorConfig, BaseAnchors};
///
/// let generator = AnchorGeneratorConfig::new(vec![vec![32.0]], vec![vec![1.0]])
///     .with_base_anchors(BaseAnchors::Detectron2)
///     .with_strides(Some(vec![4]))
///     .with_offset(0.5)
///     .init();
/// let anchors = generator.forward([4, 8], &[[1, 2]], &Device::default());
/// let expected = [-14.0, -14.0, 18.0, 18.0, -10.0, -14.0, 22.0, 18.0];
/// assert_eq!(anchors[0].clone().try_into_vec_as::<f32>().unwrap(), expected);
/// ```
#[derive(Debug, PartialEq)]
pub struct AnchorGeneratorConfig {
    /// For each feature map the sizes of its anchors: the square roots of their areas, in pixels of the image. Finite
    /// and above 0.
    pub sizes: Vec<Vec<f64>>,
    /// For each feature map the aspect ratios of its anchors: height divided by width. Finite and above 0.
    pub aspect_ratios: Vec<Vec<f64>>,
    /// Whether anchors are rounded to whole pixels, and their order. torchvision's by default.
    pub base_anchors: BaseAnchors = BaseAnchors::Torchvision,
    /// The distance from the corner of a pixel of the feature map to the centre of its anchors, as a fraction of the
    /// stride along each axis: detectron2's `offset`, mmdetection's `center_offset`. From 0 to 1; 0 is torchvision's.
    pub offset: f64 = 0.0,
    /// For each feature map the distance of its pixels in the image, in pixels, above 0: what detectron2 and
    /// mmdetection are configured with. Without it the distance is `image_size / map_size`, rounded down, as in
    /// torchvision. The two differ for a feature map whose height or width was rounded up: an image 800 pixels high
    /// with a map of 13 rows has a distance of 61, not 64.
    pub strides: Option<Vec<usize>> = None,
}
}

impl AnchorGeneratorConfig {
    /// Creates the generator.
    ///
    /// # Panics
    ///
    /// If [`try_init`](AnchorGeneratorConfig::try_init) returns an error, with its text.
    pub fn init(&self) -> AnchorGenerator {
        or_panic(self.try_init())
    }

    /// Fallible form of [`init`](AnchorGeneratorConfig::init).
    ///
    /// # Errors
    ///
    /// - [`DetectionError::Length`]: `aspect_ratios` does not have as many lists as `sizes`, or `strides` not one
    ///   element for each.
    /// - `RoiError::Option`: an element of `sizes` or `aspect_ratios` is not finite and above 0, or a pair of them
    ///   makes an anchor that is not finite in f32; `offset` is not from 0 to 1; or an element of `strides` is 0.
    pub fn try_init(&self) -> Result<AnchorGenerator, DetectionError> {
        let (levels, lists) = (self.sizes.len(), self.aspect_ratios.len());
        arguments::length("aspect_ratios", lists, levels, "list of `sizes`")?;
        all_positive("sizes", &self.sizes)?;
        all_positive("aspect_ratios", &self.aspect_ratios)?;
        if !(0.0..=1.0).contains(&self.offset) {
            return Err(arguments::option("offset", self.offset, "from 0 to 1"));
        }
        if let Some(strides) = &self.strides {
            arguments::length("strides", strides.len(), levels, "list of `sizes`")?;
            if strides.contains(&0) {
                return Err(arguments::option(
                    "strides",
                    format!("{strides:?}"),
                    "above 0 for each feature map",
                ));
            }
        }
        let levels = self.sizes.iter().zip(&self.aspect_ratios);
        Ok(AnchorGenerator {
            half_sizes: levels
                .map(|(sizes, aspect_ratios)| half_sizes(self.base_anchors, sizes, aspect_ratios))
                .collect::<Result<_, _>>()?,
            offset: self.offset,
            strides: self.strides.clone(),
        })
    }
}

/// Places anchors on feature maps. Created by [`AnchorGeneratorConfig::init`].
#[derive(Debug, Clone)]
pub struct AnchorGenerator {
    /// For each feature map half of the width and height of each anchor of a pixel.
    half_sizes: Vec<Vec<[f32; 2]>>,
    offset: f64,
    strides: Option<Vec<usize>>,
}

impl AnchorGenerator {
    /// For each feature map the number of anchors of a pixel.
    pub fn num_anchors_per_location(&self) -> Vec<usize> {
        self.half_sizes.iter().map(Vec::len).collect()
    }

    /// The anchors of each feature map.
    ///
    /// - `image_size`: `[height, width]` of the images as the network gets them, in pixels: the size of the batch with
    ///   its padding. It is not used if the configuration has strides.
    /// - `map_sizes`: `[H, W]` of each feature map. The distance of its pixels in the image is the configuration's
    ///   stride, or without strides `image_size / map_size` rounded down.
    /// - Returns for each feature map `[H * W * A, 4]`, where A is its number of anchors per pixel: the anchors
    ///   `[x1, y1, x2, y2]` in pixels of the image, in the device's float dtype. The order is row by row, and at each
    ///   pixel as in [`AnchorGeneratorConfig`]. Anchors are not clipped to the image.
    ///
    /// # Panics
    ///
    /// If [`try_forward`](AnchorGenerator::try_forward) returns an error, with its text.
    pub fn forward(&self, image_size: [usize; 2], map_sizes: &[[usize; 2]], device: &Device) -> Vec<Tensor<2>> {
        or_panic(self.try_forward(image_size, map_sizes, device))
    }

    /// Fallible form of [`forward`](AnchorGenerator::forward).
    ///
    /// # Errors
    ///
    /// - [`DetectionError::Length`]: `map_sizes` does not have one size for each list of the configuration's `sizes`.
    /// - `RoiError::Memory`: an element of `map_sizes` has so many anchors that no memory can hold them.
    pub fn try_forward(
        &self,
        image_size: [usize; 2],
        map_sizes: &[[usize; 2]],
        device: &Device,
    ) -> Result<Vec<Tensor<2>>, DetectionError> {
        arguments::length("map_sizes", map_sizes.len(), self.half_sizes.len(), "list of `sizes`")?;
        for (&[height, width], half_sizes) in map_sizes.iter().zip(&self.half_sizes) {
            let shape = [height, width, half_sizes.len(), 4];
            check_memory("anchors of a feature map", &shape, DType::F32, device)?;
        }
        let levels = map_sizes.iter().enumerate();
        Ok(levels
            .map(|(level, &map_size)| self.on_map(level, image_size, map_size, device))
            .collect())
    }

    /// The anchors of one feature map, `[H * W * A, 4]`.
    fn on_map(&self, level: usize, image_size: [usize; 2], [height, width]: [usize; 2], device: &Device) -> Tensor<2> {
        let half_sizes = &self.half_sizes[level];
        let (pixels, count) = (height * width, half_sizes.len());
        if pixels * count == 0 {
            return Tensor::zeros([0, 4], device);
        }
        let [stride_y, stride_x] = match &self.strides {
            Some(strides) => [strides[level]; 2],
            None => [image_size[0] / height, image_size[1] / width],
        };
        // The position along an axis of the centre of a pixel's anchors.
        let centre = |index: usize, stride: usize| {
            let stride = stride as f64;
            (self.offset * stride + index as f64 * stride) as f32
        };
        let centres: Vec<f32> = (0..pixels)
            .map(|pixel| {
                let [y, x] = [pixel / width, pixel % width];
                [centre(x, stride_x), centre(y, stride_y)]
            })
            .flat_map(|[x, y]| [x, y, x, y])
            .collect();
        let base_anchors: Vec<f32> = half_sizes.iter().flat_map(|[x, y]| [-x, -y, *x, *y]).collect();
        let shape = [pixels, count, 4];
        let centres = Tensor::<3>::from_data(TensorData::new(centres, [pixels, 1, 4]), device);
        let base_anchors = Tensor::<3>::from_data(TensorData::new(base_anchors, [1, count, 4]), device);
        (centres.expand(shape) + base_anchors.expand(shape)).reshape([pixels * count, 4])
    }
}

fn all_positive(argument: &'static str, lists: &[Vec<f64>]) -> Result<(), DetectionError> {
    let fits = |value: &f64| value.is_finite() && *value > 0.0;
    match lists.iter().flatten().find(|value| !fits(value)) {
        None => Ok(()),
        Some(value) => Err(arguments::option(
            argument,
            format!("{value} for one feature map"),
            "finite and above 0",
        )),
    }
}
