//! [`Rois3d`]: boxes of three axes and the volume each belongs to.

use burn::backend::Dispatch;
use burn::backend::ops::FloatTensorOps;
use burn::tensor::{Int, Shape, Tensor};

use super::table::from_images;
use super::{Rois, shape};
use crate::backend::wide;
use crate::error::{RoiError, or_panic};
use crate::read_back::wait;

/// The order of the columns of a box of three axes. x is along the width W of `[N, C, D, H, W]`, y along the height H,
/// and z along the depth D.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BoxFormat3d {
    /// `[x1, y1, x2, y2, z1, z2]`: a box of two axes, and where it begins and ends along the third.
    Xyxyzz,
    /// `[z1, y1, x1, z2, y2, x2]`: one corner, then the other, in the order of the features' axes. It is MONAI's
    /// `[xmin, ymin, zmin, xmax, ymax, zmax]`, since MONAI calls the axes D, H and W x, y and z.
    Zyxzyx,
    /// `[z1, y1, z2, y2, x1, x2]`: the ends along D and H, then along W. It is nnDetection's order. Its kernels call
    /// the axes D, H and W y, x and z; its Python code calls them x, y and z.
    Zyzyxx,
}

impl BoxFormat3d {
    /// Which columns are x1, y1, x2, y2, z1 and z2.
    const fn columns(self) -> [usize; 6] {
        match self {
            Self::Xyxyzz => [0, 1, 2, 3, 4, 5],
            Self::Zyxzyx => [2, 1, 5, 4, 0, 3],
            Self::Zyzyxx => [4, 1, 5, 3, 0, 2],
        }
    }
}

/// Regions of volumes: K boxes of three axes, and for each the index of its volume in the batch.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi::{BoxFormat3d, Rois3d};
///
/// let device = Device::default();
/// let boxes = Tensor::<2>::from_floats([[2.0, 4.0, 8.0, 16.0, 24.0, 32.0]], &device);
/// let rois = Rois3d::from_images(vec![boxes], BoxFormat3d::Zyxzyx);
/// let boxes = rois.boxes().into_data().try_to_vec::<f32>().unwrap();
/// assert_eq!(boxes, [8.0, 4.0, 32.0, 24.0, 2.0, 16.0]);
/// ```
#[derive(Debug, Clone)]
pub struct Rois3d {
    /// The boxes along x and y.
    pub(crate) slices: Rois,
    /// `[K, 2]`: where they begin and end along z.
    pub(crate) depths: Tensor<2>,
}

impl Rois3d {
    /// Boxes `[K, 6]` and batch indices `[K]` of any integer dtype. K may be 0.
    ///
    /// A box has the columns of `format`, in the coordinates that the operator takes. A call needs boxes of the
    /// features' dtype, or of f32 for features of f16 or bf16.
    ///
    /// # Panics
    ///
    /// If [`try_new`](Self::try_new) returns an error.
    pub fn new(boxes: Tensor<2>, batch_indices: Tensor<1, Int>, format: BoxFormat3d) -> Self {
        or_panic(Self::try_new(boxes, batch_indices, format))
    }

    /// Fallible form of [`new`](Self::new).
    ///
    /// # Errors
    ///
    /// [`RoiError::Shape`], [`RoiError::Count`] or [`RoiError::Device`].
    pub fn try_new(boxes: Tensor<2>, batch_indices: Tensor<1, Int>, format: BoxFormat3d) -> Result<Self, RoiError> {
        let (slices, depths) = split(boxes, format)?;
        let slices = Rois::try_new(slices, batch_indices)?;
        Ok(Self { slices, depths })
    }

    /// One tensor `[K, 6]` for each volume of the batch, in order. K may be 0.
    ///
    /// A box has the columns of `format`, in the coordinates that the operator takes. All tensors have the same dtype.
    ///
    /// # Panics
    ///
    /// If [`try_from_images`](Self::try_from_images) returns an error.
    pub fn from_images(boxes: Vec<Tensor<2>>, format: BoxFormat3d) -> Self {
        or_panic(Self::try_from_images(boxes, format))
    }

    /// Fallible form of [`from_images`](Self::from_images).
    ///
    /// # Errors
    ///
    /// [`RoiError::NoImages`], [`RoiError::Shape`], [`RoiError::DType`] or [`RoiError::Device`].
    pub fn try_from_images(boxes: Vec<Tensor<2>>, format: BoxFormat3d) -> Result<Self, RoiError> {
        let (boxes, batch_indices) = from_images(boxes, 6, "[K, 6]")?;
        Self::try_new(boxes, batch_indices, format)
    }

    /// The number of regions.
    pub fn len(&self) -> usize {
        self.slices.len()
    }

    /// Whether there is no region.
    pub fn is_empty(&self) -> bool {
        self.slices.is_empty()
    }

    /// The boxes `[K, 6]`, each `[x1, y1, x2, y2, z1, z2]`.
    pub fn boxes(&self) -> Tensor<2> {
        match self.len() {
            0 => reshaped(self.depths.clone(), [0, 6]),
            _ => Tensor::cat(vec![self.slices.boxes(), self.depths.clone()], 1),
        }
    }

    /// The index of each region's volume, `[K]`.
    pub fn batch_indices(&self) -> Tensor<1, Int> {
        self.slices.batch_indices()
    }

    /// Copies all regions to the host and checks their values, on any device. On a host device (Flex, NdArray) every
    /// call makes this check itself. `batch` is the number of volumes.
    ///
    /// # Errors
    ///
    /// [`RoiError::BoxNotFinite`] or [`RoiError::BatchIndex`] for the first row with a wrong x, y or batch index; if
    /// there is none, [`RoiError::DepthNotFinite`] for the first row with a wrong z. [`RoiError::SynchronousRead`] or
    /// [`RoiError::DeviceRead`].
    pub fn validate(&self, batch: usize) -> Result<(), RoiError> {
        wait("validate", "validate_async", self.validate_async(batch))
    }

    /// Async form of [`validate`](Self::validate). Use it on WebGPU in a browser, which cannot block.
    ///
    /// # Errors
    ///
    /// All errors of [`validate`](Self::validate) except [`RoiError::SynchronousRead`].
    pub async fn validate_async(&self, batch: usize) -> Result<(), RoiError> {
        self.slices.validate_async(batch).await?;
        let depths = self.along_depth(1).validate_async(self.len()).await;
        depths.map_err(depth_error)
    }

    /// A region for each of K maps of so many columns, whose rows go along the depth: all columns, from z1 to z2.
    pub(crate) fn along_depth(&self, columns: usize) -> Rois {
        let (count, device) = (self.len(), self.depths.device());
        // bf16 does not hold 289 columns, and f16 not 2049.
        let depths = self.depths.clone().cast(wide(self.depths.dtype()));
        let options = (&device, depths.dtype());
        let boxes = match count {
            // `float_cat` of burn-cubecl 0.22 panics without rows.
            0 => Tensor::zeros([0, 4], options),
            _ => {
                let end = |end| depths.clone().narrow(1, end, 1);
                let first = Tensor::zeros([count, 1], options);
                let last = Tensor::full([count, 1], columns as f64, options);
                Tensor::cat(vec![first, end(0), last, end(1)], 1)
            }
        };
        Rois::new(boxes, Tensor::<1, Int>::arange(0..count as i64, &device))
    }
}

/// The error of a region along the depth.
pub(crate) fn depth_error(error: RoiError) -> RoiError {
    match error {
        RoiError::BoxNotFinite {
            row,
            coordinates: [_, start, _, end],
        } => RoiError::DepthNotFinite {
            row,
            ends: [start, end],
        },
        error => error,
    }
}

/// Boxes along x and y, and along z.
fn split(boxes: Tensor<2>, format: BoxFormat3d) -> Result<(Tensor<2>, Tensor<2>), RoiError> {
    let found = boxes.shape();
    shape("boxes", &found, "[K, 6]", found[1] == 6)?;
    // `narrow` takes nothing from a tensor without elements, and leaves the graph of its gradients.
    if found[0] == 0 {
        return Ok((reshaped(boxes.clone(), [0, 4]), reshaped(boxes, [0, 2])));
    }
    let boxes = match format {
        BoxFormat3d::Xyxyzz => boxes,
        _ => Tensor::cat(
            format.columns().map(|column| boxes.clone().narrow(1, column, 1)).into(),
            1,
        ),
    };
    Ok((boxes.clone().narrow(1, 0, 4), boxes.narrow(1, 4, 2)))
}

/// The tensor in another shape, where 0 is 0. In `Tensor::reshape`, 0 means the size that is there.
pub(crate) fn reshaped<const D: usize, const E: usize>(tensor: Tensor<D>, shape: [usize; E]) -> Tensor<E> {
    Tensor::from_dispatch(Dispatch::float_reshape(tensor.into_dispatch(), Shape::new(shape)))
}
