//! The tensors of a call, and every check of what goes together.

use burn::backend::TensorMetadata;
use burn::backend::tensor::FloatTensor;
use burn::tensor::{DType, Shape};

use super::options;
use crate::backend::{DeviceKind, RoiBackend, output_shape};
use crate::error::{RoiError, unsupported};
use crate::geometry::operator::{ChannelMap, RegionOperator};
use crate::memory;
use crate::regions::{Regions, same_device, same_dtype, shape};

/// The tensors of a call.
pub struct Arguments<B: RoiBackend> {
    /// The map of each level of a pyramid, of which there is at least one.
    pub features: Vec<FloatTensor<B>>,
    pub regions: Regions<B>,
    /// `[K, 2, parts y, parts x]`, or `[K, 2 * classes, parts y, parts x]` for `deform_ps_roi_pool`.
    pub offsets: Option<FloatTensor<B>>,
}

/// The features, and the regions with their offsets in columns after the box.
pub(super) fn with_offsets<B: RoiBackend>(
    Arguments {
        features,
        regions,
        offsets,
    }: Arguments<B>,
    operator: &RegionOperator,
) -> Result<(Vec<FloatTensor<B>>, Regions<B>), RoiError> {
    let Some(offsets) = offsets else {
        return Ok((features, regions));
    };
    let (found, boxes) = (offsets.shape(), &regions.boxes);
    let kind = operator.region_kind();
    let columns = kind.columns() - kind.box_columns();
    let value = format!("{:?}", found.to_vec());
    options::check("offsets", columns > 0, value, "none: this operator takes no offsets")?;
    let fits = found.num_dims() == 4 && found[0] == regions.len() && found[1] == 2;
    let fits = fits && [found[2], found[3]] == kind.offset_parts();
    shape(
        "offsets",
        &found,
        "[K, 2, rows, columns], with an offset along x and one along y for each part of a region",
        fits,
    )?;
    same_device("offsets", &offsets.device(), "boxes", &boxes.device())?;
    same_dtype("offsets", offsets.dtype(), "boxes", boxes.dtype())?;
    let boxes = if regions.len() == 0 {
        // `float_cat` of burn-cubecl 0.22 subtracts 1 from a size of 0, which panics in a build with overflow checks.
        // The sum of both empty tensors passes gradients on to both, as `float_cat` does.
        let shape = Shape::new([0, kind.columns()]);
        B::float_add(
            B::float_reshape(regions.boxes, shape.clone()),
            B::float_reshape(offsets, shape),
        )
    } else {
        let offsets = B::float_reshape(offsets, Shape::new([regions.len(), columns]));
        B::float_cat(vec![regions.boxes, offsets], 1)
    };
    Ok((features, Regions { boxes, kind, ..regions }))
}

/// The error of a part of a call. The offsets of an element are counted among those of all parts.
pub(super) fn of_part(error: RoiError, part: usize, operator: &RegionOperator) -> RoiError {
    let [rows, columns] = operator.region_kind().offset_parts();
    match error {
        RoiError::OffsetNotFinite { row, place, offset } => RoiError::OffsetNotFinite {
            row,
            place: place + 2 * part * rows * columns,
            offset,
        },
        error => error,
    }
}

/// Tensors, one after another along their channels.
pub(super) fn joined<B: RoiBackend>(mut parts: Vec<FloatTensor<B>>) -> FloatTensor<B> {
    match parts.len() {
        1 => parts.remove(0),
        _ => B::float_cat(parts, 1),
    }
}

/// Checks the levels of a pyramid, and gives the shape of the output.
pub(super) fn check_pyramid<B: RoiBackend>(
    features: &[FloatTensor<B>],
    regions: &Regions<B>,
    operators: &[RegionOperator],
) -> Result<Shape, RoiError> {
    let (finest, coarser) = features.split_first().expect("there is a level");
    check_features::<B>(finest, regions)?;
    let shape = pooled_shape::<B>(&finest.shape(), regions, &operators[0])?;
    for level in coarser {
        check_features::<B>(level, regions)?;
        check_like_finest::<B>(level, finest)?;
        pooled_shape::<B>(&level.shape(), regions, &operators[0])?;
    }
    memory::check::<B>("output", &shape, finest.dtype(), &finest.device())?;
    Ok(shape)
}

/// Checks the features, and that the regions go with them.
pub(crate) fn check_features<B: RoiBackend>(features: &FloatTensor<B>, regions: &Regions<B>) -> Result<(), RoiError> {
    let (device, found) = (features.device(), features.shape());
    shape("features", &found, "[N, C, H, W]", found.num_dims() == 4)?;
    if B::device_kind(&device) == DeviceKind::Unsupported {
        return Err(unsupported("features", &device));
    }
    same_device("boxes", &regions.boxes.device(), "features", &device)?;
    check_dtypes::<B>(features, regions)
}

pub(crate) fn check_dtypes<B: RoiBackend>(features: &FloatTensor<B>, regions: &Regions<B>) -> Result<(), RoiError> {
    let (device, dtype) = (features.device(), features.dtype());
    let wrong = |argument, dtype, expected| {
        Err(RoiError::DType {
            argument,
            dtype,
            expected,
        })
    };
    if !B::pools_dtype(&device, dtype) {
        let floats = [DType::F64, DType::F32, DType::F16, DType::BF16].into_iter();
        let names: Vec<_> = floats.filter(|&dtype| B::pools_dtype(&device, dtype)).collect();
        return wrong("features", dtype, format!("one of {names:?} on this device"));
    }
    let is_half = matches!(dtype, DType::F16 | DType::BF16);
    let of_boxes = regions.boxes.dtype();
    if !is_half {
        same_dtype("boxes", of_boxes, "features", dtype)?;
    } else if ![dtype, DType::F32].contains(&of_boxes) {
        return wrong("boxes", of_boxes, format!("F32, or {dtype:?} as `features` is"));
    }
    let index_dtype = regions.batch_indices.dtype();
    if !B::indexes_dtype(&device, index_dtype) {
        return wrong(
            "batch_indices",
            index_dtype,
            "an integer dtype that this device has".to_string(),
        );
    }
    Ok(())
}

/// Checks a tensor of the output's shape and of the features' dtype, which is on the device of `like`.
pub(crate) fn check_like_output<B: RoiBackend>(
    argument: &'static str,
    tensor: &FloatTensor<B>,
    output: &Shape,
    (like, device): (&'static str, &B::Device),
    dtype: DType,
) -> Result<(), RoiError> {
    let (found, expected) = (tensor.shape(), "[K, channels, P, Q], that of the operator's output");
    shape(argument, &found, expected, found == *output)?;
    same_device(argument, &tensor.device(), like, device)?;
    same_dtype(argument, tensor.dtype(), "features", dtype)
}

/// Checks that a level of a pyramid has as many images and channels as the finest, and its dtype.
fn check_like_finest<B: RoiBackend>(level: &FloatTensor<B>, finest: &FloatTensor<B>) -> Result<(), RoiError> {
    let (found, expected) = (level.shape(), finest.shape());
    let fits = found[0..2] == expected[0..2];
    shape(
        "features",
        &found,
        "[N, C, H, W], with the N and C of the first level",
        fits,
    )?;
    same_dtype("features", level.dtype(), "features[0]", finest.dtype())
}

/// The shape `[K, channels, P, Q]` of the output, where features have the pixels and channels for it.
pub(crate) fn pooled_shape<B: RoiBackend>(
    shape: &Shape,
    regions: &Regions<B>,
    operator: &RegionOperator,
) -> Result<Shape, RoiError> {
    let [_, channels, height, width] = shape.dims();
    let regions = regions.len();
    if regions > 0 && (height == 0 || width == 0) {
        return Err(RoiError::EmptyMap { shape: shape.dims() });
    }
    let (map, output_size) = (operator.channel_map, operator.output_size);
    if map.output_channels(channels, output_size).is_none() {
        return Err(match map {
            ChannelMap::SampleSensitive { samples } => RoiError::ChannelGroups {
                channels,
                divisor: samples,
                of: "part of a region",
            },
            _ => RoiError::Channels {
                channels,
                divisor: map.input_channels(output_size[0] * output_size[1]),
                output_size,
            },
        });
    }
    Ok(output_shape(shape.dims(), regions, operator))
}

/// Whether there is no image to read, or nothing to write.
pub(crate) fn reads_nothing(features: &Shape, pooled: &Shape) -> bool {
    features[0] == 0 || pooled.iter().any(|&size| size == 0)
}
