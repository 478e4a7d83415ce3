//! `ps_crop_and_resize`: crops whose parts are read from channels of their own, averaged.

use super::prelude::*;

config! {
/// The options of [`ps_crop_and_resize`]. [`openvino::PsRoiPoolingBilinear`](crate::openvino::PsRoiPoolingBilinear) has
/// OpenVINO's option names.
///
/// ```
/// use burn_roi::PsCropAndResizeConfig;
///
/// let config = PsCropAndResizeConfig::new([7, 7], [3, 3]);
/// assert_eq!(config.spatial_scale, 1.0);
/// ```
#[derive(Debug, PartialEq)]
pub struct PsCropAndResizeConfig {
    /// Height P and width Q of the output, 1 to 32767.
    pub output_size: [usize; 2],
    /// Into how many parts a region is divided along y and along x, 1 to 1024.
    pub parts: [usize; 2],
    /// From box coordinates to normalized ones, for x and y alike: 0 is the centre of the first pixel, and 1 the centre
    /// of the last.
    pub spatial_scale: f64 = 1.0,
}
}

impl ToRegionOperator for PsCropAndResizeConfig {
    fn operator(&self, _has_offsets: bool) -> Result<RegionOperator, RoiError> {
        options::output_size("output_size", self.output_size)?;
        options::scale("spatial_scale", self.spatial_scale)?;
        for parts in self.parts {
            options::count("parts", parts)?;
        }
        let grid = PointGrid {
            placement: Placement::SubCrops,
            spatial_scale: self.spatial_scale,
            input_pixel_offset: 0.0,
            minimum_length: None,
            sampling: self.parts.map(Sampling::Fixed),
            bounds: Bounds::FirstToLastPixel,
            ignores_out_of_bounds: false,
            arithmetic: Arithmetic::FromElements,
        };
        let [rows, columns] = self.parts;
        Ok(RegionOperator {
            channel_map: ChannelMap::SampleSensitive {
                samples: rows * columns,
            },
            ..RegionOperator::average(self.output_size, Elements::Points(grid))
        })
    }
}

operator! {
/// Crops each part of a region from channels of its own, and averages the crops: `[N, parts * C, H, W]` and K regions
/// to `[K, C, P, Q]`.
///
/// A region is divided into `parts`, row by row. Part `i` is cropped and resized to P x Q as
/// [`crop_and_resize`](crate::crop_and_resize()) does, channel `c` from input channel `i * C + c`. An element is the
/// mean of its samples in all parts; a sample outside of the map counts as 0.
///
/// - `features`: `[N, parts * C, H, W]`.
/// - `rois`: boxes `[x1, y1, x2, y2]`, in the coordinates that `spatial_scale` turns into normalized ones. To convert a
///   box in pixels, divide x by W - 1 and y by H - 1; [`Rois::to_normalized`] puts y first, and so does not fit here.
/// - Returns `[K, C, P, Q]`.
///
/// It follows OpenVINO 2026.4's `PSROIPooling`, mode bilinear, on the CPU device.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi::{PsCropAndResizeConfig, Rois, ps_crop_and_resize};
///
/// let device = Device::default();
/// let features = Tensor::<4>::ones([1, 3 * 3 * 10, 38, 50], &device);
/// let boxes = Tensor::<2>::from_floats([[0.1, 0.2, 0.6, 0.9]], &device);
/// let config = PsCropAndResizeConfig::new([4, 4], [3, 3]);
/// let pooled = ps_crop_and_resize(features, &Rois::from_images(vec![boxes]), config);
/// assert_eq!(pooled.dims(), [1, 10, 4, 4]);
/// ```
// The scale is not one of maps: boxes are normalized, so that they are the same on all maps.
fn ps_crop_and_resize(PsCropAndResizeConfig {}, Rois) -> PsCropAndResize;
/// - [`RoiError::Option`]: an output size of 0 or above 32767; 0 or more than 1024 parts; a scale that is 0, negative
///   or not finite.
/// - [`RoiError::ChannelGroups`]: the features' channels are no multiple of the number of parts.
/// - All other errors of [`try_roi_align`](crate::try_roi_align), for the same reasons.
fn try_ps_crop_and_resize;
}
