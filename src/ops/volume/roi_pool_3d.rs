//! `roi_pool_3d`: divides each region into bins of whole voxels and takes their maxima.

use super::module::operator_3d;
use super::operators::Operates3d;
use crate::ops::RoiPoolConfig;
use crate::ops::prelude::*;

config! {
/// The options of [`roi_pool_3d`]: those of [`RoiPoolConfig`] along three axes, in the order z, y, x.
///
/// ```
/// use burn_roi::RoiPool3dConfig;
///
/// let config = RoiPool3dConfig::new([4, 7, 7]).with_spatial_scale([0.25; 3]);
/// assert_eq!(config.minimum_length, Some(1.0));
/// ```
#[derive(Debug, PartialEq)]
pub struct RoiPool3dConfig {
    /// Depth P, height Q and width R of the output, 1 to 32767 each; Q times R is at most 32767.
    pub output_size: [usize; 3],
    /// From box coordinates to slices, rows and columns of the map.
    pub spatial_scale: [f64; 3] = [1.0; 3],
    /// Whether box coordinates are rounded before or after they are scaled, or not at all.
    pub rounding: BoxRounding = BoxRounding::AfterScaling,
    /// How bins are divided.
    pub division: BinDivision = BinDivision::Rounded,
    /// The least length of a region along each axis, a whole number of voxels of the map, 0 to 65535. If `None`, an
    /// inverted region has no voxel.
    pub minimum_length: Option<f64> = Some(1.0),
    /// The initial value of a maximum: the result of a bin whose voxels are all smaller or NaN.
    pub maximum_from: MaximumFrom = MaximumFrom::LeastSingle,
}
}

impl Operates3d for RoiPool3dConfig {
    fn output_size(&self) -> (&'static str, [usize; 3]) {
        ("output_size", self.output_size)
    }

    fn operator(&self, [y, x]: [usize; 2]) -> Result<RegionOperator, RoiError> {
        options::scale("spatial_scale", self.spatial_scale[y])?;
        options::scale("spatial_scale", self.spatial_scale[x])?;
        RoiPoolConfig {
            output_size: [self.output_size[y], self.output_size[x]],
            spatial_scale_y: self.spatial_scale[y],
            spatial_scale_x: self.spatial_scale[x],
            rounding: self.rounding,
            division: self.division,
            minimum_length: self.minimum_length,
            maximum_from: self.maximum_from,
        }
        .operator(false)
    }
}

operator_3d! {
/// Takes the maxima of bins of regions of volumes: `[N, C, D, H, W]` and K regions to `[K, C, P, Q, R]`.
///
/// - `features`: `[N, C, D, H, W]`.
/// - `rois`: boxes of three axes, both corners inclusive, in voxels of the image, which `spatial_scale` turns into
///   voxels of the map. A box may be empty, inverted, or partly or wholly outside of the map.
/// - Returns `[K, C, P, Q, R]`. A bin without a voxel of the map returns 0. NaN is ignored.
///
/// Along each axis the bins are those of [`roi_pool`](crate::roi_pool()). Of equal maxima, the first in the order z, y,
/// x gets the gradient. The gradient of boxes is 0.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi::{BoxFormat3d, RoiPool3dConfig, Rois3d, roi_pool_3d};
///
/// let device = Device::default();
/// let features = Tensor::<5>::ones([1, 8, 12, 24, 24], &device);
/// let boxes = Tensor::<2>::from_floats([[4.0, 4.0, 40.0, 32.0, 2.0, 14.0]], &device);
/// let rois = Rois3d::from_images(vec![boxes], BoxFormat3d::Xyxyzz);
/// let config = RoiPool3dConfig::new([2, 7, 7]).with_spatial_scale([0.5, 0.25, 0.25]);
/// assert_eq!(roi_pool_3d(features, &rois, config).dims(), [1, 8, 2, 7, 7]);
/// ```
fn roi_pool_3d(RoiPool3dConfig) -> RoiPool3d;
/// - [`RoiError::Option`]: an output size of 0, above 32767 or with a slice of more than 32767 elements; another option
///   out of the range that [`try_roi_pool`](crate::try_roi_pool) names.
fn try_roi_pool_3d;
}
