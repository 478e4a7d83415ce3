//! [`CocoFlaw`]: what can be wrong with an entry of a COCO file. Only this file decides what becomes of the entry.

use std::fmt::{Display, Formatter, Result};

/// What becomes of an entry with a flaw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum CocoEffect {
    /// The entry is in the data set. A value of it was computed, or a part of it was left out.
    Mended,
    /// The entry is in the data set, and only masks lack something.
    OnlyMasks,
    /// The entry is in the data set, and only keypoints lack something.
    OnlyKeypoints,
    /// The entry is in the data set, and an evaluation counts it. A training leaves it out.
    OnlyTraining,
    /// The entry is not in the data set.
    LeftOut,
}

/// A kind of flaw of an entry. Its text says what is wrong and, if the entry is mended, what is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum CocoFlaw {
    /// A category has no name: its id is taken.
    Name,
    /// `iscrowd` is another number than 0 and 1: the annotation is a crowd.
    Crowd,
    /// The box is missing or invalid: the box around the mask is taken.
    Box,
    /// The area is missing or below 0: the area of the mask is taken, or that of the box if there is no mask.
    Area,
    /// Some polygons of the mask are invalid, such as one of two points: they are left out of the mask.
    Polygons,
    /// The number of labelled keypoints is wrong: they are counted.
    KeypointCount,
    /// An image has no usable size: its polygons can't be drawn. A training reads the size from the picture.
    ImageSize,
    /// The mask is invalid, or has another size than the image: the annotation has no mask.
    Mask,
    /// The keypoints are invalid: the annotation has none, or the category has no names of them.
    Keypoints,
    /// The box has no area inside of the image.
    EmptyBox,
    /// An id is missing or is not an integer.
    Unreadable,
    /// An earlier entry has the same id.
    SameId,
    /// The image of an annotation is not in the data set.
    NoImage,
    /// The category of an annotation is not in the data set.
    NoCategory,
    /// There is neither a box nor a mask.
    NoBox,
}

impl CocoFlaw {
    /// What becomes of an entry with this flaw.
    pub fn effect(self) -> CocoEffect {
        self.decision().0
    }

    fn decision(self) -> (CocoEffect, &'static str) {
        use CocoEffect::{LeftOut, Mended, OnlyKeypoints, OnlyMasks, OnlyTraining};
        match self {
            Self::Name => (Mended, "no `name`: the id is taken"),
            Self::Crowd => (Mended, "`iscrowd` is not 0 or 1: it counts as 1"),
            Self::Box => (Mended, "no usable `bbox`: the box around the mask is taken"),
            Self::Area => (Mended, "no usable `area`: that of the mask or the box is taken"),
            Self::Polygons => (Mended, "invalid polygons: the others are the mask"),
            Self::KeypointCount => (Mended, "no usable `num_keypoints`: the labelled ones are counted"),
            Self::ImageSize => (OnlyMasks, "no usable size"),
            Self::Mask => (OnlyMasks, "no usable `segmentation`"),
            Self::Keypoints => (OnlyKeypoints, "no usable `keypoints`"),
            Self::EmptyBox => (OnlyTraining, "a box without an area inside of the image"),
            Self::Unreadable => (LeftOut, "an id that is missing or is not an integer"),
            Self::SameId => (LeftOut, "an id that an earlier entry has"),
            Self::NoImage => (LeftOut, "an image that is not in the data set"),
            Self::NoCategory => (LeftOut, "a category that is not in the data set"),
            Self::NoBox => (LeftOut, "no usable `bbox` and no mask"),
        }
    }
}

impl Display for CocoFlaw {
    fn fmt(&self, formatter: &mut Formatter) -> Result {
        formatter.write_str(self.decision().1)
    }
}
