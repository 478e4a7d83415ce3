//! `riroi_align_rotated`: rotated RoiAlign whose orientation channels turn with the box.

use super::RoiAlignRotatedConfig;
use super::prelude::*;

config! {
/// The options of [`riroi_align_rotated`]. The defaults match mmcv's `riroi_align_rotated`.
/// [`mmcv::RiRoiAlignRotated`](crate::mmcv::RiRoiAlignRotated) has mmcv's option names.
///
/// ```
/// use burn_roi::RiRoiAlignRotatedConfig;
///
/// let config = RiRoiAlignRotatedConfig::new([7, 7]).with_spatial_scale(0.25).with_sampling_ratio(2);
/// assert_eq!(config.orientations, 8);
/// ```
#[derive(Debug, PartialEq)]
pub struct RiRoiAlignRotatedConfig {
    /// Height P and width Q of the output, 1 to 32767.
    pub output_size: [usize; 2],
    /// From box coordinates to pixels of the map.
    pub spatial_scale: f64 = 1.0,
    /// How many samples an output element takes along each axis: `Fixed` or `Adaptive`. An adaptive count is at most
    /// 65,536.
    pub sampling: Sampling = Sampling::Adaptive,
    /// The number O of orientation channels, 1 to 1024.
    pub orientations: usize = 8,
    /// Whether a positive angle turns a box clockwise on the screen, where y points down. This option does not change
    /// how orientation channels are shifted.
    pub clockwise: bool = false,
}
}

impl ToRegionOperator for RiRoiAlignRotatedConfig {
    fn operator(&self, has_offsets: bool) -> Result<RegionOperator, RoiError> {
        options::count("orientations", self.orientations)?;
        RoiAlignRotatedConfig::new(self.output_size)
            .with_spatial_scale(self.spatial_scale)
            .with_sampling(self.sampling)
            .with_aligned(false)
            .with_angle(AngleConvention::radians(self.clockwise))
            .operator(has_offsets)
    }

    fn orientations(&self) -> Option<usize> {
        Some(self.orientations)
    }
}

operator! {
/// Samples rotated regions of feature maps with orientation channels, which turn with the box: `[N, C * O, H, W]` and K
/// regions to `[K, C * O, P, Q]`.
///
/// It samples at the positions of [`roi_align_rotated`](crate::roi_align_rotated()) without `aligned`. Let `s[o]` be
/// the pooled channel of orientation `o`. The output's orientation `o` mixes two of them, with indices modulo O:
///
/// ```text
/// u = angle * O / 2π      w = floor(u)      f = u - w
/// out[o] = (1 - f) * s[o - w] + f * s[o - w + 1]
/// ```
///
/// As in ReDet, the output is discontinuous at whole `u`. When `u` reaches `w + 1` from below, `out[o]` approaches
/// `s[o - w + 1]`. At `u = w + 1` it is `s[o - w - 1]`.
///
/// - `features`: `[N, C * O, H, W]`.
/// - `rois`: boxes `[center x, center y, width, height, angle]`: the first four in the coordinates that `spatial_scale`
///   turns into pixels, the angle in radians. A positive angle turns a box counter-clockwise on the screen, or
///   clockwise if `clockwise` is set.
/// - Returns `[K, C * O, P, Q]`. Features of f16 and bf16 are converted to f32 first, so that the result is rounded
///   once.
///
/// The operator of ReDet (Han et al., 2021), as mmcv 2.2 computes it. mmcv reads beyond its features for angles
/// below -2π; here they count modulo a turn.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi::{RiRoiAlignRotatedConfig, RotatedRois, riroi_align_rotated};
///
/// let device = Device::default();
/// let features = Tensor::<4>::ones([1, 32 * 8, 50, 76], &device);
/// let boxes = Tensor::<2>::from_floats([[300.0, 200.0, 120.0, 60.0, 0.5]], &device);
/// let config = RiRoiAlignRotatedConfig::new([7, 7]).with_spatial_scale(1.0 / 16.0);
/// let pooled = riroi_align_rotated(features, &RotatedRois::from_images(vec![boxes]), config);
/// assert_eq!(pooled.dims(), [1, 256, 7, 7]);
/// ```
fn riroi_align_rotated(RiRoiAlignRotatedConfig { spatial_scale }, RotatedRois) -> RiRoiAlignRotated;
/// - [`RoiError::Option`]: 0 or more than 1024 orientations.
/// - [`RoiError::ChannelGroups`]: the features' channels are not a multiple of the orientations.
/// - All errors of [`try_roi_align_rotated`](crate::try_roi_align_rotated), for the same reasons.
fn try_riroi_align_rotated;
}
