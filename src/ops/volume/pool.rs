//! A call on a volume, as two calls on maps.

use std::fmt::Debug;

use burn::tensor::{DType, FloatDType, Tensor};

use crate::backend::is_host;
use crate::error::RoiError;
use crate::geometry::operator::{BinAxis, Elements, RegionOperator, SampleAxis, SpatialScale};
use crate::geometry::options::{
    Arithmetic, BinDivision, Bounds, BoxFormat, BoxRounding, MAXIMUM_OUTPUT_SIZE, Sampling,
};
use crate::memory;
use crate::ops::operator_config::Operates;
use crate::ops::{call, options};
use crate::regions::{Rois, Rois3d, reshaped, shape};

/// The most bytes of pooled slices that exist at a time, if the slices of one region are fewer.
const SLICE_BYTES: usize = 32 << 20;

/// How a config of three axes becomes operators of two.
pub trait Operates3d: Clone + Debug + Send + Sync + 'static {
    /// The name of the option, and the depth, height and width of the output.
    fn output_size(&self) -> (&'static str, [usize; 3]);

    /// The options, checked, as an operator along two of the axes z (0), y (1) and x (2).
    fn operator(&self, axes: [usize; 2]) -> Result<RegionOperator, RoiError>;
}

/// An operator of maps.
#[derive(Debug, Clone)]
struct Plain(RegionOperator);

impl Operates for Plain {
    type Rois = Rois;

    fn operator(&self, _has_offsets: bool) -> Result<RegionOperator, RoiError> {
        Ok(self.0)
    }

    fn spatial_scales(&mut self) -> Vec<&mut f64> {
        Vec::new()
    }
}

/// Pools regions of volumes `[N, C, D, H, W]` to `[K, C, P, Q, R]`.
pub fn pool(features: Tensor<5>, rois: &Rois3d, config: &impl Operates3d) -> Result<Tensor<5>, RoiError> {
    let (argument, size) = config.output_size();
    let [planes, rows, columns] = size;
    let fits =
        size.iter().all(|side| (1..=MAXIMUM_OUTPUT_SIZE).contains(side)) && rows * columns <= MAXIMUM_OUTPUT_SIZE;
    let expected = "1 to 32767 along each axis, and height times width at most 32767";
    options::check(argument, fits, format!("{size:?}"), expected)?;
    let operators = [of_slices(config)?, of_depths(config, planes, rows * columns)?].map(Plain);

    let (found, dtype, device) = (features.shape(), features.dtype(), features.device());
    let [images, channels, depth, height, width] = found.dims();
    let has_voxels = rois.is_empty() || depth * height * width > 0;
    let expected = "[N, C, D, H, W], with D, H and W above 0 where there are regions";
    shape("features", &found, expected, has_voxels)?;
    let output = [rois.len(), channels, planes, rows, columns];
    memory::check_tensor("output", &output, dtype, &device)?;
    if is_host(&device) {
        rois.validate(images)?;
    }

    let (features, rois) = in_singles(features, rois);
    let maps = reshaped(features, [images, channels * depth, height, width]);
    let slices = [channels, depth, rows * columns];
    let slice_bytes = slices.iter().product::<usize>() * maps.dtype().size();
    let batch = (SLICE_BYTES / slice_bytes.max(1)).max(1);
    let starts = (0..rois.len().max(1)).step_by(batch);
    let pooled = starts.map(|start| {
        let regions = start..(start + batch).min(rois.len());
        pool_regions(maps.clone(), &rois.of(regions), slices, &operators)
    });
    let mut pooled = pooled.collect::<Result<Vec<_>, _>>()?;
    let pooled = match pooled.len() {
        1 => pooled.remove(0),
        _ => Tensor::cat(pooled, 0),
    };
    let pooled = match dtype {
        DType::F16 | DType::BF16 => pooled.cast(dtype),
        _ => pooled,
    };
    Ok(reshaped(pooled, output))
}

/// Features and boxes of f16 and bf16 as f32, so that the output alone is rounded, once.
fn in_singles(features: Tensor<5>, rois: &Rois3d) -> (Tensor<5>, Rois3d) {
    let mut rois = rois.clone();
    if !matches!(features.dtype(), DType::F16 | DType::BF16) {
        return (features, rois);
    }
    if rois.depths.dtype() == features.dtype() {
        rois.depths = rois.depths.cast(FloatDType::F32);
        rois.slices = Rois::new(rois.slices.boxes().cast(FloatDType::F32), rois.slices.batch_indices());
    }
    (features.cast(FloatDType::F32), rois)
}

/// Pools regions of maps `[N, C * D, H, W]` to `[K, C, P, Q * R]`: first each slice, and then the `slices`
/// `[C, D, Q * R]` of a region along the depth.
fn pool_regions(
    maps: Tensor<4>,
    rois: &Rois3d,
    [channels, depth, elements]: [usize; 3],
    [of_slices, of_depths]: &[Plain; 2],
) -> Result<Tensor<4>, RoiError> {
    let slices = call::pool_tensor(maps, &rois.slices, None, of_slices)?;
    let slices = reshaped(slices, [rois.len(), channels, depth, elements]);
    call::pool_tensor(slices, &rois.along_depth(elements), None, of_depths)
}

/// The operator of all slices, on boxes `[x1, y1, x2, y2]`.
fn of_slices(config: &impl Operates3d) -> Result<RegionOperator, RoiError> {
    Ok(RegionOperator {
        box_format: BoxFormat::Xyxy,
        ..config.operator([1, 2])?
    })
}

/// The operator along the depth, on boxes `[0, z1, columns, z2]` of maps with so many columns, each of which it keeps.
fn of_depths(config: &impl Operates3d, planes: usize, columns: usize) -> Result<RegionOperator, RoiError> {
    let mut operator = config.operator([0, 0])?;
    operator.output_size = [planes, columns];
    operator.box_format = BoxFormat::Xyxy;
    match &mut operator.elements {
        // Sample s lies at (s + 0.5) - 0.5, on pixel s.
        Elements::Samples([z, x]) => {
            *x = SampleAxis {
                spatial_scale: SpatialScale::Times(1.0),
                box_offset: 0.0,
                end_offset: 0.0,
                input_pixel_offset: 0.5,
                output_pixel_offset: -0.5,
                minimum_length: None,
                sampling: Sampling::Fixed(1),
                align_corners: false,
                sample_at_end: None,
                bounds: Bounds::OnePixelBeyond,
                arithmetic: Arithmetic::FromElements,
                ..*z
            };
        }
        // Bin p has pixel p alone.
        Elements::Bins([_, x]) => {
            *x = BinAxis {
                spatial_scale: 1.0,
                end_offset: 0.0,
                rounding: BoxRounding::AfterScaling,
                inclusive_end: false,
                minimum_length: 0.0,
                division: BinDivision::Whole,
                reaches_last_pixel: true,
                gradient_reaches_last_pixel: true,
            };
        }
        Elements::Integrals(_) | Elements::Points(_) => unreachable!("no operator of volumes has them"),
    }
    Ok(operator)
}
