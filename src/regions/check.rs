//! The boxes and batch indices of a backend, checked once.

use burn::backend::TensorMetadata;
use burn::backend::tensor::{FloatTensor, IntTensor};
use burn::tensor::{DType, Shape, read_sync};

use crate::backend::{DeviceKind, HostRegions, RegionCall, RoiBackend};
use crate::error::RoiError;
use crate::geometry::operator::{RegionKind, RegionOperator};
#[cfg(feature = "remote")]
use crate::geometry::plan::Region;

/// K regions `[K, columns]` and the batch index `[K]` of each, on one device.
#[derive(Clone)]
pub struct Regions<B: RoiBackend> {
    pub boxes: FloatTensor<B>,
    pub batch_indices: IntTensor<B>,
    /// What the columns are.
    pub kind: RegionKind,
}

impl<B: RoiBackend> Regions<B> {
    /// Checks shapes, counts and devices.
    ///
    /// # Errors
    ///
    /// [`RoiError::Shape`], [`RoiError::Count`] or [`RoiError::Device`].
    pub fn try_new(boxes: FloatTensor<B>, batch_indices: IntTensor<B>, kind: RegionKind) -> Result<Self, RoiError> {
        let (of_boxes, of_indices) = (boxes.shape(), batch_indices.shape());
        shape(
            "boxes",
            &of_boxes,
            shapes(kind)[2],
            of_boxes.num_dims() == 2 && of_boxes[1] == kind.columns(),
        )?;
        shape("batch_indices", &of_indices, "[K]", of_indices.num_dims() == 1)?;
        if of_boxes[0] != of_indices[0] {
            return Err(RoiError::Count {
                boxes: of_boxes[0],
                batch_indices: of_indices[0],
            });
        }
        same_device("batch_indices", &batch_indices.device(), "boxes", &boxes.device())?;
        Ok(Self {
            boxes,
            batch_indices,
            kind,
        })
    }

    /// The number of regions.
    pub fn len(&self) -> usize {
        self.boxes.shape()[0]
    }

    /// The call of an operator on features of a shape `[N, C, H, W]`. `on_host` are these regions, as
    /// [`on_host`](Self::on_host) read them.
    pub fn call(
        &self,
        on_host: Option<HostRegions>,
        operator: RegionOperator,
        features_shape: &Shape,
    ) -> RegionCall<B> {
        RegionCall {
            boxes: self.boxes.clone(),
            batch_indices: self.batch_indices.clone(),
            regions: on_host,
            operator,
            features_shape: features_shape.dims(),
        }
    }

    /// On a host device, reads and checks all regions, which belong to `batch` images; on another, reads nothing.
    ///
    /// # Errors
    ///
    /// [`RoiError::BoxNotFinite`], [`RoiError::AngleNotFinite`], [`RoiError::OffsetNotFinite`] or
    /// [`RoiError::BatchIndex`], for the first row that is wrong.
    pub fn on_host(&self, batch: usize) -> Result<Option<HostRegions>, RoiError> {
        if self.len() == 0 || B::device_kind(&self.boxes.device()) != DeviceKind::Host {
            return Ok(None);
        }
        read_sync(self.read(batch)).map(Some)
    }

    /// Reads and checks all regions, on any device.
    ///
    /// # Errors
    ///
    /// As [`on_host`](Self::on_host).
    pub async fn read(&self, batch: usize) -> Result<HostRegions, RoiError> {
        self.rows(batch, |_| ()).await?.collect()
    }

    /// Reads all regions; none for a row whose box is not finite or whose batch index is invalid. An offset that is not
    /// finite becomes one that leads out of every map, so that its elements read nothing.
    ///
    /// # Errors
    ///
    /// [`RoiError::DeviceRead`].
    #[cfg(feature = "remote")]
    pub async fn read_rows(&self, batch: usize) -> Result<Vec<Option<Region>>, RoiError> {
        let lead_out = |row: &mut [f64]| {
            if let RegionKind::Offsets(_) = self.kind {
                for offset in row[4..].iter_mut().filter(|offset| !offset.is_finite()) {
                    *offset = f32::MAX.into();
                }
            }
        };
        Ok(self.rows(batch, lead_out).await?.map(Result::ok).collect())
    }
}

/// The shapes that boxes must have: alone, after a batch index, and one tensor for each image.
pub(super) fn shapes(kind: RegionKind) -> [&'static str; 3] {
    match kind {
        RegionKind::Rotated => [
            "[K, 5], with up to two leading dimensions of 1",
            "[K, 6], with up to two leading dimensions of 1",
            "[K, 5]",
        ],
        RegionKind::Box | RegionKind::Offsets(_) => [
            "[K, 4], with up to two leading dimensions of 1",
            "[K, 5], with up to two leading dimensions of 1",
            "[K, 4]",
        ],
    }
}

/// An error where a tensor's shape does not fit.
pub(crate) fn shape(argument: &'static str, shape: &Shape, expected: &'static str, fits: bool) -> Result<(), RoiError> {
    if fits {
        return Ok(());
    }
    Err(RoiError::Shape {
        argument,
        shape: shape.to_vec(),
        expected,
    })
}

/// An error where a tensor is on another device than the one it goes with.
pub fn same_device<D: PartialEq + std::fmt::Debug>(
    argument: &'static str,
    device: &D,
    like: &'static str,
    expected: &D,
) -> Result<(), RoiError> {
    if device == expected {
        return Ok(());
    }
    Err(RoiError::Device {
        argument,
        device: format!("{device:?}"),
        like,
        expected: format!("{expected:?}"),
    })
}

/// An error where a tensor has another dtype than the one it goes with.
pub fn same_dtype(argument: &'static str, dtype: DType, like: &'static str, expected: DType) -> Result<(), RoiError> {
    if dtype == expected {
        return Ok(());
    }
    Err(RoiError::DType {
        argument,
        dtype,
        expected: format!("{expected:?}, as `{like}` is"),
    })
}
