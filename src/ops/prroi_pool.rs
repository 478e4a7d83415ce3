//! `prroi_pool`: the mean of the bilinear map over each bin, by integration.

use super::prelude::*;

config! {
/// The options of [`prroi_pool`]. [`mmcv::PrRoiPool`](crate::mmcv::PrRoiPool) has mmcv's option names.
///
/// Along each axis, for a region from `a` to `b` and `P` bins:
///
/// ```text
/// start = a * spatial_scale
/// size  = max(b * spatial_scale - start, 0)
/// bin p covers [start + p * size / P, start + (p + 1) * size / P]
/// ```
///
/// Pixel `i` lies at position `i`. There is no offset of half a pixel.
///
/// ```
/// use burn_roi::PrRoiPoolConfig;
///
/// let config = PrRoiPoolConfig::new([7, 7]).with_spatial_scale(1.0 / 16.0);
/// assert_eq!(config.spatial_scale, 0.0625);
/// ```
#[derive(Debug, PartialEq)]
pub struct PrRoiPoolConfig {
    /// Height P and width Q of the output, 1 to 32767.
    pub output_size: [usize; 2],
    /// From box coordinates to pixels of the map.
    pub spatial_scale: f64 = 1.0,
}
}

impl ToRegionOperator for PrRoiPoolConfig {
    fn operator(&self, _has_offsets: bool) -> Result<RegionOperator, RoiError> {
        options::output_size("output_size", self.output_size)?;
        options::scale("spatial_scale", self.spatial_scale)?;
        let elements = Elements::Integrals([self.spatial_scale; 2]);
        Ok(RegionOperator::average(self.output_size, elements))
    }
}

operator! {
/// Precise RoI Pooling: the exact mean of the bilinear map over bins of regions, `[N, C, H, W]` and K regions to `[K,
/// C, P, Q]`.
///
/// An element is the integral of the bilinearly interpolated map over its bin, divided by the bin's area. There are no
/// samples, so the output changes continuously with the boxes, and the gradient of the boxes is exact.
///
/// - `features`: `[N, C, H, W]`. Pixels outside of the map count as 0: from the centre of an outermost pixel, the map
///   falls to 0 within one pixel.
/// - `rois`: boxes `[x1, y1, x2, y2]` in pixels of the image, which `spatial_scale` turns into pixels of the map. A box
///   may lie partly or wholly outside.
/// - Returns `[K, C, P, Q]`. A region returns 0 if it is empty or inverted along an axis, or if its bins are shorter
///   than 1e-30 pixels.
///
/// The operator of IoU-Net (Jiang et al., 2018), as its authors' `PreciseRoIPooling` and mmcv's `prroi_pool`
/// compute it.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi::{PrRoiPoolConfig, Rois, prroi_pool};
///
/// let device = Device::default();
/// let features = Tensor::<4>::ones([1, 8, 38, 50], &device);
/// let boxes = Tensor::<2>::from_floats([[16.0, 16.0, 240.0, 128.0]], &device);
/// let config = PrRoiPoolConfig::new([7, 7]).with_spatial_scale(1.0 / 16.0);
/// let pooled = prroi_pool(features, &Rois::from_images(vec![boxes]), config);
/// assert_eq!(pooled.dims(), [1, 8, 7, 7]);
/// ```
fn prroi_pool(PrRoiPoolConfig { spatial_scale }, Rois) -> PrRoiPool;
/// - [`RoiError::Option`]: an output size of 0 or above 32767; a scale that is 0, negative or not finite.
/// - All other errors of [`try_roi_align`](crate::try_roi_align), for the same reasons.
fn try_prroi_pool;
}
