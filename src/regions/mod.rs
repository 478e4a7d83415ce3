//! [`Rois`] and [`RotatedRois`]: boxes and the image each belongs to; every check of them, and reading them on a host.

mod check;
mod read;

use burn::backend::Dispatch;
use burn::tensor::{DType, Device, Int, Tensor, TensorData};

pub(crate) use check::{Regions, same_device, shape};

use crate::backend::is_host;
use crate::error::{RoiError, or_panic};
use crate::geometry::operator::RegionKind;
use crate::waiting::wait;

/// Regions of interest: K boxes, and for each the index of its image in the batch.
///
/// A box is `[x1, y1, x2, y2]` in the coordinates of the image, which an operator's spatial scale
/// turns into pixels of its feature map; for [`crop_and_resize`](crate::crop_and_resize()) it is
/// TensorFlow's `[y1, x1, y2, x2]`, normalized.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi::Rois;
///
/// let device = Device::default();
/// let boxes = Tensor::<2>::from_floats([[4.0, 4.0, 40.0, 24.0], [0.0, 0.0, 8.0, 8.0]], &device);
/// let images = Tensor::<1, burn::tensor::Int>::from_ints([0, 1], &device);
/// let rois = Rois::new(boxes, images);
/// assert_eq!(rois.len(), 2);
/// ```
pub type Rois = RoiTable<4>;

/// Rotated regions of interest: K boxes `[center x, center y, width, height, angle]`, and for each the index of its
/// image in the batch. The first four are in the coordinates of the image; the unit and the direction of the angle are
/// the operator's options.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi::RotatedRois;
///
/// let device = Device::default();
/// let boxes = Tensor::<2>::from_floats([[22.0, 14.0, 36.0, 20.0, 30.0]], &device);
/// let rois = RotatedRois::from_images(vec![boxes]);
/// assert_eq!(rois.boxes().dims(), [1, 5]);
/// ```
pub type RotatedRois = RoiTable<5>;

/// K boxes of so many columns, and for each the index of its image in the batch: [`Rois`] has 4 columns, and
/// [`RotatedRois`] has 5. With any other number no table can be made:
///
/// ```compile_fail
/// use burn::tensor::{Device, Tensor};
///
/// burn_roi::RoiTable::<3>::from_images(vec![Tensor::ones([1, 3], &Device::default())]);
/// ```
///
/// Shapes are checked here, once; values are checked by every call on a host device, and by
/// [`validate`](RoiTable::validate) on any device.
#[derive(Debug, Clone)]
pub struct RoiTable<const COLUMNS: usize> {
    boxes: Tensor<2>,
    batch_indices: Tensor<1, Int>,
}

impl<const COLUMNS: usize> RoiTable<COLUMNS> {
    /// The shapes that boxes must have: alone, after a batch index, and one tensor for each image.
    const SHAPES: [&'static str; 3] = match COLUMNS {
        5 => [
            "[K, 5], with up to two leading dimensions of 1",
            "[K, 6], with up to two leading dimensions of 1",
            "[K, 5]",
        ],
        4 => [
            "[K, 4], with up to two leading dimensions of 1",
            "[K, 5], with up to two leading dimensions of 1",
            "[K, 4]",
        ],
        _ => panic!("a box has 4 columns, or 5 if it is rotated"),
    };

    /// What the columns are.
    pub(crate) const KIND: RegionKind = if COLUMNS == 5 {
        RegionKind::Rotated
    } else {
        RegionKind::Box
    };

    /// Boxes `[K, COLUMNS]` and batch indices `[K]` of any integer dtype. Leading dimensions of 1 are
    /// accepted, as DirectML has them: boxes of rank 2 to 4 and indices of rank 1 to 4.
    ///
    /// # Panics
    ///
    /// Where [`try_new`](RoiTable::try_new) gives an error.
    pub fn new<const B: usize, const I: usize>(boxes: Tensor<B>, batch_indices: Tensor<I, Int>) -> Self {
        or_panic(Self::try_new(boxes, batch_indices))
    }

    /// [`new`](RoiTable::new) for arguments that may be wrong.
    ///
    /// # Errors
    ///
    /// [`RoiError::Shape`], [`RoiError::Count`] or [`RoiError::Device`].
    pub fn try_new<const B: usize, const I: usize>(
        boxes: Tensor<B>,
        batch_indices: Tensor<I, Int>,
    ) -> Result<Self, RoiError> {
        let boxes = rows(boxes, COLUMNS, Self::SHAPES[0])?;
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
            Self::KIND,
        )?;
        Ok(Self { boxes, batch_indices })
    }

    /// Boxes `[K, COLUMNS + 1]` whose rows begin with the batch index, as `[batch index, x1, y1, x2, y2]`, which
    /// torchvision, ONNX `MaxRoiPool` and DirectML `ROI_POOLING` (rank 4, `[1, 1, K, 5]`) take.
    ///
    /// # Panics
    ///
    /// Where [`try_from_index_first`](RoiTable::try_from_index_first) gives an error.
    pub fn from_index_first<const B: usize>(boxes: Tensor<B>) -> Self {
        or_panic(Self::try_from_index_first(boxes))
    }

    /// [`from_index_first`](RoiTable::from_index_first) for boxes that may be wrong.
    ///
    /// # Errors
    ///
    /// [`RoiError::Shape`]; on a host device also [`RoiError::BatchIndexNotWhole`]. On other devices,
    /// which are not read, an index that is not a whole number names no image.
    pub fn try_from_index_first<const B: usize>(boxes: Tensor<B>) -> Result<Self, RoiError> {
        let table = rows(boxes, COLUMNS + 1, Self::SHAPES[1])?;
        let [count, _] = table.dims();
        let indices = table.clone().slice([0..count, 0..1]).reshape([count]);
        if is_host(&table.device()) {
            all_whole(&indices)?;
        }
        Ok(Self {
            boxes: table.slice([0..count, 1..COLUMNS + 1]),
            batch_indices: whole_or_none(indices),
        })
    }

    /// One tensor `[Kᵢ, COLUMNS]` for each image of the batch, in order.
    ///
    /// # Panics
    ///
    /// Where [`try_from_images`](RoiTable::try_from_images) gives an error.
    pub fn from_images(boxes: Vec<Tensor<2>>) -> Self {
        or_panic(Self::try_from_images(boxes))
    }

    /// [`from_images`](RoiTable::from_images) for boxes that may be wrong.
    ///
    /// # Errors
    ///
    /// [`RoiError::NoImages`], [`RoiError::Shape`], [`RoiError::DType`] or [`RoiError::Device`].
    pub fn try_from_images(boxes: Vec<Tensor<2>>) -> Result<Self, RoiError> {
        let Some(first) = boxes.first() else {
            return Err(RoiError::NoImages { argument: "boxes" });
        };
        let (device, dtype) = (first.device(), first.dtype());
        let mut indices = Vec::new();
        for (image, boxes) in boxes.iter().enumerate() {
            rows(boxes.clone(), COLUMNS, Self::SHAPES[2])?;
            let (found, expected) = (boxes.device(), device.clone());
            same_device("boxes", found.as_dispatch(), "boxes", expected.as_dispatch())?;
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
        Ok(Self {
            boxes,
            batch_indices: Tensor::from_data(TensorData::new(indices, [count]), &device),
        })
    }

    /// The number of regions.
    pub fn len(&self) -> usize {
        self.boxes.dims()[0]
    }

    /// Whether there is no region.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The boxes, `[K, COLUMNS]`.
    pub fn boxes(&self) -> Tensor<2> {
        self.boxes.clone()
    }

    /// The index of each region's image, `[K]`.
    pub fn batch_indices(&self) -> Tensor<1, Int> {
        self.batch_indices.clone()
    }

    /// The device that the regions are on.
    pub fn device(&self) -> Device {
        self.boxes.device()
    }

    /// Reads all regions and checks their values: the check that a call makes by itself on a host
    /// device (NdArray, Flex), for any device. `batch` is the number of images.
    ///
    /// # Errors
    ///
    /// [`RoiError::BoxNotFinite`], [`RoiError::AngleNotFinite`] or [`RoiError::BatchIndex`], for the first row that is
    /// wrong; [`RoiError::SynchronousRead`] or [`RoiError::DeviceRead`].
    pub fn validate(&self, batch: usize) -> Result<(), RoiError> {
        wait("validate", "validate_async", self.validate_async(batch))
    }

    /// [`validate`](RoiTable::validate) that awaits the device.
    /// A WebGPU device in a browser can be read in this form only.
    ///
    /// # Errors
    ///
    /// Those of [`validate`](RoiTable::validate), except [`RoiError::SynchronousRead`].
    pub async fn validate_async(&self, batch: usize) -> Result<(), RoiError> {
        self.regions().read(batch).await.map(drop)
    }

    /// The tensors, whose shapes were checked when this was made.
    pub(crate) fn regions(&self) -> Regions<Dispatch> {
        Regions {
            boxes: self.boxes().into_dispatch(),
            batch_indices: self.batch_indices().into_dispatch(),
            kind: Self::KIND,
        }
    }
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

/// Indices that came as floats, as integers; -1, which names no image, for what is not a whole number
/// that an i32 holds.
fn whole_or_none(indices: Tensor<1>) -> Tensor<1, Int> {
    const LARGEST: f32 = 2_147_483_520.0;
    let indices = match indices.dtype() {
        DType::F16 | DType::BF16 => indices.cast(burn::tensor::FloatDType::F32),
        _ => indices,
    };
    let whole = indices.clone().floor().equal(indices.clone());
    let holds = indices
        .clone()
        .greater_equal_elem(0.0)
        .bool_and(indices.clone().lower_equal_elem(LARGEST));
    indices.mask_fill(whole.bool_and(holds).bool_not(), -1.0).int()
}
