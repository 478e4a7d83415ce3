//! The one way from arguments to a backend. An operator's options have become a [`RegionOperator`] before; then come
//! the tensors, the geometry, and the backend's own code.

use burn::backend::tensor::FloatTensor;
use burn::backend::{Dispatch, DispatchAutodiffContext, DispatchTensor, TensorMetadata};
use burn::tensor::{DType, Shape, Tensor};

use super::operator_config::Operates;
use super::options;
use super::turn::Turn;
use crate::backend::{DeviceKind, HostRegions, RoiBackend, output_shape};
use crate::error::{RoiError, unsupported};
use crate::geometry::operator::{ChannelMap, RegionOperator};
use crate::memory;
use crate::regions::{RegionTable, Regions, same_device, same_dtype, shape};

/// The tensors of a call.
pub struct Arguments<B: RoiBackend> {
    /// The map of each level of a pyramid, of which there is at least one.
    pub features: Vec<FloatTensor<B>>,
    pub regions: Regions<B>,
    /// `[K, 2, parts y, parts x]`, or `[K, 2 * classes, parts y, parts x]` for `deform_ps_roi_pool`.
    pub offsets: Option<FloatTensor<B>>,
}

/// Pools regions of Burn's tensors, whose device decides the backend.
pub fn pool_tensor<C: Operates>(
    features: Tensor<4>,
    rois: &C::Rois,
    offsets: Option<Tensor<4>>,
    config: &C,
) -> Result<Tensor<4>, RoiError> {
    let operator = config.operator(offsets.is_some())?;
    pool_pyramid_tensor(vec![features], rois, offsets, config, &[operator])
}

/// Pools regions of a pyramid of Burn's tensors: one operator for each level.
pub fn pool_pyramid_tensor<C: Operates>(
    features: Vec<Tensor<4>>,
    rois: &C::Rois,
    offsets: Option<Tensor<4>>,
    config: &C,
    operators: &[RegionOperator],
) -> Result<Tensor<4>, RoiError> {
    let features = features.into_iter();
    let features = features.map(|features| supported("features", features.into_dispatch()));
    let offsets = offsets.map(|offsets| supported("offsets", offsets.into_dispatch()));
    let Regions {
        boxes,
        batch_indices,
        kind,
    } = rois.regions();
    let arguments = Arguments::<Dispatch> {
        features: features.collect::<Result<_, _>>()?,
        offsets: offsets.transpose()?,
        regions: Regions {
            boxes: supported("boxes", boxes)?,
            batch_indices: supported("batch_indices", batch_indices)?,
            kind,
        },
    };
    Ok(Tensor::from_dispatch(pool(arguments, config, operators)?))
}

/// Pools regions of a backend's own tensors: one operator for each level of a pyramid.
pub fn pool<B: RoiBackend>(
    arguments: Arguments<B>,
    config: &impl Operates,
    operators: &[RegionOperator],
) -> Result<FloatTensor<B>, RoiError> {
    let (arguments, turn) = Turn::of(arguments, config)?;
    let mut pooled = Vec::new();
    for part in config.parts(arguments)? {
        let outcome = pool_part(part, operators);
        pooled.push(outcome.map_err(|error| of_part(error, pooled.len(), &operators[0]))?);
    }
    let pooled = match pooled.len() {
        1 => pooled.remove(0),
        _ => B::float_cat(pooled, 1),
    };
    Ok(match turn {
        Some(turn) => turn.apply(pooled),
        None => pooled,
    })
}

/// Pools what a backend computes by itself.
fn pool_part<B: RoiBackend>(arguments: Arguments<B>, operators: &[RegionOperator]) -> Result<FloatTensor<B>, RoiError> {
    let (features, regions) = with_offsets(arguments, &operators[0])?;
    let shape = check_pyramid::<B>(&features, &regions, operators)?;
    let on_host = regions.on_host(features[0].shape()[0])?;
    if reads_nothing(&features[0].shape(), &shape) {
        return Ok(B::without_pixels(features[0].clone(), regions.boxes, operators[0]));
    }
    Ok(pool_levels::<B>(features, regions, on_host, operators))
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

/// Checks the levels of a pyramid, and gives the shape of the output.
pub(super) fn check_pyramid<B: RoiBackend>(
    features: &[FloatTensor<B>],
    regions: &Regions<B>,
    operators: &[RegionOperator],
) -> Result<Shape, RoiError> {
    for level in features {
        check_features::<B>(level, regions)?;
        check_like_finest::<B>(level, &features[0])?;
        pooled_shape::<B>(&level.shape(), regions, &operators[0])?;
    }
    let shape = pooled_shape::<B>(&features[0].shape(), regions, &operators[0])?;
    check_output::<B>(&features[0], &shape)?;
    Ok(shape)
}

/// Checks that the output of a call fits into memory.
fn check_output<B: RoiBackend>(features: &FloatTensor<B>, shape: &Shape) -> Result<(), RoiError> {
    memory::check::<B>("output", shape, features.dtype(), &features.device())
}

fn pool_levels<B: RoiBackend>(
    features: Vec<FloatTensor<B>>,
    Regions {
        boxes, batch_indices, ..
    }: Regions<B>,
    on_host: Option<HostRegions>,
    operators: &[RegionOperator],
) -> FloatTensor<B> {
    // A box may belong to no level, and then keeps this value.
    let can_belong_to_none = operators[0].areas.from > 0.0;
    let nothing = can_belong_to_none.then(|| B::without_pixels(features[0].clone(), boxes.clone(), operators[0]));
    let mut levels = features.into_iter().zip(operators.iter().copied());
    let mut pooled = nothing.unwrap_or_else(|| {
        let (finest, operator) = levels.next().expect("there is a level");
        B::pool(finest, boxes.clone(), batch_indices.clone(), on_host.clone(), operator)
    });
    for (level, operator) in levels {
        let (boxes, batch_indices) = (boxes.clone(), batch_indices.clone());
        pooled = B::pool_level(pooled, level, boxes, batch_indices, on_host.clone(), operator);
    }
    pooled
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
    let batch_indices = regions.batch_indices;
    Ok((
        features,
        Regions {
            boxes,
            batch_indices,
            kind,
        },
    ))
}

/// The tensor, or an error where its device records operations for gradients and this build has none.
fn supported(argument: &'static str, tensor: DispatchTensor) -> Result<DispatchTensor, RoiError> {
    match tensor.autodiff {
        DispatchAutodiffContext::Enabled(_) if !cfg!(feature = "autodiff") => Err(RoiError::Autodiff { argument }),
        _ => Ok(tensor),
    }
}

/// Checks the features, and that the regions go with them.
pub(crate) fn check_features<B: RoiBackend>(features: &FloatTensor<B>, regions: &Regions<B>) -> Result<(), RoiError> {
    let device = features.device();
    shape(
        "features",
        &features.shape(),
        "[N, C, H, W]",
        features.shape().num_dims() == 4,
    )?;
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

/// Checks that a level of a pyramid has as many images and channels as the finest.
fn check_like_finest<B: RoiBackend>(level: &FloatTensor<B>, finest: &FloatTensor<B>) -> Result<(), RoiError> {
    let (found, expected) = (level.shape(), finest.shape());
    let fits = found[0..2] == expected[0..2];
    shape(
        "features",
        &found,
        "[N, C, H, W], with the N and C of the first level",
        fits,
    )
}

/// The shape `[K, channels, P, Q]` of the output, where features have the pixels and channels for it.
pub(crate) fn pooled_shape<B: RoiBackend>(
    shape: &Shape,
    regions: &Regions<B>,
    operator: &RegionOperator,
) -> Result<Shape, RoiError> {
    let [_, channels, height, width] = shape.dims();
    if regions.len() > 0 && (height == 0 || width == 0) {
        return Err(RoiError::EmptyMap { shape: shape.dims() });
    }
    let (map, output_size) = (operator.channel_map, operator.output_size);
    if let (ChannelMap::SampleSensitive { samples }, None) = (map, map.output_channels(channels, output_size)) {
        return Err(RoiError::ChannelGroups {
            channels,
            divisor: samples,
            of: "part of a region",
        });
    }
    if map.output_channels(channels, output_size).is_none() {
        return Err(RoiError::Channels {
            channels,
            divisor: map.input_channels(output_size[0] * output_size[1]),
            output_size,
        });
    }
    Ok(output_shape(shape, &regions.boxes.shape(), operator))
}

/// Whether there is no image to read, or nothing to write.
pub(crate) fn reads_nothing(features: &Shape, pooled: &Shape) -> bool {
    features[0] == 0 || pooled.iter().any(|&size| size == 0)
}
