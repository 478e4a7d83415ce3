//! The one way from arguments to a backend. An operator's options have become a [`RegionOperator`] before; then come
//! the tensors, the geometry, and the backend's own code.

use burn::backend::tensor::FloatTensor;
use burn::backend::{Dispatch, DispatchAutodiffContext, DispatchTensor, TensorMetadata};
use burn::tensor::Tensor;

use super::arguments::{Arguments, check_pyramid, joined, of_part, reads_nothing, with_offsets};
use super::operator_config::Operates;
use super::turn::Turn;
use crate::backend::{CoarserLevels, RoiBackend, pool_levels};
use crate::error::RoiError;
use crate::geometry::operator::RegionOperator;
use crate::regions::{RegionTable, Regions};

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
    let regions = rois.regions();
    let arguments = Arguments::<Dispatch> {
        features: features.collect::<Result<_, _>>()?,
        offsets: offsets.transpose()?,
        regions: Regions {
            boxes: supported("boxes", regions.boxes)?,
            batch_indices: supported("batch_indices", regions.batch_indices)?,
            ..regions
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
    let pooled = joined::<B>(pooled);
    Ok(match turn {
        Some(turn) => turn.apply(pooled),
        None => pooled,
    })
}

/// Pools what a backend computes by itself.
fn pool_part<B: RoiBackend>(arguments: Arguments<B>, operators: &[RegionOperator]) -> Result<FloatTensor<B>, RoiError> {
    let (mut features, regions) = with_offsets(arguments, &operators[0])?;
    let pooled = check_pyramid::<B>(&features, &regions, operators)?;
    let finest = features[0].shape();
    let on_host = regions.on_host(finest[0])?;
    let call = regions.call(on_host, operators[0], &finest);
    if reads_nothing(&finest, &pooled) {
        return Ok(B::without_pixels(features[0].clone(), call));
    }
    Ok(match CoarserLevels::<B>::of(&features) {
        // Every region has a level.
        Some(coarser) if operators[0].areas.begin_at_zero() => {
            let finest = features.swap_remove(0);
            // A backend reuses the memory of a map that nothing else holds.
            drop(features);
            B::pool_pyramid(finest, coarser, operators.to_vec(), call)
        }
        _ => pool_levels::<B>(features, operators, &call),
    })
}

/// The tensor, or an error where its device records operations for gradients and this build has none.
pub(super) fn supported(argument: &'static str, tensor: DispatchTensor) -> Result<DispatchTensor, RoiError> {
    match tensor.autodiff {
        DispatchAutodiffContext::Enabled(_) if !cfg!(feature = "autodiff") => Err(RoiError::Autodiff { argument }),
        _ => Ok(tensor),
    }
}
