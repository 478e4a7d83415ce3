//! `deform_ps_roi_pool`: position-sensitive pooling whose elements move by offsets that a network predicts.

use burn::tensor::Tensor;

use super::operator_config::Pools;
use super::points::average;
use super::{Pool, call, options};
use crate::config::config;
use crate::error::{RoiError, or_panic};
use crate::geometry::operator::{ChannelMap, RegionOperator};
use crate::geometry::options::{Arithmetic, Bounds, Sampling};
use crate::geometry::point_grid::{Offsets, Placement, PointGrid};
use crate::memory;
use crate::regions::Rois;

config! {
/// What [`deform_ps_roi_pool`] computes.
/// [`openvino::DeformablePsRoiPooling1`](crate::openvino::DeformablePsRoiPooling1) has it under OpenVINO's names.
///
/// ```
/// use burn_roi::DeformPsRoiPoolConfig;
///
/// let config = DeformPsRoiPoolConfig::new([7, 7], 10).with_spatial_scale(1.0 / 16.0).with_samples([4, 4]);
/// assert_eq!(config.part_size, [1, 1]);
/// ```
#[derive(Debug, PartialEq)]
pub struct DeformPsRoiPoolConfig {
    /// Height P and width Q of the output, 1 to 32767.
    pub output_size: [usize; 2],
    /// The number C of output channels. Input channels beyond the `C * P * Q`th are not read.
    pub output_channels: usize,
    /// From box coordinates to pixels of the map.
    pub spatial_scale: f64 = 1.0,
    /// How many samples an output element takes along y and along x, 1 to 1024.
    pub samples: [usize; 2] = [1, 1],
    /// Samples move by `offset_scale * region size * offset`.
    pub offset_scale: f64 = 1.0,
    /// How many parts of a region have an offset of their own, along y and along x, 1 to 32767.
    pub part_size: [usize; 2] = [1, 1],
}
}

impl DeformPsRoiPoolConfig {
    /// Creates the module.
    pub fn init(&self) -> DeformPsRoiPool {
        Pool::of(self)
    }

    /// The options, checked, as an operator on the channels of one class.
    pub(crate) fn operator(&self, has_offsets: bool) -> Result<RegionOperator, RoiError> {
        options::output_size("output_size", self.output_size)?;
        options::output_size("part_size", self.part_size)?;
        options::scale("spatial_scale", self.spatial_scale)?;
        options::finite("offset_scale", self.offset_scale)?;
        for samples in self.samples {
            options::count("samples", samples)?;
        }
        if self.output_channels == 0 {
            return Err(RoiError::Option {
                argument: "output_channels",
                value: "0".to_string(),
                expected: "1 or more",
            });
        }
        let grid = PointGrid {
            placement: Placement::OffsetsOfRoundedBox(Offsets {
                scale: self.offset_scale,
                parts: has_offsets.then_some(self.part_size),
            }),
            spatial_scale: self.spatial_scale,
            input_pixel_offset: 0.5,
            minimum_length: Some(0.1),
            sampling: self.samples.map(Sampling::Fixed),
            bounds: Bounds::HalfPixelBeyond,
            ignores_out_of_bounds: true,
            arithmetic: Arithmetic::FromElementsBySteps,
        };
        Ok(average(self.output_size, grid, ChannelMap::PositionSensitive))
    }
}

/// Samples regions of position-sensitive feature maps whose elements move by offsets: `[N, C * P * Q, H, W]` and K
/// regions to `[K, C, P, Q]`.
///
/// Element `(p, q)` of output channel `c` reads input channel `(c * P + p) * Q + q`. Its samples begin at the start of
/// the element, and move by `offset_scale * region size * offset`, with the offset of the part that the element lies
/// in. The element is the mean of its samples that lie at most half a pixel outside of the map. Box coordinates are
/// rounded, and 1 is added to the high ends, before they are scaled; a region is at least 0.1 pixels long.
///
/// - `features`: `[N, at least C * P * Q, H, W]`, f32, f16 or bf16; f64 on Flex and NdArray. Any strides.
/// - `rois`: boxes `[x1, y1, x2, y2]` in the coordinates that `spatial_scale` turns into pixels, of the features'
///   dtype, or of f32 for half features, and on their device.
/// - `offsets`: `[K, 2 * classes, part height, part width]`, of the dtype and the device of the boxes; none for offsets
///   of 0. Each class has those along x first, and moves `C / classes` output channels.
/// - Returns `[K, C, P, Q]` in the features' dtype. Coordinates and sums are f32 (f64 for f64), and the result is
///   rounded once.
///
/// On Flex and NdArray a box or an offset that is not finite and a batch index out of range are errors. GPUs do not
/// read them: there such a region or element returns 0, and each class is a launch of its own.
///
/// The rule is that of Deformable R-FCN (Dai et al., 2017), as OpenVINO 2026.4's CPU device computes it. With gradients
/// on, features and offsets have them; a rounded box does not move what is read, so its gradient is 0.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi::{DeformPsRoiPoolConfig, Rois, deform_ps_roi_pool};
///
/// let device = Device::default();
/// let features = Tensor::<4>::ones([1, 10 * 7 * 7, 38, 50], &device);
/// let boxes = Tensor::<2>::from_floats([[16.0, 16.0, 240.0, 128.0]], &device);
/// let offsets = Tensor::<4>::zeros([1, 2, 7, 7], &device);
/// let config = DeformPsRoiPoolConfig::new([7, 7], 10)
///     .with_spatial_scale(1.0 / 16.0)
///     .with_samples([4, 4])
///     .with_offset_scale(0.1)
///     .with_part_size([7, 7]);
/// let pooled = deform_ps_roi_pool(features, &Rois::from_images(vec![boxes]), Some(offsets), config);
/// assert_eq!(pooled.dims(), [1, 10, 7, 7]);
/// ```
///
/// # Panics
///
/// If [`try_deform_ps_roi_pool`] returns an error, with its text.
pub fn deform_ps_roi_pool(
    features: Tensor<4>,
    rois: &Rois,
    offsets: Option<Tensor<4>>,
    config: impl Into<DeformPsRoiPoolConfig>,
) -> Tensor<4> {
    or_panic(try_deform_ps_roi_pool(features, rois, offsets, config))
}

/// [`deform_ps_roi_pool`] for arguments that may be wrong.
///
/// # Errors
///
/// - [`RoiError::Option`]: an output or part size of 0 or above 32767; no output channel; a scale that is 0, negative
///   or not finite; 0 or more than 1024 samples; an offset scale that is not finite.
/// - [`RoiError::Shape`]: fewer than `C * P * Q` channels; offsets of another shape, or whose classes do not divide the
///   output channels.
/// - [`RoiError::OffsetNotFinite`]: on a host device, an offset that is NaN or infinite.
/// - All other errors of [`try_roi_align`](crate::try_roi_align), for the same reasons.
pub fn try_deform_ps_roi_pool(
    features: Tensor<4>,
    rois: &Rois,
    offsets: Option<Tensor<4>>,
    config: impl Into<DeformPsRoiPoolConfig>,
) -> Result<Tensor<4>, RoiError> {
    let config = config.into();
    let operator = config.operator(offsets.is_some())?;
    let [rows, columns] = config.output_size;
    let of_a_channel = rows * columns;
    let inputs = config.output_channels.checked_mul(of_a_channel);
    let [_, channels, _, _] = features.dims();
    let Some(inputs) = inputs.filter(|&inputs| inputs <= channels) else {
        return Err(RoiError::Shape {
            argument: "features",
            shape: features.dims().to_vec(),
            expected: "[N, channels, H, W], with a channel for each output channel and element",
        });
    };
    let classes = match &offsets {
        Some(offsets) => class_count(offsets, rois.len(), &config)?,
        None => 1,
    };
    let shape = [rois.len(), config.output_channels, rows, columns];
    memory::check_tensor("output", &shape, features.dtype(), &features.device())?;
    let of_a_class = inputs / classes;
    let pooled = (0..classes).map(|class| {
        let features = match channels == of_a_class {
            true => features.clone(),
            false => features.clone().narrow(1, class * of_a_class, of_a_class),
        };
        let offsets = offsets.clone().map(|offsets| match classes {
            1 => offsets,
            _ => offsets.narrow(1, 2 * class, 2),
        });
        let [part_rows, part_columns] = config.part_size;
        let pooled = call::pool_tensor_with_offsets(features, rois, offsets, operator);
        pooled.map_err(|error| match error {
            // Counted among the offsets of all classes.
            RoiError::OffsetNotFinite { row, place, offset } => RoiError::OffsetNotFinite {
                row,
                place: place + 2 * class * part_rows * part_columns,
                offset,
            },
            error => error,
        })
    });
    let mut pooled = pooled.collect::<Result<Vec<_>, _>>()?;
    Ok(match classes {
        1 => pooled.remove(0),
        _ => Tensor::cat(pooled, 1),
    })
}

/// How many classes have offsets of their own, at least 1.
fn class_count(offsets: &Tensor<4>, regions: usize, config: &DeformPsRoiPoolConfig) -> Result<usize, RoiError> {
    let [count, groups, rows, columns] = offsets.dims();
    let classes = (groups / 2).max(1);
    let fits = count == regions && groups == 2 * classes && [rows, columns] == config.part_size;
    if fits && config.output_channels.is_multiple_of(classes) {
        return Ok(classes);
    }
    Err(RoiError::Shape {
        argument: "offsets",
        shape: offsets.dims().to_vec(),
        expected: "[K, 2 * classes, part height, part width], with classes that divide the output channels",
    })
}

impl Pools for DeformPsRoiPoolConfig {
    type Rois = Rois;

    fn try_pool(&self, features: Tensor<4>, rois: &Rois) -> Result<Tensor<4>, RoiError> {
        try_deform_ps_roi_pool(features, rois, None, self.clone())
    }
}

/// [`deform_ps_roi_pool`] as a module. Created by [`DeformPsRoiPoolConfig::init`].
pub type DeformPsRoiPool = Pool<DeformPsRoiPoolConfig>;

impl DeformPsRoiPool {
    /// Applies [`deform_ps_roi_pool`] with offsets.
    ///
    /// # Panics
    ///
    /// As [`deform_ps_roi_pool`] does.
    pub fn forward_with_offsets(&self, features: Tensor<4>, rois: &Rois, offsets: Tensor<4>) -> Tensor<4> {
        deform_ps_roi_pool(features, rois, Some(offsets), self.config.clone())
    }
}
