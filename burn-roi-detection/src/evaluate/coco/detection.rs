//! [`CocoDetection`]: a detection in COCO's terms.

use burn_roi::internal::or_panic;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use crate::data::coco::CocoReadError;
use crate::error::DetectionError;
use crate::json_values::deserialize_integer;
use crate::run_lengths::RunLengths;

/// A detection of an image. With serde it is an entry of COCO's JSON of results.
///
/// ```
/// use burn_roi_detection::evaluate::coco::{CocoDetection, detections_from_json, detections_to_json};
///
/// let detection = CocoDetection::new(42, 18, 0.5).with_corners([10.0, 20.0, 40.0, 30.0]);
/// assert_eq!(detection.bbox, Some([10.0, 20.0, 30.0, 10.0]));
/// let json = detections_to_json(&[detection.clone()]);
/// assert_eq!(json, r#"[{"image_id":42,"category_id":18,"score":0.5,"bbox":[10.0,20.0,30.0,10.0]}]"#);
/// assert_eq!(detections_from_json(json.as_bytes()), Ok(vec![detection]));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CocoDetection {
    /// The id of the image in the data set.
    #[serde(deserialize_with = "deserialize_integer")]
    pub image_id: i64,
    /// The id of the category in the data set, not a detector's label. See
    /// [`category_of_label`](crate::data::coco::CocoDataset::category_of_label). If the data set does not have the
    /// category, the detection is ignored.
    #[serde(deserialize_with = "deserialize_integer")]
    pub category_id: i64,
    /// The score. Finite.
    pub score: f64,
    /// `[x, y, w, h]` in pixels: the left upper corner and the size, of at least 0. An empty list in JSON is none.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "deserialize_bbox"
    )]
    pub bbox: Option<[f64; 4]>,
    /// The mask, of the image's size where masks are evaluated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub segmentation: Option<RunLengths>,
    /// `[x, y, v]` of each keypoint in pixels. v is not read.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "flat")]
    pub keypoints: Option<Vec<[f64; 3]>>,
}

impl CocoDetection {
    /// A detection without a box, a mask and keypoints.
    pub fn new(image_id: i64, category_id: i64, score: f64) -> Self {
        Self {
            image_id,
            category_id,
            score,
            bbox: None,
            segmentation: None,
            keypoints: None,
        }
    }

    /// Sets the box from `[x1, y1, x2, y2]` in pixels, as in [`Detections`](crate::Detections).
    pub fn with_corners(mut self, [x1, y1, x2, y2]: [f64; 4]) -> Self {
        self.bbox = Some([x1, y1, x2 - x1, y2 - y1]);
        self
    }

    /// Checks that all numbers are finite.
    pub(super) fn check_finite(&self, index: usize) -> Result<(), DetectionError> {
        let score = self.score;
        if !score.is_finite() {
            return wrong(index, format!("`score` {score}"), "a finite one");
        }
        let is_finite = |values: &[f64]| values.iter().all(|value| value.is_finite());
        if let Some(bbox) = self.bbox.filter(|bbox| !is_finite(bbox)) {
            return wrong(index, format!("`bbox` {bbox:?}"), "finite coordinates");
        }
        let mut keypoints = self.keypoints.iter().flatten();
        match keypoints.find(|keypoint| !is_finite(&keypoint[..])) {
            Some(keypoint) => wrong(index, format!("keypoint {keypoint:?}"), "finite coordinates"),
            None => Ok(()),
        }
    }
}

/// The error that an entry of the detections is wrong.
pub(super) fn wrong<T>(index: usize, value: String, expected: &str) -> Result<T, DetectionError> {
    Err(DetectionError::Entry {
        argument: "detections",
        entry: format!("entry {index}"),
        value,
        expected: expected.to_string(),
    })
}

/// Reads COCO's JSON of results: a list of detections. Fields that a [`CocoDetection`] does not have are not read.
///
/// # Errors
///
/// [`CocoReadError::Json`]: the text does not have COCO's form. The message has the line and the column.
pub fn detections_from_json(json: &[u8]) -> Result<Vec<CocoDetection>, CocoReadError> {
    serde_json::from_slice(json).map_err(|error| CocoReadError::Json {
        path: None,
        message: error.to_string(),
    })
}

/// Writes COCO's JSON of results. Masks have compressed counts.
///
/// # Panics
///
/// If [`try_detections_to_json`] returns an error, with its text.
pub fn detections_to_json(detections: &[CocoDetection]) -> String {
    or_panic(try_detections_to_json(detections))
}

/// Fallible form of [`detections_to_json`].
///
/// # Errors
///
/// `DetectionError::Entry`: a score, a box or a keypoint is not finite, which JSON can't hold.
pub fn try_detections_to_json(detections: &[CocoDetection]) -> Result<String, DetectionError> {
    for (index, detection) in detections.iter().enumerate() {
        detection.check_finite(index)?;
    }
    Ok(serde_json::to_string(detections).expect("finite numbers and text are JSON"))
}

/// Four numbers. Programs that write no boxes write null or an empty list.
fn deserialize_bbox<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<[f64; 4]>, D::Error> {
    let numbers = Option::<Vec<f64>>::deserialize(deserializer)?.unwrap_or_default();
    match numbers[..] {
        [] => Ok(None),
        [x, y, w, h] => Ok(Some([x, y, w, h])),
        _ => Err(D::Error::custom(format_args!(
            "`bbox` is {numbers:?}, but must be four numbers"
        ))),
    }
}

/// Keypoints as one list of numbers.
mod flat {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::data::coco::triples;

    pub fn serialize<S: Serializer>(keypoints: &Option<Vec<[f64; 3]>>, serializer: S) -> Result<S::Ok, S::Error> {
        keypoints
            .as_ref()
            .map(|keypoints| keypoints.as_flattened())
            .serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<[f64; 3]>>, D::Error> {
        let flat = Option::<Vec<f64>>::deserialize(deserializer)?;
        flat.map(|flat| triples(&flat)).transpose().map_err(D::Error::custom)
    }
}
