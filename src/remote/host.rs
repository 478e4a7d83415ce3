//! Calls on a server whose backend reads the boxes on the host. The client has not read them, so that a row may be
//! wrong: it then reads no image, as on a GPU.

use burn::backend::tensor::{BoolTensor, FloatTensor};
use burn::backend::{TensorMetadata, get_or_init_device_settings};
use burn::tensor::{Scalar, Shape, TensorData, read_sync};

use crate::backend::remote::kernel::Kernel;
use crate::backend::remote::message::Operation;
use crate::backend::{RegionCall, RoiBackend};
use crate::error::RoiError;
use crate::geometry::plan::Region;
use crate::regions::Regions;

/// Computes a call whose rows may be wrong. A wrong row is computed with a box of zeros, and then replaced.
///
/// # Errors
///
/// [`RoiError::DeviceRead`].
pub fn compute<B: RoiBackend>(mut kernel: Kernel<B>, mut call: RegionCall<B>) -> Result<FloatTensor<B>, RoiError> {
    let regions = Regions::<B> {
        boxes: call.boxes.clone(),
        batch_indices: call.batch_indices.clone(),
        kind: call.operator.region_kind(),
    };
    let rows = read_sync(regions.read_rows(call.features_shape[0]))?;
    let wrong: Vec<bool> = rows.iter().map(Option::is_none).collect();
    let zeros = || Region {
        image: 0,
        corners: [0.0; 4],
        rest: vec![0.0; regions.kind.columns() - 4].into(),
    };
    call.regions = Some(rows.into_iter().map(|row| row.unwrap_or_else(zeros)).collect());
    if !wrong.contains(&true) {
        return Ok(kernel.run(call));
    }
    let value = match kernel.operation {
        Operation::Pool => call.operator.value_without_pixels(),
        _ => 0.0,
    };
    let fill = |tensor: FloatTensor<B>| {
        let mask = mask::<B>(&wrong, &tensor);
        B::float_mask_fill(tensor, mask, Scalar::from(value))
    };
    match kernel.operation {
        Operation::Pool | Operation::BoxesGradient => Ok(fill(kernel.run(call))),
        Operation::PoolLevel => {
            // A level of a pyramid leaves wrong rows as they are.
            let pooled = kernel.like_output.clone().expect("a level has what others pooled");
            let mask = mask::<B>(&wrong, &pooled);
            Ok(B::float_mask_where(kernel.run(call), mask, pooled))
        }
        Operation::AverageGradient | Operation::MaximumGradient => {
            // A wrong row has no part in the gradient of features.
            kernel.like_output = kernel.like_output.map(fill);
            Ok(kernel.run(call))
        }
    }
}

/// Which rows of a tensor are wrong, in its shape.
fn mask<B: RoiBackend>(wrong: &[bool], tensor: &FloatTensor<B>) -> BoolTensor<B> {
    let (shape, device) = (tensor.shape(), tensor.device());
    let dtype = get_or_init_device_settings::<B>(&device).bool_dtype;
    let mut of_rows = vec![1; shape.num_dims()];
    of_rows[0] = wrong.len();
    let data = TensorData::new(wrong.to_vec(), Shape::from(of_rows)).convert_dtype(dtype.into());
    B::bool_expand(B::bool_from_data(data, &device), shape)
}
