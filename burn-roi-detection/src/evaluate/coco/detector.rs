//! The evaluation of a detector: its instances as COCO's detections, and what its heads are measured by.

use super::{COCO_KEYPOINT_SIGMAS, CocoDetection, CocoEvaluationConfig, CocoKind};
use crate::models::{DetectorConfig, Instances};

/// The standard deviation of keypoints that are not COCO's 17, relative to the square root of the object's area. It is
/// between those of COCO's shoulders and wrists.
const SIGMA: f64 = 0.07;

impl CocoDetection {
    /// The instances of a picture, without those whose label has no category. Masks are those that were pasted.
    ///
    /// - `image_id`: the id of the picture's image in the data set.
    /// - `categories`: the category of each label; see
    ///   [`CocoDataset::categories_of`](crate::data::coco::CocoDataset::categories_of).
    ///
    /// ```
    /// use burn_roi_detection::evaluate::coco::CocoDetection;
    /// use burn_roi_detection::models::Instances;
    ///
    /// let instances = Instances {
    ///     boxes: vec![[1.0, 2.0, 5.0, 6.0]],
    ///     scores: vec![0.5],
    ///     labels: vec![1],
    ///     ..Instances::default()
    /// };
    /// // Label 0 is the background, and label 1 the category 17.
    /// let detections = CocoDetection::of_instances(&instances, 42, &[None, Some(17)]);
    /// assert_eq!(detections, [CocoDetection::new(42, 17, 0.5).with_corners([1.0, 2.0, 5.0, 6.0])]);
    /// ```
    pub fn of_instances(instances: &Instances, image_id: i64, categories: &[Option<i64>]) -> Vec<Self> {
        let detection = |row: usize| {
            let category = (*categories.get(instances.labels[row])?)?;
            let keypoints = instances.keypoints.get(row).map(|keypoints| {
                let keypoints = keypoints
                    .iter()
                    .map(|keypoint| [keypoint.x.into(), keypoint.y.into(), 1.0]);
                keypoints.collect()
            });
            Some(Self {
                segmentation: instances.masks.get(row).cloned(),
                keypoints,
                ..Self::new(image_id, category, instances.scores[row].into())
                    .with_corners(instances.boxes[row].map(f64::from))
            })
        };
        (0..instances.len()).filter_map(detection).collect()
    }
}

impl CocoEvaluationConfig {
    /// The evaluation of each head of a detector: boxes, then masks, then keypoints. Keypoints other than COCO's 17
    /// have a sigma of 0.07 each.
    pub fn for_heads(detector: &DetectorConfig) -> Vec<Self> {
        let mut configs = vec![Self::new(CocoKind::Bbox)];
        if detector.mask_head.is_some() {
            configs.push(Self::new(CocoKind::Segm));
        }
        if let Some(head) = &detector.keypoint_head {
            let sigmas = match head.keypoints.len() == COCO_KEYPOINT_SIGMAS.len() {
                true => COCO_KEYPOINT_SIGMAS.to_vec(),
                false => vec![SIGMA; head.keypoints.len()],
            };
            configs.push(Self {
                sigmas,
                ..Self::new(CocoKind::Keypoints)
            });
        }
        configs
    }
}

#[cfg(feature = "pictures")]
mod on_pictures {
    use super::*;
    use crate::data::coco::{CocoPictures, CocoPicturesError};
    use crate::evaluate::coco::{CocoEvaluation, try_evaluate_coco};
    use crate::models::{Detector, Picture};

    impl CocoPictures {
        /// Detects in each picture, and evaluates each head of the detector, as
        /// [`CocoEvaluationConfig::for_heads`] says. A class of the detector is the category with its name.
        ///
        /// - `done`: is called after each picture, such as to move a progress bar.
        ///
        /// # Errors
        ///
        /// All errors of [`picture`](Self::picture), of [`Detector::try_detect`] and of
        /// [`try_evaluate_coco`](crate::evaluate::coco::try_evaluate_coco).
        pub fn evaluate(
            &self,
            detector: &Detector,
            mut done: impl FnMut(),
        ) -> Result<Vec<CocoEvaluation>, CocoPicturesError> {
            let categories = self.dataset().categories_of(&detector.config().classes);
            let mut detections = Vec::new();
            for image in self.dataset().images() {
                let picture = self.picture(image)?;
                let mut found = detector.try_detect(&[Picture::try_from_image(&picture)?])?;
                if detector.config().mask_head.as_ref().is_some_and(|head| !head.pasted) {
                    found = detector.try_paste_masks(found)?;
                }
                for instances in found {
                    detections.extend(CocoDetection::of_instances(&instances, image.id, &categories));
                }
                done();
            }
            let configs = CocoEvaluationConfig::for_heads(detector.config()).into_iter();
            let evaluations = configs.map(|config| Ok(try_evaluate_coco(self.dataset(), &detections, &config)?));
            evaluations.collect()
        }
    }
}
