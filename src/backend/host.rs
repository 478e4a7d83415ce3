//! Regions on the host: boxes and batch indices, read from a backend's tensors.

use burn::backend::Backend;
use burn::backend::Dispatch;
use burn::backend::tensor::{FloatTensor, IntTensor};
use burn::tensor::{DType, Device, Element, TensorData, read_sync};

use crate::backend::RoiBackend;
use crate::error::RoiError;
use crate::geometry::convention::AreaRange;
use crate::geometry::plan::Coordinate;

/// Whether a device's tensors are in host memory.
pub(crate) fn is_host_device(device: &Device) -> bool {
    Dispatch::is_host(device.as_dispatch())
}

/// One region as an executor needs it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Region<R> {
    /// The image it belongs to, or none for a row that names none or is not finite.
    pub image: Option<usize>,
    /// Whether the call computes it: its box is of the level that is asked for.
    pub in_level: bool,
    /// Where it starts and ends along y, in box coordinates.
    pub y: [R; 2],
    /// Where it starts and ends along x, in box coordinates.
    pub x: [R; 2],
}

/// Reads all regions of a call. `columns` are those of x1, y1, x2 and y2 in `boxes`, and boxes whose area is
/// not in `areas` are not of its level.
pub(crate) fn regions<B: Backend, R: Element + Coordinate + Into<f64>>(
    boxes: FloatTensor<B>,
    batch_indices: IntTensor<B>,
    batch: usize,
    columns: [usize; 4],
    areas: &AreaRange,
) -> Vec<Region<R>> {
    let boxes = read_floats::<B>(boxes);
    let coordinates: Vec<R> = boxes.iter::<R>().collect();
    coordinates
        .chunks_exact(4)
        .zip(read_indices::<B>(batch_indices))
        .map(|(row, index)| {
            let finite = row.iter().all(|&coordinate| coordinate.into().is_finite());
            let [x1, y1, x2, y2] = columns.map(|column| row[column]);
            Region {
                image: usize::try_from(index).ok().filter(|&image| finite && image < batch),
                in_level: R::in_range(areas, [y1, y2], [x1, x2]),
                y: [y1, y2],
                x: [x1, x2],
            }
        })
        .collect()
}

/// Checks that boxes are finite and that batch indices are in `[0, batch)`; names the first row that
/// is not.
pub(crate) fn validate<B: Backend>(
    boxes: FloatTensor<B>,
    batch_indices: IntTensor<B>,
    batch: usize,
) -> Result<(), RoiError> {
    let coordinates: Vec<f64> = read_floats::<B>(boxes).iter::<f64>().collect();
    for (row, coordinates) in coordinates.chunks_exact(4).enumerate() {
        if !coordinates.iter().all(|coordinate| coordinate.is_finite()) {
            let coordinates = [coordinates[0], coordinates[1], coordinates[2], coordinates[3]];
            return Err(RoiError::BoxNotFinite { row, coordinates });
        }
    }
    for (row, index) in read_indices::<B>(batch_indices).enumerate() {
        if index < 0 || index >= batch as i128 {
            return Err(RoiError::BatchIndex { row, index, batch });
        }
    }
    Ok(())
}

/// A float tensor's data on the host.
pub(crate) fn read_floats<B: Backend>(tensor: FloatTensor<B>) -> TensorData {
    read_sync(B::float_into_data(tensor)).expect("the device should answer with the tensor's data")
}

/// An integer tensor's values on the host, wide enough for every integer dtype.
fn read_indices<B: Backend>(tensor: IntTensor<B>) -> impl Iterator<Item = i128> {
    let data = read_sync(B::int_into_data(tensor)).expect("the device should answer with the tensor's data");
    let values: Vec<i128> = match data.dtype() {
        DType::U64 => data.iter::<u64>().map(i128::from).collect(),
        _ => data.iter::<i64>().map(i128::from).collect(),
    };
    values.into_iter()
}
