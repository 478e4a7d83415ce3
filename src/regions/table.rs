//! Boxes and the image each belongs to, of any kind: every check of their shapes.

use burn::backend::Dispatch;
use burn::tensor::{Int, Tensor, TensorData};

use super::check::{Regions, same_device, shape, shapes};
use crate::backend::{is_host, wide};
use crate::error::RoiError;
use crate::geometry::operator::RegionKind;

/// Boxes `[K, columns]` and batch indices `[K]`, whose shapes are right.
pub(super) type Table = (Tensor<2>, Tensor<1, Int>);

pub(super) fn of_tensors<const B: usize, const I: usize>(
    kind: RegionKind,
    boxes: Tensor<B>,
    batch_indices: Tensor<I, Int>,
) -> Result<Table, RoiError> {
    let boxes = rows(boxes, kind.columns(), shapes(kind)[0])?;
    let indices = batch_indices.shape();
    let fits = (1..=4).contains(&I) && indices[..I - 1].iter().all(|&size| size == 1);
    shape(
        "batch_indices",
        &indices,
        "[K], with up to three leading dimensions of 1",
        fits,
    )?;
    let batch_indices = batch_indices.reshape([indices[I - 1]]);
    Regions::<Dispatch>::try_new(
        boxes.clone().into_dispatch(),
        batch_indices.clone().into_dispatch(),
        kind,
    )?;
    Ok((boxes, batch_indices))
}

pub(super) fn from_index_first<const B: usize>(kind: RegionKind, boxes: Tensor<B>) -> Result<Table, RoiError> {
    let columns = kind.columns();
    let table = rows(boxes, columns + 1, shapes(kind)[1])?;
    let [count, _] = table.dims();
    let indices = table.clone().slice([0..count, 0..1]).reshape([count]);
    if is_host(&table.device()) {
        all_whole(&indices)?;
    }
    let boxes = table.slice([0..count, 1..columns + 1]);
    Ok((boxes, whole_or_none(indices)))
}

/// Joins the boxes of all images, whose shape is `expected`.
pub(super) fn from_images(boxes: Vec<Tensor<2>>, columns: usize, expected: &'static str) -> Result<Table, RoiError> {
    let Some(first) = boxes.first() else {
        return Err(RoiError::NoImages { argument: "boxes" });
    };
    let (device, dtype) = (first.device(), first.dtype());
    let mut indices = Vec::new();
    for (image, boxes) in boxes.iter().enumerate() {
        shape("boxes", &boxes.shape(), expected, boxes.dims()[1] == columns)?;
        let found = boxes.device();
        same_device("boxes", found.as_dispatch(), "boxes", device.as_dispatch())?;
        if boxes.dtype() != dtype {
            return Err(RoiError::DType {
                argument: "boxes",
                dtype: boxes.dtype(),
                expected: format!("{dtype:?}, as those of the first image are"),
            });
        }
        indices.extend(std::iter::repeat_n(image as i32, boxes.dims()[0]));
    }
    let count = indices.len();
    let empty = first.clone();
    let mut filled: Vec<_> = boxes.into_iter().filter(|boxes| boxes.dims()[0] > 0).collect();
    let boxes = match filled.len() {
        0 => empty,
        1 => filled.remove(0),
        _ => Tensor::cat(filled, 0),
    };
    Ok((boxes, Tensor::from_data(TensorData::new(indices, [count]), &device)))
}

/// A tensor of rank 2 to 4 as the rows of its last dimension.
fn rows<const D: usize>(tensor: Tensor<D>, columns: usize, expected: &'static str) -> Result<Tensor<2>, RoiError> {
    let found = tensor.shape();
    let fits = (2..=4).contains(&D) && found[D - 1] == columns && found[..D - 2].iter().all(|&size| size == 1);
    shape("boxes", &found, expected, fits)?;
    Ok(tensor.reshape([found[D - 2], columns]))
}

/// Checks indices that came as floats, on the host.
fn all_whole(indices: &Tensor<1>) -> Result<(), RoiError> {
    let data = indices.to_data();
    match data.iter::<f64>().enumerate().find(|(_, index)| index.fract() != 0.0) {
        Some((row, index)) => Err(RoiError::BatchIndexNotWhole { row, index }),
        None => Ok(()),
    }
}

/// Converts indices that came as floats to integers. A float that is no whole number or exceeds an i32 becomes -1, an
/// invalid index.
fn whole_or_none(indices: Tensor<1>) -> Tensor<1, Int> {
    const LARGEST: f32 = 2_147_483_520.0;
    let dtype = wide(indices.dtype());
    let indices = indices.cast(dtype);
    let whole = indices.clone().floor().equal(indices.clone());
    let holds = indices
        .clone()
        .greater_equal_elem(0.0)
        .bool_and(indices.clone().lower_equal_elem(LARGEST));
    indices.mask_fill(whole.bool_and(holds).bool_not(), -1.0).int()
}
