//! What can be wrong with a call.

use burn_roi::RoiError;
use thiserror::Error;

/// Why a part of a detector refused its arguments. Each message names the argument, what it was and what it must be.
///
/// A `try_…` function returns it; the function without `try_` panics with the same text.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi_detection::{DetectionError, try_nms};
///
/// let device = Device::default();
/// let boxes = Tensor::<2>::zeros([2, 4], &device);
/// match try_nms(boxes, Tensor::<1>::zeros([3], &device), 0.5) {
///     Err(DetectionError::Length { argument, expected, .. }) => assert_eq!((argument, expected), ("scores", 2)),
///     Err(error) => panic!("{error}"),
///     Ok(_) => panic!("3 scores for 2 boxes"),
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum DetectionError {
    /// An error that region operators return too: of a shape, a dtype, a device, an option or memory, or of reading a
    /// device.
    #[error(transparent)]
    Roi(#[from] RoiError),
    /// A list or a tensor has the wrong length.
    #[error("`{argument}` has length {length}, but must have length {expected}: one for each {of}")]
    Length {
        /// The list or the tensor.
        argument: &'static str,
        /// Its length.
        length: usize,
        /// What it must be.
        expected: usize,
        /// What each entry is for.
        of: &'static str,
    },
    /// A side of a box is too long for the mask or heatmap that is resized to it.
    #[error("`boxes` row {row} is {coordinates:?}, but must have sides of at most {longest}")]
    BoxTooLong {
        /// The row, counted from 0.
        row: usize,
        /// Its four coordinates.
        coordinates: [f64; 4],
        /// The longest side.
        longest: usize,
    },
    /// A rotated box has a coordinate, a size or an angle that is NaN or infinite.
    #[error("`{argument}` row {row} is {values:?}, but must be finite")]
    RotatedBoxNotFinite {
        /// The boxes.
        argument: &'static str,
        /// The row, counted from 0.
        row: usize,
        /// `[cx, cy, w, h, angle]`.
        values: [f64; 5],
    },
    /// A label is not the index of a class.
    #[error("`labels` row {row} is {label}, but must be at least 0 and below the {classes} classes")]
    Label {
        /// The row, counted from 0.
        row: usize,
        /// The label.
        label: i128,
        /// The number of classes.
        classes: usize,
    },
    /// A row of a training target has an invalid value.
    #[error("`{argument}` row {row} of image {image} is {value}, but must be {expected}")]
    Target {
        /// The targets, one tensor for each image.
        argument: &'static str,
        /// The image, counted from 0.
        image: usize,
        /// The row of its tensor, counted from 0.
        row: usize,
        /// The value of this row.
        value: String,
        /// What it must be.
        expected: String,
    },
    /// Run lengths are not a mask, or a mask of the wrong size.
    #[error("the run lengths have {value}, but must have {expected}")]
    RunLengths {
        /// What they have.
        value: String,
        /// What they must have.
        expected: String,
    },
    /// An entry of a list has an invalid value.
    #[error("`{argument}`: {entry} has {value}, but must have {expected}")]
    Entry {
        /// The list.
        argument: &'static str,
        /// The entry, by its index, counted from 0, or by its id.
        entry: String,
        /// What it has.
        value: String,
        /// What it must have.
        expected: String,
    },
}
