//! COCO's JSON of results.

use burn_roi::internal::or_panic;

use super::{CocoDetection, checks};
use crate::data::coco::CocoReadError;
use crate::error::DetectionError;

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
        checks::finite(index, detection)?;
    }
    Ok(serde_json::to_string(detections).expect("finite numbers and text are JSON"))
}
