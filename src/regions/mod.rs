//! [`Rois`], [`RotatedRois`] and [`Rois3d`]: boxes and the image each belongs to; every check of them, and reading them
//! on a host.

mod check;
mod normalized;
mod read;
mod table;
mod volume;

use burn::backend::Dispatch;
use burn::tensor::{Int, Tensor};

pub(crate) use check::{Regions, shape};
pub use check::{same_device, same_dtype};
pub use volume::{BoxFormat3d, Rois3d};
pub(crate) use volume::{depth_error, reshaped};

use crate::error::{RoiError, or_panic};
use crate::geometry::operator::RegionKind;
use crate::read_back::wait;

/// Regions of one kind, as an operator's config names them.
pub trait RegionTable {
    const KIND: RegionKind;

    /// The tensors, whose shapes were checked when this was made.
    fn regions(&self) -> Regions<Dispatch>;
}

/// Declares the struct of one kind of region.
macro_rules! rois {
    ($(#[$documentation:meta])* $name:ident, $kind:expr, $boxes:literal, $index_first:literal, $units:literal) => {
        $(#[$documentation])*
        ///
        /// Shapes are checked once, by the constructor. Values are checked by every call on a host device, and by
        #[doc = concat!("[`validate`](", stringify!($name), "::validate) on any device.")]
        #[derive(Debug, Clone)]
        pub struct $name {
            boxes: Tensor<2>,
            batch_indices: Tensor<1, Int>,
        }

        impl $name {
            #[doc = concat!("Boxes `", $boxes, "` and batch indices `[K]` of any integer dtype. K may be 0.")]
            ///
            #[doc = $units]
            /// A call needs boxes of the features' dtype, or of f32 for features of f16 or bf16. Leading dimensions of
            /// 1 are accepted, as DirectML has them: boxes of rank 2 to 4 and indices of rank 1 to 4.
            ///
            /// # Panics
            ///
            /// If [`try_new`](Self::try_new) returns an error.
            pub fn new<const B: usize, const I: usize>(boxes: Tensor<B>, batch_indices: Tensor<I, Int>) -> Self {
                or_panic(Self::try_new(boxes, batch_indices))
            }

            /// Fallible form of [`new`](Self::new).
            ///
            /// # Errors
            ///
            /// [`RoiError::Shape`], [`RoiError::Count`] or [`RoiError::Device`].
            pub fn try_new<const B: usize, const I: usize>(
                boxes: Tensor<B>,
                batch_indices: Tensor<I, Int>,
            ) -> Result<Self, RoiError> {
                table::of_tensors($kind, boxes, batch_indices).map(Self::of)
            }

            #[doc = concat!("Boxes `", $index_first, "` whose rows begin with the batch index. K may be 0.")]
            /// torchvision, ONNX `MaxRoiPool` and DirectML `ROI_POOLING` (rank 4, `[1, 1, K, 5]`) use this form.
            ///
            #[doc = $units]
            /// A call needs boxes of the features' dtype, or of f32 for features of f16 or bf16. f16 holds each batch
            /// index up to 2048, and bf16 each up to 256.
            ///
            /// # Panics
            ///
            /// If [`try_from_index_first`](Self::try_from_index_first) returns an error.
            pub fn from_index_first<const B: usize>(boxes: Tensor<B>) -> Self {
                or_panic(Self::try_from_index_first(boxes))
            }

            /// Fallible form of [`from_index_first`](Self::from_index_first).
            ///
            /// # Errors
            ///
            /// [`RoiError::Shape`]; on a host device also [`RoiError::BatchIndexNotWhole`]. On other devices, whose
            /// values are not checked, an index that is not a whole number counts as invalid.
            pub fn try_from_index_first<const B: usize>(boxes: Tensor<B>) -> Result<Self, RoiError> {
                table::from_index_first($kind, boxes).map(Self::of)
            }

            #[doc = concat!("One tensor `", $boxes, "` for each image of the batch, in order. K may be 0.")]
            ///
            #[doc = $units]
            /// All tensors have the same dtype. A call needs boxes of the features' dtype, or of f32 for features of
            /// f16 or bf16.
            ///
            /// # Panics
            ///
            /// If [`try_from_images`](Self::try_from_images) returns an error.
            pub fn from_images(boxes: Vec<Tensor<2>>) -> Self {
                or_panic(Self::try_from_images(boxes))
            }

            /// Fallible form of [`from_images`](Self::from_images).
            ///
            /// # Errors
            ///
            /// [`RoiError::NoImages`], [`RoiError::Shape`], [`RoiError::DType`] or [`RoiError::Device`].
            pub fn try_from_images(boxes: Vec<Tensor<2>>) -> Result<Self, RoiError> {
                let (columns, [.., expected]) = ($kind.columns(), check::shapes($kind));
                table::from_images(boxes, columns, expected).map(Self::of)
            }

            /// The number of regions.
            pub fn len(&self) -> usize {
                self.boxes.dims()[0]
            }

            /// Whether there is no region.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            #[doc = concat!("The boxes, `", $boxes, "`.")]
            pub fn boxes(&self) -> Tensor<2> {
                self.boxes.clone()
            }

            /// The index of each region's image, `[K]`.
            pub fn batch_indices(&self) -> Tensor<1, Int> {
                self.batch_indices.clone()
            }

            /// Copies all regions to the host and checks their values, on any device. On a host device (Flex, NdArray)
            /// every call makes this check itself. `batch` is the number of images. Offsets are not checked.
            ///
            /// # Errors
            ///
            /// [`RoiError::BoxNotFinite`], [`RoiError::AngleNotFinite`] or [`RoiError::BatchIndex`], for the first row
            /// that is wrong; [`RoiError::SynchronousRead`] or [`RoiError::DeviceRead`].
            pub fn validate(&self, batch: usize) -> Result<(), RoiError> {
                wait("validate", "validate_async", self.validate_async(batch))
            }

            /// Async form of [`validate`](Self::validate). Use it on WebGPU in a browser, which cannot block.
            ///
            /// # Errors
            ///
            /// All errors of [`validate`](Self::validate) except [`RoiError::SynchronousRead`].
            pub async fn validate_async(&self, batch: usize) -> Result<(), RoiError> {
                self.regions().read(batch).await.map(drop)
            }

            fn of((boxes, batch_indices): table::Table) -> Self {
                Self { boxes, batch_indices }
            }
        }

        impl RegionTable for $name {
            const KIND: RegionKind = $kind;

            fn regions(&self) -> Regions<Dispatch> {
                Regions {
                    boxes: self.boxes().into_dispatch(),
                    batch_indices: self.batch_indices().into_dispatch(),
                    kind: $kind,
                }
            }
        }
    };
}

rois! {
/// Regions of interest: K boxes, and for each the index of its image in the batch.
///
/// A box is `[x1, y1, x2, y2]` in pixels of the image. An operator's spatial scale turns it into pixels of the feature
/// map. Two operators take normalized boxes instead: [`crop_and_resize`](crate::crop_and_resize()) takes TensorFlow's
/// `[y1, x1, y2, x2]`, which [`to_normalized`](Rois::to_normalized) makes, and
/// [`ps_crop_and_resize`](crate::ps_crop_and_resize()) takes `[x1, y1, x2, y2]`.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi::Rois;
///
/// let device = Device::default();
/// // The same two regions, of image 0 and of image 1.
/// let boxes = Tensor::<2>::from_floats([[4.0, 4.0, 40.0, 24.0], [0.0, 0.0, 8.0, 8.0]], &device);
/// let images = Tensor::<1, burn::tensor::Int>::from_ints([0, 1], &device);
/// let rois = Rois::new(boxes.clone(), images);
/// let index_first = [[0.0, 4.0, 4.0, 40.0, 24.0], [1.0, 0.0, 0.0, 8.0, 8.0]];
/// let from_index_first = Rois::from_index_first(Tensor::<2>::from_floats(index_first, &device));
/// let from_images = Rois::from_images(boxes.chunk(2, 0));
/// assert_eq!([rois.len(), from_index_first.len(), from_images.len()], [2; 3]);
///
/// // They are valid for a batch of two images. For a batch of one, row 1 has an invalid index.
/// assert!(rois.validate(2).is_ok() && rois.validate(1).is_err());
/// ```
Rois, RegionKind::Box, "[K, 4]", "[K, 5]", "A box is `[x1, y1, x2, y2]`, in the coordinates that the operator takes."
}

rois! {
/// Rotated regions of interest: K boxes `[center x, center y, width, height, angle]`, and for each the index of its
/// image in the batch. The first four are in pixels of the image. The operator's options give the unit and the
/// direction of the angle.
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
RotatedRois, RegionKind::Rotated, "[K, 5]", "[K, 6]",
"A box is `[center x, center y, width, height, angle]`: pixels of the image, and an angle in the operator's unit."
}
