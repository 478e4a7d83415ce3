//! Boxes and batch indices on the host: read once, and checked while they are.

use burn::backend::TensorMetadata;

use super::check::Regions;
use crate::backend::{DeviceKind, RoiBackend};
use crate::error::RoiError;
use crate::geometry::operator::RegionKind;
use crate::geometry::plan::Region;
use crate::read_back;

impl<B: RoiBackend> Regions<B> {
    /// Reads all regions: of each row the region, or what is wrong with it. A region must be finite and belong to one
    /// of the `batch` images. `change` is called with each row before it is checked.
    ///
    /// # Errors
    ///
    /// [`RoiError::DeviceRead`].
    pub(super) async fn rows(
        &self,
        batch: usize,
        change: impl Fn(&mut [f64]),
    ) -> Result<impl Iterator<Item = Result<Region, RoiError>>, RoiError> {
        let (columns, kind) = (self.boxes.shape()[1], self.kind);
        let on_host = B::device_kind(&self.boxes.device()) == DeviceKind::Host;
        let boxes = read_back::read(on_host, || B::float_into_data(self.boxes.clone())).await?;
        let indices = read_back::read(on_host, || B::int_into_data(self.batch_indices.clone())).await?;
        // An f64 holds every float.
        let mut numbers: Vec<f64> = boxes.iter::<f64>().collect();
        let rows = read_back::integers(&indices).into_iter().enumerate();
        Ok(rows.map(move |(row, index)| {
            let numbers = &mut numbers[row * columns..(row + 1) * columns];
            change(numbers);
            let (&corners, rest) = numbers.split_first_chunk().expect("a row has four columns or more");
            check_finite(row, kind, corners, rest)?;
            match usize::try_from(index) {
                Ok(image) if image < batch => Ok(Region {
                    image,
                    corners,
                    rest: rest.into(),
                }),
                _ => Err(RoiError::BatchIndex { row, index, batch }),
            }
        }))
    }
}

fn check_finite(row: usize, kind: RegionKind, coordinates: [f64; 4], rest: &[f64]) -> Result<(), RoiError> {
    if !coordinates.iter().all(|coordinate| coordinate.is_finite()) {
        return Err(RoiError::BoxNotFinite { row, coordinates });
    }
    let Some(place) = rest.iter().position(|number| !number.is_finite()) else {
        return Ok(());
    };
    match kind {
        RegionKind::Rotated => Err(RoiError::AngleNotFinite { row, angle: rest[0] }),
        RegionKind::Box | RegionKind::Offsets(_) => Err(RoiError::OffsetNotFinite {
            row,
            place,
            offset: rest[place],
        }),
    }
}
