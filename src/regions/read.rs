//! Boxes and batch indices on the host: read once, and checked while they are.

use burn::backend::Backend;
use burn::backend::tensor::{FloatTensor, IntTensor};
use burn::tensor::{DType, TensorData, read_sync};

use crate::error::RoiError;
use crate::geometry::plan::Region;

/// Reads all regions, each of which must be finite and name one of the `batch` images.
///
/// # Errors
///
/// [`RoiError::BoxNotFinite`] or [`RoiError::BatchIndex`], for the first row that is wrong.
pub(crate) fn read<B: Backend>(
    boxes: FloatTensor<B>,
    batch_indices: IntTensor<B>,
    batch: usize,
) -> Result<Vec<Region>, RoiError> {
    rows::<B>(boxes, batch_indices)
        .into_iter()
        .enumerate()
        .map(|(row, (corners, index))| {
            if !corners.iter().all(|corner| corner.is_finite()) {
                return Err(RoiError::BoxNotFinite {
                    row,
                    coordinates: corners,
                });
            }
            match usize::try_from(index) {
                Ok(image) if image < batch => Ok(Region { image, corners }),
                _ => Err(RoiError::BatchIndex { row, index, batch }),
            }
        })
        .collect()
}

/// The box and the batch index of each row. An f64 holds every float, and an i128 every integer.
fn rows<B: Backend>(boxes: FloatTensor<B>, batch_indices: IntTensor<B>) -> Vec<([f64; 4], i128)> {
    let boxes = on_host(B::float_into_data(boxes));
    let indices = on_host(B::int_into_data(batch_indices));
    let corners: Vec<f64> = boxes.iter::<f64>().collect();
    let indices: Vec<i128> = match indices.dtype() {
        DType::U64 => indices.iter::<u64>().map(i128::from).collect(),
        _ => indices.iter::<i64>().map(i128::from).collect(),
    };
    let (corners, _) = corners.as_chunks();
    corners.iter().copied().zip(indices).collect()
}

fn on_host<E: std::fmt::Debug>(data: impl Future<Output = Result<TensorData, E>>) -> TensorData {
    read_sync(data).expect("the device should answer with the tensor's data")
}
