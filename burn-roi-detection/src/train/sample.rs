//! [`Sample`]: a picture with its objects.

use burn_roi::internal::or_panic;

use crate::RunLengths;
use crate::arguments;
use crate::error::DetectionError;

/// A picture with the objects that a detector must find in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// `[height, width]` in pixels, each above 0.
    pub size: [usize; 2],
    /// Row by row, the red, green and blue of each pixel.
    pub pixels: Vec<u8>,
    /// The objects, without crowds.
    pub objects: Vec<Object>,
}

/// An object of a picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Object {
    /// `[x1, y1, x2, y2]` in pixels of the picture. Finite, with x1 below x2 and y1 below y2.
    pub corners: [f32; 4],
    /// The class, above 0, which is the background.
    pub label: usize,
    /// The pixels of the picture that belong to the object, if it has a mask. A run length takes four bytes, but a
    /// pixel of each object would take gigabytes in a large picture.
    pub mask: Option<RunLengths>,
    /// `[x, y, visibility]` of each keypoint in pixels of the picture, all finite. Empty if it has no keypoints.
    pub keypoints: Vec<[f32; 3]>,
}

impl Object {
    /// An object without a mask and keypoints.
    pub fn new(corners: [f32; 4], label: usize) -> Self {
        Self {
            corners,
            label,
            mask: None,
            keypoints: Vec::new(),
        }
    }
}

impl Sample {
    /// A sample whose values were checked.
    ///
    /// ```
    /// use burn_roi_detection::train::{Object, Sample};
    ///
    /// // Two rows of three pixels, and an object that fills the second column.
    /// let object = Object::new([1.0, 0.0, 2.0, 2.0], 1);
    /// let sample = Sample::new([2, 3], vec![0; 2 * 3 * 3], vec![object]);
    /// assert_eq!(sample.objects.len(), 1);
    ///
    /// let turned = Object::new([2.0, 0.0, 1.0, 2.0], 1);
    /// let error = Sample::try_new([2, 3], vec![0; 18], vec![turned]).unwrap_err();
    /// assert!(error.to_string().contains("must be finite, with x1 below x2 and y1 below y2"));
    /// ```
    ///
    /// # Panics
    ///
    /// If [`try_new`](Self::try_new) returns an error, with its text.
    pub fn new(size: [usize; 2], pixels: Vec<u8>, objects: Vec<Object>) -> Self {
        or_panic(Self::try_new(size, pixels, objects))
    }

    /// Fallible form of [`new`](Self::new).
    ///
    /// # Errors
    ///
    /// - `RoiError::Option`: a side of `size` is 0.
    /// - [`DetectionError::Length`]: `pixels` does not have three bytes for each pixel.
    /// - [`DetectionError::Target`]: the corners of an object are not as [`Object::corners`] says, its label is 0,
    ///   its mask has another size than the picture, or a keypoint is not finite. The error's `image` is always 0.
    pub fn try_new(size: [usize; 2], pixels: Vec<u8>, objects: Vec<Object>) -> Result<Self, DetectionError> {
        let [height, width] = size;
        let expected = "above 0 in height and in width";
        arguments::check("size", !size.contains(&0), format_args!("{size:?}"), expected)?;
        let area = height.saturating_mul(width);
        let expected = area.saturating_mul(3);
        arguments::length("pixels", pixels.len(), expected, "channel of each pixel of `size`")?;
        for (row, object) in objects.iter().enumerate() {
            object.check(row, size)?;
        }
        Ok(Self { size, pixels, objects })
    }
}

impl Object {
    /// Checks the object, which is in this row, and whose picture has this size.
    fn check(&self, row: usize, size: [usize; 2]) -> Result<(), DetectionError> {
        let wrong = |argument, value, expected: &str| Err(arguments::target(argument, 0, row, value, expected));
        let [x1, y1, x2, y2] = self.corners;
        let is_finite = self.corners.iter().all(|coordinate| coordinate.is_finite());
        if !(is_finite && x1 < x2 && y1 < y2) {
            let value = format!("{:?}", self.corners);
            return wrong("objects[_].corners", value, "finite, with x1 below x2 and y1 below y2");
        }
        if self.label == 0 {
            return wrong("objects[_].label", "0".to_string(), "above 0, which is the background");
        }
        if let Some(mask) = self.mask.as_ref().filter(|mask| mask.size() != size) {
            let value = format!("of size {:?}", mask.size());
            return wrong("objects[_].mask", value, "of the size of the picture");
        }
        let values = self.keypoints.as_flattened();
        if let Some(value) = values.iter().find(|value| !value.is_finite()) {
            return wrong("objects[_].keypoints", format!("with {value}"), "finite in f32");
        }
        Ok(())
    }
}
