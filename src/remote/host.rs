//! Calls on a server whose backend reads the boxes on the host. The client has not read them, so that a row may be
//! wrong: it then reads no image, as on a GPU. The backend gets the other rows, and the outputs are put together.

use burn::backend::TensorMetadata;
use burn::backend::tensor::{FloatTensor, IntTensor};
use burn::tensor::{FloatDType, Scalar, Shape, TensorData, read_sync};

use crate::backend::remote::kernel::Kernel;
use crate::backend::remote::message::Operation;
use crate::backend::{RegionCall, RoiBackend};
use crate::error::RoiError;
use crate::geometry::plan::Region;
use crate::regions::Regions;

/// Computes a call whose rows may be wrong.
///
/// # Errors
///
/// [`RoiError::DeviceRead`].
pub fn compute<B: RoiBackend>(kernel: Kernel<B>, mut call: RegionCall<B>) -> Result<FloatTensor<B>, RoiError> {
    let regions = Regions::<B> {
        boxes: call.boxes.clone(),
        batch_indices: call.batch_indices.clone(),
        kind: call.operator.region_kind(),
    };
    let rows = read_sync(regions.read_rows(call.features_shape[0]))?;
    if rows.iter().all(Option::is_some) {
        call.regions = Some(rows.into_iter().flatten().collect());
        return Ok(kernel.run(call));
    }
    Ok(of_right_rows(kernel, call, &rows))
}

fn of_right_rows<B: RoiBackend>(kernel: Kernel<B>, call: RegionCall<B>, rows: &[Option<Region>]) -> FloatTensor<B> {
    let (output, _) = kernel.output(&call);
    let right: Vec<usize> = (0..rows.len()).filter(|&row| rows[row].is_some()).collect();
    if right.is_empty() {
        return of_wrong_rows(&kernel, &call, output);
    }
    let right = indices::<B>(&right, &call.boxes.device());
    let select = |tensor: FloatTensor<B>| B::float_select(tensor, 0, right.clone());
    let of_right = Kernel {
        like_output: kernel.like_output.clone().map(select),
        ..kernel.clone()
    };
    let computed = of_right.run(RegionCall {
        boxes: select(call.boxes.clone()),
        batch_indices: B::int_select(call.batch_indices.clone(), 0, right.clone()),
        regions: Some(rows.iter().flatten().cloned().collect()),
        ..call.clone()
    });
    match kernel.operation {
        // A wrong row has no part in the gradient of features.
        Operation::AverageGradient | Operation::MaximumGradient => computed,
        _ => {
            let mut one_row = output;
            one_row[0] = 1;
            merge::<B>(computed, of_wrong_rows(&kernel, &call, one_row), rows)
        }
    }
}

/// What wrong rows give, in a tensor of a shape. A level of a pyramid leaves them as they are, in its own shape.
fn of_wrong_rows<B: RoiBackend>(kernel: &Kernel<B>, call: &RegionCall<B>, shape: Shape) -> FloatTensor<B> {
    let value = match (kernel.operation, &kernel.like_output) {
        (Operation::PoolLevel, Some(pooled)) => return pooled.clone(),
        (Operation::Pool, _) => call.operator.value_without_pixels(),
        _ => 0.0,
    };
    let dtype = FloatDType::from(kernel.output(call).1);
    B::float_full(shape, Scalar::from(value), &call.boxes.device(), dtype)
}

/// All rows: the right ones from `computed`, which has no others, and the wrong ones from `wrong`. That has one row for
/// all or one for each.
fn merge<B: RoiBackend>(computed: FloatTensor<B>, wrong: FloatTensor<B>, rows: &[Option<Region>]) -> FloatTensor<B> {
    let (of_right, of_wrong) = (computed.shape()[0], wrong.shape()[0]);
    let mut next = 0..;
    let places = rows.iter().enumerate().map(|(row, region)| match region {
        Some(_) => next.next().expect("counting does not end"),
        None => of_right + row.min(of_wrong - 1),
    });
    let places = indices::<B>(&places.collect::<Vec<_>>(), &computed.device());
    B::float_select(B::float_cat(vec![computed, wrong], 0), 0, places)
}

/// Row numbers as a tensor.
fn indices<B: RoiBackend>(rows: &[usize], device: &B::Device) -> IntTensor<B> {
    let rows: Vec<i64> = rows.iter().map(|&row| row as i64).collect();
    let count = rows.len();
    B::int_from_data(TensorData::new(rows, [count]), device)
}
