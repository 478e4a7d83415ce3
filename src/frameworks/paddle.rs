//! Paddle's `roi_pool` and `psroi_pool` of `paddle.vision.ops`, as the CPU kernels of release 3.3 compute them.
//!
//! Its boxes `[K, 4]` with `boxes_num`, the number of boxes of each image, are
//! [`Rois::from_images`](crate::Rois::from_images) of the boxes of each image.

use burn::config::Config;

use crate::geometry::operator::BoxRounding;
use crate::ops::{PsRoiPoolConfig, RoiPoolConfig};

/// The arguments of `paddle.vision.ops.roi_pool`. For features of f64, Paddle still divides bins in f32, and this crate in
/// f64.
#[derive(Config, Debug, PartialEq)]
pub struct RoiPool {
    /// Height and width of the output.
    pub output_size: [usize; 2],
    /// From box coordinates to pixels of the map.
    #[config(default = 1.0)]
    pub spatial_scale: f32,
}

impl From<RoiPool> for RoiPoolConfig {
    fn from(attributes: RoiPool) -> Self {
        RoiPoolConfig::new(attributes.output_size).with_spatial_scale(attributes.spatial_scale.into())
    }
}

/// The arguments of `paddle.vision.ops.psroi_pool`.
///
/// ```
/// use burn_roi::{PsRoiPoolConfig, paddle};
///
/// let config: PsRoiPoolConfig = paddle::PsRoiPool::new([7, 7]).with_spatial_scale(0.0625).into();
/// assert_eq!(config.minimum_length, 0.1);
/// ```
#[derive(Config, Debug, PartialEq)]
pub struct PsRoiPool {
    /// Height and width of the output.
    pub output_size: [usize; 2],
    /// From box coordinates to pixels of the map.
    #[config(default = 1.0)]
    pub spatial_scale: f32,
}

impl From<PsRoiPool> for PsRoiPoolConfig {
    fn from(attributes: PsRoiPool) -> Self {
        PsRoiPoolConfig::new(attributes.output_size)
            .with_spatial_scale(attributes.spatial_scale.into())
            .with_rounding(BoxRounding::BeforeScaling)
            .with_inclusive_end(true)
            .with_minimum_length(0.1)
            .with_reaches_last_pixel(true)
    }
}
