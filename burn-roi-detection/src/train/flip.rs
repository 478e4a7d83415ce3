//! The mirror image of a sample.

use super::sample::{Object, Sample};
use crate::RunLengths;

impl Sample {
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

impl Object {
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
