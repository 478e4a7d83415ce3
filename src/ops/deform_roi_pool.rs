//! `deform_roi_pool`: RoiAlign whose elements move by offsets that a network predicts.

use super::prelude::*;

config! {
/// The options of [`deform_roi_pool`]. The defaults match mmcv's `deform_roi_pool`.
/// [`mmcv::DeformRoiPool`](crate::mmcv::DeformRoiPool) has mmcv's option names.
///
/// ```
/// use burn_roi::{DeformRoiPoolConfig, Sampling};
///
/// let config = DeformRoiPoolConfig::new([7, 7]).with_spatial_scale(0.25).with_sampling_ratio(2);
/// assert_eq!((config.sampling, config.gamma), (Sampling::Fixed(2), 0.1));
/// ```
#[derive(Debug, PartialEq)]
pub struct DeformRoiPoolConfig {
    /// Height P and width Q of the output, 1 to 32767.
    pub output_size: [usize; 2],
    /// From box coordinates to pixels of the map.
    pub spatial_scale: f64 = 1.0,
    /// How many samples an output element takes along each axis: `Fixed` or `Adaptive`. An adaptive count is at most
    /// 65,536.
    pub sampling: Sampling = Sampling::Adaptive,
    /// Samples move by `gamma * region size * offset`.
    pub gamma: f64 = 0.1,
}
}

impl ToRegionOperator for DeformRoiPoolConfig {
    fn operator(&self, has_offsets: bool) -> Result<RegionOperator, RoiError> {
        options::output_size("output_size", self.output_size)?;
        options::scale("spatial_scale", self.spatial_scale)?;
        options::fixed_or_adaptive("sampling", self.sampling)?;
        options::finite("gamma", self.gamma)?;
        let grid = PointGrid {
            placement: Placement::Offsets(Offsets {
                scale: self.gamma,
                parts: has_offsets.then_some(self.output_size),
            }),
            spatial_scale: self.spatial_scale,
            input_pixel_offset: 0.5,
            minimum_length: None,
            sampling: [self.sampling; 2],
            bounds: Bounds::OnePixelBeyond,
            ignores_out_of_bounds: false,
            arithmetic: Arithmetic::FromElements,
        };
        Ok(RegionOperator::average(self.output_size, Elements::Points(grid)))
    }
}

operator! {
/// Samples regions of feature maps whose elements move by offsets: `[N, C, H, W]` and K regions to `[K, C, P, Q]`.
///
/// It is [`roi_align`](crate::roi_align()) with `aligned`, but the samples of an element are moved by `gamma` times the
/// size of the region times the element's offset.
///
/// - `features`: `[N, C, H, W]`.
/// - `rois`: boxes `[x1, y1, x2, y2]` in pixels of the image, which `spatial_scale` turns into pixels of the map. A box
///   may be empty, inverted, or partly or wholly outside.
/// - `offsets`: `[K, 2, P, Q]`, in the dtype and on the device of the boxes. `offsets[k, 0]` holds x and
///   `offsets[k, 1]` y. `None` means offsets of 0.
/// - Returns `[K, C, P, Q]`.
///
/// The operator of Deformable Convolutional Networks (Dai et al., 2017), as mmcv 2.2 computes it. On an autodiff device
/// features, boxes and offsets have gradients; mmcv has none for boxes.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi::{DeformRoiPoolConfig, Rois, deform_roi_pool};
///
/// let device = Device::default();
/// let features = Tensor::<4>::ones([1, 256, 50, 76], &device);
/// let boxes = Tensor::<2>::from_floats([[16.0, 16.0, 240.0, 128.0]], &device);
/// let offsets = Tensor::<4>::zeros([1, 2, 7, 7], &device);
/// let config = DeformRoiPoolConfig::new([7, 7]).with_spatial_scale(1.0 / 16.0);
/// let pooled = deform_roi_pool(features, &Rois::from_images(vec![boxes]), Some(offsets), config);
/// assert_eq!(pooled.dims(), [1, 256, 7, 7]);
/// ```
fn deform_roi_pool(DeformRoiPoolConfig { spatial_scale }, Rois, offsets) -> DeformRoiPool;
/// - [`RoiError::Option`]: an output size of 0 or above 32767; a scale that is 0, negative or not finite; 0 or more
///   than 1024 fixed samples, or another sampling than `Fixed` and `Adaptive`; a gamma that is not finite.
/// - [`RoiError::Shape`], [`RoiError::DType`] or [`RoiError::Device`]: offsets that do not match the regions.
/// - [`RoiError::OffsetNotFinite`]: on a host device, an offset that is NaN or infinite.
/// - All other errors of [`try_roi_align`](crate::try_roi_align), for the same reasons.
fn try_deform_roi_pool;
}
