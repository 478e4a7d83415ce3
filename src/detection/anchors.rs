//! [`AnchorGenerator`]: the anchors of a region proposal network.

use burn::config::Config;
use burn::module::Module;
use burn::tensor::{Device, Tensor, TensorData};

use super::arguments;
use crate::error::{RoiError, or_panic};

/// The sizes and aspect ratios of anchors. The semantics are those of torchvision's `AnchorGenerator`
/// (`torchvision.models.detection.anchor_utils`).
///
/// Each pixel of feature map l has one anchor for each pair of an aspect ratio of `aspect_ratios[l]` and a size of
/// `sizes[l]`. The first anchors are those of the first aspect ratio, in the order of the sizes: the order of the
/// channels of a region proposal network.
///
/// ```
/// use burn::tensor::Device;
/// use burn_roi::detection::AnchorGeneratorConfig;
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
#[derive(Config, Debug, PartialEq)]
pub struct AnchorGeneratorConfig {
    /// For each feature map the sizes of its anchors: the square roots of their areas, in pixels of the image. Finite
    /// and above 0.
    pub sizes: Vec<Vec<f64>>,
    /// For each feature map the aspect ratios of its anchors: height divided by width. Finite and above 0.
    pub aspect_ratios: Vec<Vec<f64>>,
}

impl AnchorGeneratorConfig {
    /// Creates the generator.
    ///
    /// # Panics
    ///
    /// Where [`try_init`](AnchorGeneratorConfig::try_init) returns an error, with its text.
    pub fn init(&self) -> AnchorGenerator {
        or_panic(self.try_init())
    }

    /// [`init`](AnchorGeneratorConfig::init) that returns an error instead of panicking.
    ///
    /// # Errors
    ///
    /// - [`RoiError::Length`]: `aspect_ratios` has not as many lists as `sizes`.
    /// - [`RoiError::Option`]: an element of `sizes` or `aspect_ratios` is not finite and above 0.
    pub fn try_init(&self) -> Result<AnchorGenerator, RoiError> {
        let (levels, lists) = (self.sizes.len(), self.aspect_ratios.len());
        arguments::length("aspect_ratios", lists, levels, "list of `sizes`")?;
        all_positive("sizes", &self.sizes)?;
        all_positive("aspect_ratios", &self.aspect_ratios)?;
        let levels = self.sizes.iter().zip(&self.aspect_ratios);
        Ok(AnchorGenerator {
            base_anchors: levels
                .map(|(sizes, aspect_ratios)| base_anchors(sizes, aspect_ratios))
                .collect(),
        })
    }
}

/// Places anchors on feature maps. Created by [`AnchorGeneratorConfig::init`].
#[derive(Module, Debug)]
pub struct AnchorGenerator {
    /// For each feature map the anchors of a pixel, centred on 0.
    #[module(skip)]
    base_anchors: Vec<Vec<[f32; 4]>>,
}

impl AnchorGenerator {
    /// For each feature map the number of anchors of a pixel.
    pub fn num_anchors_per_location(&self) -> Vec<usize> {
        self.base_anchors.iter().map(Vec::len).collect()
    }

    /// The anchors of each feature map.
    ///
    /// - `image_size`: `[height, width]` of the images as the network gets them, in pixels: the size of the batch with
    ///   its padding.
    /// - `map_sizes`: `[H, W]` of each feature map. The distance of its pixels in the image is `image_size / map_size`,
    ///   rounded down, as in torchvision.
    /// - Returns for each feature map `[H * W * A, 4]`, where A is its number of anchors per pixel: the anchors
    ///   `[x1, y1, x2, y2]` in pixels of the image, in the device's float dtype. The order is row by row, and at each
    ///   pixel that of [`AnchorGeneratorConfig`]. Anchors are not clipped to the image.
    ///
    /// # Panics
    ///
    /// Where [`try_forward`](AnchorGenerator::try_forward) returns an error, with its text.
    pub fn forward(&self, image_size: [usize; 2], map_sizes: &[[usize; 2]], device: &Device) -> Vec<Tensor<2>> {
        or_panic(self.try_forward(image_size, map_sizes, device))
    }

    /// [`forward`](AnchorGenerator::forward) that returns an error instead of panicking.
    ///
    /// # Errors
    ///
    /// [`RoiError::Length`]: `map_sizes` has not one size for each list of the configuration's `sizes`.
    pub fn try_forward(
        &self,
        image_size: [usize; 2],
        map_sizes: &[[usize; 2]],
        device: &Device,
    ) -> Result<Vec<Tensor<2>>, RoiError> {
        let levels = self.base_anchors.len();
        arguments::length("map_sizes", map_sizes.len(), levels, "list of `sizes`")?;
        Ok(self
            .base_anchors
            .iter()
            .zip(map_sizes)
            .map(|(base_anchors, &map_size)| on_map(base_anchors, image_size, map_size, device))
            .collect())
    }
}

/// The anchors of one pixel, centred on 0 and rounded to whole pixels, computed in f32 as in torchvision.
fn base_anchors(sizes: &[f64], aspect_ratios: &[f64]) -> Vec<[f32; 4]> {
    let mut anchors = Vec::with_capacity(sizes.len() * aspect_ratios.len());
    for &ratio in aspect_ratios {
        let height_ratio = (ratio as f32).sqrt();
        let width_ratio = 1.0 / height_ratio;
        for &size in sizes {
            let width = (width_ratio * size as f32 / 2.0).round_ties_even();
            let height = (height_ratio * size as f32 / 2.0).round_ties_even();
            anchors.push([-width, -height, width, height]);
        }
    }
    anchors
}

/// The anchors of one feature map, `[H * W * A, 4]`.
fn on_map(
    base_anchors: &[[f32; 4]],
    image_size: [usize; 2],
    [height, width]: [usize; 2],
    device: &Device,
) -> Tensor<2> {
    let (pixels, count) = (height * width, base_anchors.len());
    if pixels * count == 0 {
        return Tensor::zeros([0, 4], device);
    }
    let (stride_y, stride_x) = (image_size[0] / height, image_size[1] / width);
    let shifts: Vec<f32> = (0..pixels)
        .map(|pixel| ((pixel % width * stride_x) as f32, (pixel / width * stride_y) as f32))
        .flat_map(|(x, y)| [x, y, x, y])
        .collect();
    let shape = [pixels, count, 4];
    let shifts = Tensor::<3>::from_data(TensorData::new(shifts, [pixels, 1, 4]), device);
    let base_anchors = TensorData::new(base_anchors.concat(), [1, count, 4]);
    let base_anchors = Tensor::<3>::from_data(base_anchors, device);
    (shifts.expand(shape) + base_anchors.expand(shape)).reshape([pixels * count, 4])
}

fn all_positive(argument: &'static str, lists: &[Vec<f64>]) -> Result<(), RoiError> {
    let fits = |value: &f64| value.is_finite() && *value > 0.0;
    match lists.iter().flatten().find(|value| !fits(value)) {
        None => Ok(()),
        Some(value) => Err(RoiError::Option {
            argument,
            value: format!("{value} for one feature map"),
            expected: "finite and above 0",
        }),
    }
}
