//! mmcv's `prroi_pool`, by the rule of its CUDA kernel. It is that of the repository `vacancy/PreciseRoIPooling` of the
//! authors of Precise RoI Pooling.
//!
//! Its boxes `[K, 5]` with the batch index first are [`Rois::from_index_first`](crate::Rois::from_index_first).

use burn::config::Config;

use crate::ops::PrRoiPoolConfig;

/// The arguments of `mmcv.ops.prroi_pool`.
///
/// ```
/// use burn_roi::{PrRoiPoolConfig, mmcv};
///
/// let config: PrRoiPoolConfig = mmcv::PrRoiPool::new([7, 7]).with_spatial_scale(0.0625).into();
/// assert_eq!(config.spatial_scale, 0.0625);
/// ```
#[derive(Config, Debug, PartialEq)]
pub struct PrRoiPool {
    /// Height and width of the output.
    pub output_size: [usize; 2],
    /// From box coordinates to pixels of the map.
    #[config(default = 1.0)]
    pub spatial_scale: f32,
}

impl From<PrRoiPool> for PrRoiPoolConfig {
    fn from(attributes: PrRoiPool) -> Self {
        PrRoiPoolConfig::new(attributes.output_size).with_spatial_scale(attributes.spatial_scale.into())
    }
}
