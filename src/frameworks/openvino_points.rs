//! OpenVINO's operators whose samples are not on a regular axis-aligned grid.

use crate::geometry::angle::AngleConvention;
use crate::geometry::options::Arithmetic;
use crate::ops::{DeformPsRoiPoolConfig, PsCropAndResizeConfig, RoiAlignRotatedConfig};

framework! {
/// The attributes of `ROIAlignRotated`, versions 14 and 15. Angles are in radians; a positive angle turns a box
/// counter-clockwise, or clockwise with `clockwise_mode`.
///
/// ```
/// use burn_roi::{Arithmetic, RoiAlignRotatedConfig, openvino};
///
/// let attributes = openvino::RoiAlignRotated15::new(7, 7, 2, 0.25).with_clockwise_mode(true);
/// let config: RoiAlignRotatedConfig = attributes.into();
/// assert_eq!(config.arithmetic, Arithmetic::FromElementsBySteps);
/// ```
pub struct RoiAlignRotated15 {
    /// Height of the output.
    pub pooled_h: usize,
    /// Width of the output.
    pub pooled_w: usize,
    /// Samples of an output element along each axis; 0 for the adaptive number.
    pub sampling_ratio: usize,
    /// From box coordinates to pixels of the map.
    pub spatial_scale: f32,
    /// Whether a positive angle turns a box clockwise on the screen.
    pub clockwise_mode: bool = false,
}
RoiAlignRotatedConfig::new([pooled_h, pooled_w]) with spatial_scale, sampling_ratio,
    angle(AngleConvention::radians(clockwise_mode)),
    arithmetic(Arithmetic::FromElementsBySteps)
}

framework! {
/// The attributes of `DeformablePSROIPooling-1`, whose mode is always `bilinear_deformable`.
///
/// The specification shapes offsets by the output size. The CPU device reads them as `part_size` x `part_size`.
///
/// ```
/// use burn_roi::{DeformPsRoiPoolConfig, openvino};
///
/// let attributes = openvino::DeformablePsRoiPooling1::new(10, 0.0625).with_group_size(7).with_part_size(7);
/// let config: DeformPsRoiPoolConfig = attributes.into();
/// assert_eq!(config.output_size, [7, 7]);
/// ```
pub struct DeformablePsRoiPooling1 {
    /// The number of output channels.
    pub output_dim: usize,
    /// From box coordinates to pixels of the map.
    pub spatial_scale: f32,
    /// Height and width of the output.
    pub group_size: usize = 1,
    /// Samples of an output element along x.
    pub spatial_bins_x: usize = 1,
    /// Samples of an output element along y.
    pub spatial_bins_y: usize = 1,
    /// Samples move by `trans_std * region size * offset`.
    pub trans_std: f32 = 1.0,
    /// Into how many parts a region is divided along each axis. Each part has its own offset.
    pub part_size: usize = 1,
}
DeformPsRoiPoolConfig::new([group_size; 2], output_dim) with spatial_scale,
    samples([spatial_bins_y, spatial_bins_x]),
    offset_scale(trans_std.into()),
    part_size([part_size; 2])
}

framework! {
/// The attributes of `PSROIPooling-1` with `mode` bilinear. The attribute `output_dim` is not needed: it is the number
/// of channels of the features divided by `spatial_bins_x * spatial_bins_y`.
///
/// ```
/// use burn_roi::{PsCropAndResizeConfig, openvino};
///
/// let config: PsCropAndResizeConfig = openvino::PsRoiPoolingBilinear::new(4, 1.0, 3, 2).into();
/// assert_eq!(config.parts, [2, 3]);
/// ```
pub struct PsRoiPoolingBilinear {
    /// Height and width of the output.
    pub group_size: usize,
    /// From box coordinates to normalized ones: 0 is the centre of the first pixel, and 1 the centre of the last.
    pub spatial_scale: f32,
    /// Into how many bins a region is divided along x.
    pub spatial_bins_x: usize,
    /// Into how many bins a region is divided along y.
    pub spatial_bins_y: usize,
}
PsCropAndResizeConfig::new([group_size; 2], [spatial_bins_y, spatial_bins_x]) with spatial_scale
}
