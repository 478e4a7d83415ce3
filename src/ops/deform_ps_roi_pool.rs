//! `deform_ps_roi_pool`: position-sensitive pooling whose elements move by offsets that a network predicts.

use burn::backend::TensorMetadata;
use burn::backend::tensor::FloatTensor;
use burn::tensor::Shape;

use super::arguments::Arguments;
use super::prelude::*;
use crate::backend::{RoiBackend, of_channels};
use crate::memory;
use crate::regions::shape;

config! {
/// The options of [`deform_ps_roi_pool`].
/// [`openvino::DeformablePsRoiPooling1`](crate::openvino::DeformablePsRoiPooling1) has OpenVINO's option names.
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
    /// The number C of output channels. Only the first `C * P * Q` input channels are read.
    pub output_channels: usize,
    /// From box coordinates to pixels of the map.
    pub spatial_scale: f64 = 1.0,
    /// How many samples an output element takes along y and along x, 1 to 1024.
    pub samples: [usize; 2] = [1, 1],
    /// Samples move by `offset_scale * region size * offset`.
    pub offset_scale: f64 = 1.0,
    /// Into how many parts a region is divided along y and along x, 1 to 32767. Each part has its own offset.
    pub part_size: [usize; 2] = [1, 1],
}
}

impl ToRegionOperator for DeformPsRoiPoolConfig {
    fn operator(&self, has_offsets: bool) -> Result<RegionOperator, RoiError> {
        options::output_size("output_size", self.output_size)?;
        options::output_size("part_size", self.part_size)?;
        options::scale("spatial_scale", self.spatial_scale)?;
        options::finite("offset_scale", self.offset_scale)?;
        for samples in self.samples {
            options::count("samples", samples)?;
        }
        let channels = self.output_channels;
        options::check("output_channels", channels > 0, channels.to_string(), "1 or more")?;
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
        Ok(RegionOperator {
            channel_map: ChannelMap::PositionSensitive,
            ..RegionOperator::average(self.output_size, Elements::Points(grid))
        })
    }

    /// One for each class, whose channels move by the same offsets.
    fn parts<B: RoiBackend>(&self, arguments: Arguments<B>) -> Result<Vec<Arguments<B>>, RoiError> {
        let Arguments {
            features,
            regions,
            offsets,
        } = arguments;
        let inputs = self.input_channels::<B>(&features)?;
        let classes = match &offsets {
            Some(offsets) => self.class_count(&offsets.shape(), regions.len())?,
            None => 1,
        };
        let [rows, columns] = self.output_size;
        let (finest, shape) = (&features[0], [regions.len(), self.output_channels, rows, columns]);
        memory::check::<B>("output", &shape, finest.dtype(), &finest.device())?;
        let of_class = |tensor: &FloatTensor<B>, class: usize, channels: usize| {
            of_channels::<B>(tensor, class * channels..(class + 1) * channels)
        };
        let part = |class| Arguments {
            features: features
                .iter()
                .map(|level| of_class(level, class, inputs / classes))
                .collect(),
            regions: regions.clone(),
            offsets: offsets.as_ref().map(|offsets| of_class(offsets, class, 2)),
        };
        Ok((0..classes).map(part).collect())
    }
}

impl DeformPsRoiPoolConfig {
    /// How many channels of the features are read.
    fn input_channels<B: RoiBackend>(&self, features: &[FloatTensor<B>]) -> Result<usize, RoiError> {
        let inputs = self
            .output_channels
            .checked_mul(self.output_size[0] * self.output_size[1]);
        for level in features {
            let found = level.shape();
            let fits = found.num_dims() == 4 && inputs.is_some_and(|inputs| inputs <= found[1]);
            shape(
                "features",
                &found,
                "[N, channels, H, W], with a channel for each output channel and element",
                fits,
            )?;
        }
        Ok(inputs.unwrap_or_default())
    }

    /// How many classes have offsets of their own, at least 1.
    fn class_count(&self, offsets: &Shape, regions: usize) -> Result<usize, RoiError> {
        let classes = offsets.get(1).map_or(1, |groups| (groups / 2).max(1));
        let [rows, columns] = self.part_size;
        let fits = **offsets == [regions, 2 * classes, rows, columns] && self.output_channels.is_multiple_of(classes);
        shape(
            "offsets",
            offsets,
            "[K, 2 * classes, part height, part width], with classes that divide the output channels",
            fits,
        )?;
        Ok(classes)
    }
}

operator! {
/// Samples regions of position-sensitive feature maps, with elements that move by offsets: `[N, C * P * Q, H, W]` and K
/// regions to `[K, C, P, Q]`.
///
/// Element `(p, q)` of output channel `c` reads input channel `(c * P + p) * Q + q`. The first sample lies at the start
/// of the element. Samples move by `offset_scale * region size * offset`, with the offset of the part that contains the
/// element. The element is the mean of its samples that lie at most half a pixel outside of the map. Box coordinates
/// are rounded, and 1 is added to x2 and y2, before they are scaled. A region is at least 0.1 pixels long.
///
/// - `features`: `[N, at least C * P * Q, H, W]`.
/// - `rois`: boxes `[x1, y1, x2, y2]` in pixels of the image, which `spatial_scale` turns into pixels of the map.
/// - `offsets`: `[K, 2 * classes, part height, part width]`, in the dtype and on the device of the boxes. The region is
///   divided into `part_size` parts, each with an (x, y) offset. `offsets[k, 2c]` holds x and `offsets[k, 2c + 1]` y
///   for channel group c. There are `classes` groups of `C / classes` output channels. `None` means offsets of 0.
/// - Returns `[K, C, P, Q]`.
///
/// GPU backends launch one kernel for each group.
///
/// The operator of Deformable R-FCN (Dai et al., 2017), as OpenVINO 2026.4's CPU device computes it. On an autodiff
/// device features and offsets have gradients. The gradient of boxes is 0, since their coordinates are rounded.
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
fn deform_ps_roi_pool(DeformPsRoiPoolConfig { spatial_scale }, Rois, offsets) -> DeformPsRoiPool;
/// - [`RoiError::Option`]: an output or part size of 0 or above 32767; no output channel; a scale that is 0, negative
///   or not finite; 0 or more than 1024 samples; an offset scale that is not finite.
/// - [`RoiError::Shape`]: fewer than `C * P * Q` channels; offsets of another shape, or a number of classes that does
///   not divide the output channels.
/// - [`RoiError::OffsetNotFinite`]: on a host device, an offset that is NaN or infinite.
/// - All other errors of [`try_roi_align`](crate::try_roi_align), for the same reasons.
fn try_deform_ps_roi_pool;
}
