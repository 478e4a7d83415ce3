//! What can be wrong with a call.

use burn_roi::RoiError;
use thiserror::Error;

/// Why a part of a detector refused its arguments. Each message names the argument, what it was and what it must be.
///
/// A `try_…` function returns it; the function without `try_` panics with the same text.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum DetectionError {
    /// What the region operators say too: of a shape, a dtype, a device, an option or memory, and where a device can't
    /// be read.
    #[error(transparent)]
    Roi(#[from] RoiError),
    /// A list or a tensor has another length than what it goes with.
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
    /// A side of a box is too long for what is resized to it.
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
    /// A row of a target for training has a value that it must not have.
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
    /// Run lengths are not a mask, or not a mask of the size that they must have.
    #[error("the run lengths have {value}, but must have {expected}")]
    RunLengths {
        /// What they have.
        value: String,
        /// What they must have.
        expected: String,
    },
    /// An entry of a list has a value that it must not have.
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
