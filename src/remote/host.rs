//! Calls on a server whose backend reads the boxes on the host. The client has not read them, so that a row may be
//! wrong: it then reads no image, as on a GPU. The backend gets the other rows, and the outputs are put together.

use burn::backend::TensorMetadata;
use burn::backend::tensor::{FloatTensor, IntTensor};
use burn::tensor::{FloatDType, Scalar, Shape, TensorData, read_sync};

use super::call::Call;
use super::tensors;
use crate::backend::RoiBackend;
use crate::backend::remote::message::Operation;
use crate::error::RoiError;
use crate::geometry::plan::Region;
use crate::regions::Regions;

/// Computes a call whose rows may be wrong.
///
/// # Errors
///
/// [`RoiError::DeviceRead`].
pub fn compute<B: RoiBackend>(call: Call<B>) -> Result<FloatTensor<B>, RoiError> {
    let regions = Regions::<B> {
        boxes: call.boxes.clone(),
        batch_indices: call.batch_indices.clone(),
        kind: call.operator.region_kind(),
    };
    let rows = read_sync(regions.read_rows(call.images()))?;
    if rows.iter().all(Option::is_some) {
        return Ok(call.compute(Some(rows.into_iter().flatten().collect())));
    }
    Ok(of_right_rows(call, &rows))
}

fn of_right_rows<B: RoiBackend>(call: Call<B>, rows: &[Option<Region>]) -> FloatTensor<B> {
    let right: Vec<usize> = (0..rows.len()).filter(|&row| rows[row].is_some()).collect();
    if right.is_empty() {
        return of_wrong_rows(&call, call.output.clone());
    }
    let regions = rows.iter().flatten().cloned().collect();
    let computed = select(&call, &right).compute(Some(regions));
    match call.operation {
        // A wrong row has no part in the gradient of features.
        Operation::AverageGradient | Operation::MaximumGradient => computed,
        _ => merge::<B>(computed, &call, rows),
    }
}

/// The call with some of its rows.
fn select<B: RoiBackend>(call: &Call<B>, rows: &[usize]) -> Call<B> {
    let rows = indices::<B>(rows, &call.boxes.device());
    let select = |tensor: FloatTensor<B>| B::float_select(tensor, 0, rows.clone());
    let of_regions = call.operation == Operation::AverageGradient;
    Call {
        first: if of_regions {
            select(call.first.clone())
        } else {
            call.first.clone()
        },
        boxes: select(call.boxes.clone()),
        batch_indices: B::int_select(call.batch_indices.clone(), 0, rows.clone()),
        last: call.last.clone().map(select),
        ..call.clone()
    }
}

/// What wrong rows give, in a tensor of a shape. A level of a pyramid leaves them as they are, in its own shape.
fn of_wrong_rows<B: RoiBackend>(call: &Call<B>, shape: Shape) -> FloatTensor<B> {
    let value = match call.operation {
        Operation::PoolLevel => return call.last(),
        Operation::Pool => call.operator.value_without_pixels(),
        _ => 0.0,
    };
    let (device, dtype) = (call.first.device(), FloatDType::from(tensors::output(call).1));
    B::float_full(shape, Scalar::from(value), &device, dtype)
}

/// All rows: the right ones from `computed`, which has no others.
fn merge<B: RoiBackend>(computed: FloatTensor<B>, call: &Call<B>, rows: &[Option<Region>]) -> FloatTensor<B> {
    let mut one_row = call.output.clone();
    one_row[0] = 1;
    let wrong = of_wrong_rows(call, one_row);
    let (of_right, of_wrong) = (computed.shape()[0], wrong.shape()[0]);
    let mut next = 0..;
    let places: Vec<usize> = rows
        .iter()
        .enumerate()
        .map(|(row, region)| match region {
            Some(_) => next.next().expect("counting does not end"),
            // One row for all, or one for each.
            None => of_right + row.min(of_wrong - 1),
        })
        .collect();
    let places = indices::<B>(&places, &computed.device());
    B::float_select(B::float_cat(vec![computed, wrong], 0), 0, places)
}

/// Row numbers as a tensor.
fn indices<B: RoiBackend>(rows: &[usize], device: &B::Device) -> IntTensor<B> {
    let rows: Vec<i64> = rows.iter().map(|&row| row as i64).collect();
    let count = rows.len();
    B::int_from_data(TensorData::new(rows, [count]), device)
}
