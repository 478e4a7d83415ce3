//! [`Sample`]: a picture with its objects.

use burn_roi::internal::or_panic;

use crate::RunLengths;
use crate::arguments;
use crate::data::coco::CocoDataset;
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

    fn flip(&mut self, width: usize, mirrored_keypoints: &[usize]) {
        let [x1, y1, x2, y2] = self.corners;
        self.corners = [width as f32 - x2, y1, width as f32 - x1, y2];
        self.mask = self.mask.as_ref().map(RunLengths::mirrored);
        let before = self.keypoints.clone();
        for (index, keypoint) in self.keypoints.iter_mut().enumerate() {
            let mirrored = mirrored_keypoints.get(index).and_then(|&mirrored| before.get(mirrored));
            let [x, y, visibility] = *mirrored.unwrap_or(&before[index]);
            *keypoint = match visibility > 0.0 {
                true => [width as f32 - x, y, visibility],
                // As COCO has keypoints without a label.
                false => [0.0; 3],
            };
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

    /// The sample of an image of a COCO data set, without its crowds. Boxes are limited to the picture, and an object
    /// whose box is then empty is left out. If the data set does not know the size of the image, polygons are drawn in
    /// the picture's size, and an object has no mask if
    /// [`RunLengths::try_from_polygons`](crate::RunLengths::try_from_polygons) refuses them. The label is
    /// [`CocoDataset::label_of`]. An image that the data set does not have is a sample without objects.
    ///
    /// - `size`: `[height, width]` of the picture in pixels.
    /// - `pixels`: row by row, the red, green and blue of each pixel.
    ///
    /// # Errors
    ///
    /// All errors of [`try_new`](Self::try_new). A mask of another size than the picture's is one of them.
    pub fn try_from_coco(
        dataset: &CocoDataset,
        image_id: i64,
        size: [usize; 2],
        pixels: Vec<u8>,
    ) -> Result<Self, DetectionError> {
        let limits = size.map(|side| side as f64);
        let drawn_in = dataset.image(image_id).and_then(|image| image.size).unwrap_or(size);
        let annotations = dataset
            .annotations_of(image_id)
            .filter(|annotation| !annotation.is_crowd);
        let objects = annotations.filter_map(|annotation| {
            let corners = annotation.corners_in(limits)?;
            let mask = annotation.segmentation.as_ref();
            let keypoints = annotation.keypoints.iter().flatten();
            Some(Object {
                mask: mask.and_then(|mask| mask.drawn(Some(drawn_in))),
                keypoints: keypoints.map(|keypoint| keypoint.map(|value| value as f32)).collect(),
                ..Object::new(corners, dataset.label_of(annotation.category_id)?)
            })
        });
        Self::try_new(size, pixels, objects.collect())
    }

    /// The mirror image: left and right are exchanged, in the pixels and in all objects. Same semantics as
    /// torchvision's `RandomHorizontalFlip` for detection.
    ///
    /// - `mirrored_keypoints`: for each keypoint, the index of the keypoint that it becomes in the mirror image: the
    ///   left eye becomes the right eye. See [`mirrored_keypoints`]. A keypoint with an invalid index stays itself.
    ///
    /// ```
    /// use burn_roi_detection::train::{Object, Sample};
    ///
    /// let object = Object::new([0.0, 0.0, 1.0, 1.0], 1);
    /// let sample = Sample::new([1, 3], vec![1, 1, 1, 2, 2, 2, 3, 3, 3], vec![object]).flip(&[]);
    /// assert_eq!(sample.pixels, [3, 3, 3, 2, 2, 2, 1, 1, 1]);
    /// assert_eq!(sample.objects[0].corners, [2.0, 0.0, 3.0, 1.0]);
    /// ```
    pub fn flip(mut self, mirrored_keypoints: &[usize]) -> Self {
        let [_, width] = self.size;
        let (pixels, _) = self.pixels.as_chunks_mut::<3>();
        pixels.chunks_mut(width).for_each(<[_]>::reverse);
        for object in &mut self.objects {
            object.flip(width, mirrored_keypoints);
        }
        self
    }
}

/// For each name of a keypoint, the index of the name with `left` and `right` exchanged, or its own index if there is
/// no such name.
///
/// ```
/// use burn_roi_detection::train::mirrored_keypoints;
///
/// assert_eq!(mirrored_keypoints(&["nose", "left_eye", "right_eye"]), [0, 2, 1]);
/// ```
pub fn mirrored_keypoints<S: AsRef<str>>(names: &[S]) -> Vec<usize> {
    let mirrored = |name: &str| {
        let name = name
            .replace("left", "\0")
            .replace("right", "left")
            .replace('\0', "right");
        names.iter().position(|other| other.as_ref() == name)
    };
    let indices = names.iter().enumerate();
    indices
        .map(|(index, name)| mirrored(name.as_ref()).unwrap_or(index))
        .collect()
}
