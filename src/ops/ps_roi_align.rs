//! `ps_roi_align`: RoiAlign whose output elements each read a channel of their own.

use super::RoiAlignConfig;
use super::prelude::*;

config! {
/// The options of [`ps_roi_align`]. The defaults match torchvision's `ps_roi_align`.
/// [`torchvision::PsRoiAlign`](crate::torchvision::PsRoiAlign) and [`mxnet::PsRoiAlign`](crate::mxnet::PsRoiAlign) have
/// the frameworks' option names.
///
/// ```
/// use burn_roi::{PsRoiAlignConfig, Sampling};
///
/// let config = PsRoiAlignConfig::new([7, 7]).with_spatial_scale(1.0 / 16.0).with_sampling_ratio(2);
/// assert_eq!(config.sampling, Sampling::Fixed(2));
/// ```
#[derive(Debug, PartialEq)]
pub struct PsRoiAlignConfig {
    /// Height P and width Q of the output, 1 to 32767.
    pub output_size: [usize; 2],
    /// From box coordinates to pixels of the map.
    pub spatial_scale: f64 = 1.0,
    /// How many samples an output element takes along each axis.
    pub sampling: Sampling = Sampling::Adaptive,
    /// If true, 0.5 is subtracted from scaled coordinates: pixel centres lie at half-integers. If false, nothing is
    /// subtracted, and a region is at least one pixel long. torchvision's is always aligned.
    pub aligned: bool = true,
}
}

impl ToRegionOperator for PsRoiAlignConfig {
    fn operator(&self, _has_offsets: bool) -> Result<RegionOperator, RoiError> {
        options::scale("spatial_scale", self.spatial_scale)?;
        let roi_align = RoiAlignConfig::new(self.output_size)
            .with_spatial_scale(self.spatial_scale)
            .with_sampling(self.sampling)
            .with_aligned(self.aligned);
        Ok(RegionOperator {
            channel_map: ChannelMap::PositionSensitive,
            ..roi_align.operator(false)?
        })
    }
}

operator! {
/// Samples regions of position-sensitive feature maps: `[N, C * P * Q, H, W]` and K regions to `[K, C, P, Q]`.
///
/// Element `(p, q)` of output channel `c` is the average of samples in input channel `(c * P + p) * Q + q`. It samples
/// at the positions of [`roi_align`](crate::roi_align()).
///
/// - `features`: `[N, C * P * Q, H, W]`.
/// - `rois`: boxes `[x1, y1, x2, y2]` in pixels of the image, which `spatial_scale` turns into pixels of the map. A box
///   may be empty, inverted, or partly or wholly outside.
/// - Returns `[K, C, P, Q]`.
///
/// A region without samples, such as an empty region with adaptive sampling, returns 0. torchvision returns NaN.
///
/// The operator of Light-Head R-CNN (Li et al., 2017), as torchvision 0.29 computes it.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi::{PsRoiAlignConfig, Rois, ps_roi_align};
///
/// let device = Device::default();
/// let features = Tensor::<4>::ones([1, 10 * 7 * 7, 38, 50], &device);
/// let boxes = Tensor::<2>::from_floats([[16.0, 16.0, 240.0, 128.0]], &device);
/// let config = PsRoiAlignConfig::new([7, 7]).with_spatial_scale(1.0 / 16.0);
/// let pooled = ps_roi_align(features, &Rois::from_images(vec![boxes]), config);
/// assert_eq!(pooled.dims(), [1, 10, 7, 7]);
/// ```
fn ps_roi_align(PsRoiAlignConfig { spatial_scale }, Rois) -> PsRoiAlign;
/// - [`RoiError::Option`]: an output size of 0 or above 32767; a scale that is 0, negative or not
///   finite; 0 samples, more than 1024 fixed or minimum samples, or a minimum above the maximum.
/// - [`RoiError::Channels`]: the features' channels are not a multiple of P * Q.
/// - All other errors of [`try_roi_align`](crate::try_roi_align), for the same reasons.
fn try_ps_roi_align;
}
