//! [`CocoFlaw`]: what can be wrong with an entry of a COCO file or its picture. Only this file decides what becomes of
//! the entry.

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
    /// An image has no usable size: that of its picture is taken.
    PictureSize,
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
    /// An image has no `file_name`, so that its picture can't be found.
    NoFileName,
    /// The `file_name` of an image leads out of the folder of the pictures.
    Outside,
    /// A picture has another size than its image.
    OtherSize,
    /// A picture can't be read.
    NoPicture,
    /// The annotation has no mask, and the detector has a mask head.
    NoMask,
    /// A coordinate of a keypoint is not finite in f32.
    InfiniteKeypoints,
    /// The annotation has another number of keypoints than the detector's keypoint head.
    OtherKeypoints,
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
            Self::PictureSize => (Mended, "no usable size: that of the picture is taken"),
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
            Self::NoFileName => (LeftOut, "no `file_name`"),
            Self::Outside => (LeftOut, "a `file_name` outside of the folder of the pictures"),
            Self::OtherSize => (LeftOut, "a picture of another size than the annotations say"),
            Self::NoPicture => (LeftOut, "a picture that can't be read"),
            Self::NoMask => (LeftOut, "no mask, which the mask head learns"),
            Self::InfiniteKeypoints => (LeftOut, "keypoints that are not finite in f32"),
            Self::OtherKeypoints => (LeftOut, "keypoints of another number than the keypoint head learns"),
        }
    }
}

impl Display for CocoFlaw {
    fn fmt(&self, formatter: &mut Formatter) -> Result {
        formatter.write_str(self.decision().1)
    }
}
