//! `crop_and_resize_3d`: TensorFlow's rule along three axes.

use super::module::operator_3d;
use super::operators::Operates3d;
use crate::ops::CropAndResizeConfig;
use crate::ops::prelude::*;

config! {
/// The options of [`crop_and_resize_3d`]: those of [`CropAndResizeConfig`] along three axes.
///
/// ```
/// use burn_roi::CropAndResize3dConfig;
///
/// let config = CropAndResize3dConfig::new([8, 32, 32]).with_extrapolation_value(-1000.0);
/// assert_eq!(config.crop_size, [8, 32, 32]);
/// ```
#[derive(Debug, PartialEq)]
pub struct CropAndResize3dConfig {
    /// Depth P, height Q and width R of a crop, 1 to 32767 each; Q times R is at most 32767.
    pub crop_size: [usize; 3],
    /// What a point between voxels reads.
    pub method: Interpolation = Interpolation::Bilinear,
    /// The value of a point outside of the volume.
    pub extrapolation_value: f64 = 0.0,
    /// Whether the last slice, row and column of a crop lie exactly at the end of its box.
    pub ends_exactly: bool = false,
}
}

impl Operates3d for CropAndResize3dConfig {
    fn output_size(&self) -> (&'static str, [usize; 3]) {
        ("crop_size", self.crop_size)
    }

    fn operator(&self, [y, x]: [usize; 2]) -> Result<RegionOperator, RoiError> {
        CropAndResizeConfig {
            crop_size: [self.crop_size[y], self.crop_size[x]],
            method: self.method,
            extrapolation_value: self.extrapolation_value,
            box_format: BoxFormat::Xyxy,
            ends_exactly: self.ends_exactly,
        }
        .operator(false)
    }
}

operator_3d! {
/// Crops regions of volumes and resizes them: `[N, C, D, H, W]` and K regions to `[K, C, P, Q, R]`.
///
/// - `features`: `[N, C, D, H, W]`.
/// - `rois`: normalized boxes of three axes: 0 is the centre of the first voxel and 1 the centre of the last. A box may
///   reach beyond the volume. An inverted box flips the crop.
/// - Returns `[K, C, P, Q, R]`. The outermost points of a crop lie on the corners of its box; a crop of size 1 along an
///   axis reads the middle.
///
/// Along each axis it computes what [`crop_and_resize`](crate::crop_and_resize()) computes.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi::{BoxFormat3d, CropAndResize3dConfig, Rois3d, crop_and_resize_3d};
///
/// let device = Device::default();
/// let volume = Tensor::<5>::ones([1, 1, 40, 128, 128], &device);
/// let boxes = Tensor::<2>::from_floats([[0.2, 0.1, 0.1, 0.6, 0.5, 0.5]], &device);
/// let rois = Rois3d::from_images(vec![boxes], BoxFormat3d::Zyxzyx);
/// let crops = crop_and_resize_3d(volume, &rois, CropAndResize3dConfig::new([8, 32, 32]));
/// assert_eq!(crops.dims(), [1, 1, 8, 32, 32]);
/// ```
fn crop_and_resize_3d(CropAndResize3dConfig) -> CropAndResize3d;
/// - [`RoiError::Option`]: a crop size of 0, above 32767 or with a slice of more than 32767 elements; an extrapolation
///   value that is not finite.
fn try_crop_and_resize_3d;
}
