//! `roi_align_3d`: samples each region at points between voxels and reduces them to a fixed size.

use super::module::operator_3d;
use super::operators::Operates3d;
use crate::backend::MaximumOfSamples;
use crate::ops::RoiAlignConfig;
use crate::ops::prelude::*;

config! {
/// The options of [`roi_align_3d`]: those of [`RoiAlignConfig`] along three axes, in the order z, y, x. The defaults
/// match nnDetection's operator: along each axis, torchvision's `roi_align` with `aligned = False`.
///
/// ```
/// use burn_roi::RoiAlign3dConfig;
///
/// // Slices of the map are 2 voxels apart, and its rows and columns 4.
/// let config = RoiAlign3dConfig::new([7, 7, 7]).with_spatial_scale([0.5, 0.25, 0.25]).with_sampling_ratio(2);
/// assert_eq!(config.output_size, [7, 7, 7]);
/// ```
#[derive(Debug, PartialEq)]
pub struct RoiAlign3dConfig {
    /// Depth P, height Q and width R of the output, 1 to 32767 each; Q times R is at most 32767.
    pub output_size: [usize; 3],
    /// From box coordinates to slices, rows and columns of the map.
    pub spatial_scale: [f64; 3] = [1.0; 3],
    /// How many samples an output element takes along each axis.
    pub sampling: [Sampling; 3] = [Sampling::Adaptive; 3],
    /// What a sample between voxels reads.
    pub interpolation: Interpolation = Interpolation::Bilinear,
    /// How the samples of an output element become one value: not `MaxOfWeightedCorners`. A maximum needs a fixed
    /// number of samples.
    pub reduction: Reduction = Reduction::Average,
    /// Added to box coordinates before they are scaled.
    pub box_offset: f64 = 0.0,
    /// Added to x2, y2 and z2 before they are scaled.
    pub end_offset: f64 = 0.0,
    /// Subtracted from scaled coordinates. The centre of the first voxel lies there.
    pub input_pixel_offset: f64 = 0.0,
    /// Subtracted from the index of a sample, -1024 to 1024.
    pub output_pixel_offset: f64 = -0.5,
    /// The value of a sample out of bounds.
    pub out_of_bounds_value: f64 = 0.0,
    /// Whether the outermost samples lie on the corners of the region, as in [`RoiAlignConfig`].
    pub align_corners: bool = false,
    /// The least length of a region along each axis, in voxels of the map, 0 or above. If `None`, a region may be empty
    /// or inverted.
    pub minimum_length: Option<f64> = Some(1.0),
}
}

impl RoiAlign3dConfig {
    /// Takes `sampling_ratio` samples an output element along each axis; 0 for the adaptive number.
    pub fn with_sampling_ratio(self, sampling_ratio: usize) -> Self {
        self.with_sampling([Sampling::of_ratio(sampling_ratio); 3])
    }

    /// Sets `aligned`, as [`RoiAlignConfig::with_aligned`] does.
    pub fn with_aligned(self, aligned: bool) -> Self {
        self.with_input_pixel_offset(if aligned { 0.5 } else { 0.0 })
            .with_minimum_length((!aligned).then_some(1.0))
    }
}

impl Operates3d for RoiAlign3dConfig {
    fn output_size(&self) -> (&'static str, [usize; 3]) {
        ("output_size", self.output_size)
    }

    fn maximum(&self) -> Result<Option<MaximumOfSamples>, RoiError> {
        if self.reduction == Reduction::Average {
            return Ok(None);
        }
        let fits = self.reduction != Reduction::MaxOfWeightedCorners;
        options::check(
            "reduction",
            fits,
            format!("{:?}", self.reduction),
            "Average, Max or MaxFromZero",
        )?;
        let mut samples = [1; 3];
        for (samples, sampling) in samples.iter_mut().zip(self.sampling) {
            options::sampling("sampling", sampling)?;
            let fixed = match sampling {
                Sampling::Fixed(fixed) => Some(fixed),
                _ => None,
            };
            options::check(
                "sampling",
                fixed.is_some(),
                format!("{sampling:?}"),
                "Fixed for a maximum",
            )?;
            *samples = fixed.unwrap_or(1);
        }
        Ok(Some(MaximumOfSamples {
            output_size: self.output_size,
            samples,
            reduction: self.reduction,
        }))
    }

    fn operator(&self, [y, x]: [usize; 2]) -> Result<RegionOperator, RoiError> {
        options::scale("spatial_scale", self.spatial_scale[y])?;
        options::scale("spatial_scale", self.spatial_scale[x])?;
        options::sampling("sampling", self.sampling[x])?;
        let samples = self.maximum()?.map(|maximum| maximum.samples);
        let size = |axis: usize| self.output_size[axis] * samples.map_or(1, |samples| samples[axis]);
        let sampling = |axis: usize| samples.map_or(self.sampling[axis], |_| Sampling::Fixed(1));
        let config = RoiAlignConfig {
            spatial_scale_y: self.spatial_scale[y],
            spatial_scale_x: self.spatial_scale[x],
            sampling: sampling(y),
            interpolation: self.interpolation,
            box_offset: self.box_offset,
            end_offset: self.end_offset,
            input_pixel_offset: self.input_pixel_offset,
            output_pixel_offset: self.output_pixel_offset,
            out_of_bounds_value: self.out_of_bounds_value,
            align_corners: self.align_corners,
            minimum_length: self.minimum_length,
            ..RoiAlignConfig::new([size(y), size(x)])
        };
        let mut operator = config.operator(false)?;
        if let Elements::Samples([_, axis]) = &mut operator.elements {
            axis.sampling = sampling(x);
        }
        Ok(operator)
    }
}

operator_3d! {
/// Samples regions of volumes: `[N, C, D, H, W]` and K regions to `[K, C, P, Q, R]`.
///
/// - `features`: `[N, C, D, H, W]`.
/// - `rois`: boxes of three axes in voxels of the image, which `spatial_scale` turns into voxels of the map. A box may
///   be empty, inverted, or partly or wholly outside of the map.
/// - Returns `[K, C, P, Q, R]`.
///
/// Along each axis it places samples as [`roi_align`](crate::roi_align()) does. A sample is the weighted mean of the
/// eight voxels around it, and an element is the mean or the maximum of its samples. For a maximum, samples are placed
/// as for an output of `output_size * samples` elements of one sample each.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi::{BoxFormat3d, RoiAlign3dConfig, Rois3d, roi_align_3d};
///
/// let device = Device::default();
/// let features = Tensor::<5>::ones([1, 8, 12, 24, 24], &device);
/// let boxes = Tensor::<2>::from_floats([[4.0, 4.0, 40.0, 32.0, 2.0, 14.0]], &device);
/// let rois = Rois3d::from_images(vec![boxes], BoxFormat3d::Xyxyzz);
/// let config = RoiAlign3dConfig::new([7, 7, 7]).with_spatial_scale([0.5, 0.25, 0.25]).with_sampling_ratio(2);
/// assert_eq!(roi_align_3d(features, &rois, config).dims(), [1, 8, 7, 7, 7]);
/// ```
fn roi_align_3d(RoiAlign3dConfig) -> RoiAlign3d;
/// - [`RoiError::Option`]: an output size of 0, above 32767 or with a slice of more than 32767 elements; another option
///   out of the range that [`try_roi_align`](crate::try_roi_align) names.
fn try_roi_align_3d;
}
