//! [`AnchorGenerator`]: the anchors of a region proposal network.

use burn::tensor::{Device, Tensor};

use super::anchor_grid::{AnchorGrid, all_positive};
use super::arguments;
use super::base_anchors::{BaseAnchors, half_sizes};
use crate::error::DetectionError;
use burn_roi::config;
use burn_roi::internal::or_panic;

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
        let half_sizes = half_sizes_of_levels(self.base_anchors, &self.sizes, &self.aspect_ratios)?;
        let grid = AnchorGrid::new(half_sizes, self.offset, self.strides.as_deref(), |stride| [stride; 2])?;
        Ok(AnchorGenerator { grid })
    }
}

/// For each feature map half of the width and height of each anchor of a pixel.
pub fn half_sizes_of_levels(
    base_anchors: BaseAnchors,
    sizes: &[Vec<f64>],
    aspect_ratios: &[Vec<f64>],
) -> Result<Vec<Vec<[f32; 2]>>, DetectionError> {
    arguments::length("aspect_ratios", aspect_ratios.len(), sizes.len(), "list of `sizes`")?;
    all_positive("sizes", sizes)?;
    all_positive("aspect_ratios", aspect_ratios)?;
    let levels = sizes.iter().zip(aspect_ratios);
    levels
        .map(|(sizes, aspect_ratios)| half_sizes(base_anchors, sizes, aspect_ratios))
        .collect()
}

/// Places anchors on feature maps. Created by [`AnchorGeneratorConfig::init`].
#[derive(Debug, Clone)]
pub struct AnchorGenerator {
    grid: AnchorGrid<2>,
}

impl AnchorGenerator {
    /// For each feature map the number of anchors of a pixel.
    pub fn num_anchors_per_location(&self) -> Vec<usize> {
        self.grid.num_anchors_per_location()
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
    /// - [`DetectionError::Length`]: `map_sizes` does not have one size for each feature map of the config.
    /// - `RoiError::Memory`: an element of `map_sizes` has so many anchors that no memory can hold them.
    pub fn try_forward(
        &self,
        image_size: [usize; 2],
        map_sizes: &[[usize; 2]],
        device: &Device,
    ) -> Result<Vec<Tensor<2>>, DetectionError> {
        self.grid.anchors(image_size, map_sizes, device)
    }
}
