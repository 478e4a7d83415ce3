//! An annotation as JSON, before it is checked against the rest of its file.

use serde::Deserialize;
use serde::de::{Deserializer, Error};
use serde_json::Value;

use super::{CocoAnnotation, CocoSegmentation};
use crate::run_lengths::RunLengths;

/// The fields of an annotation in a COCO file. It may have others.
#[derive(Deserialize)]
struct Fields {
    id: i64,
    image_id: i64,
    category_id: i64,
    bbox: [f64; 4],
    area: f64,
    #[serde(default)]
    segmentation: Option<Value>,
    #[serde(default)]
    iscrowd: u8,
    #[serde(default)]
    keypoints: Option<Vec<f64>>,
    #[serde(default)]
    num_keypoints: Option<usize>,
}

impl<'de> Deserialize<'de> for CocoAnnotation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = Fields::deserialize(deserializer)?;
        if fields.iscrowd > 1 {
            let iscrowd = fields.iscrowd;
            return Err(D::Error::custom(format_args!(
                "`iscrowd` is {iscrowd}, but must be 0 or 1"
            )));
        }
        let keypoints = fields.keypoints.filter(|keypoints| !keypoints.is_empty());
        let keypoints = keypoints
            .map(|keypoints| triples(&keypoints))
            .transpose()
            .map_err(D::Error::custom)?;
        let labelled = || keypoints.iter().flatten().filter(|keypoint| keypoint[2] > 0.0).count();
        Ok(Self {
            id: fields.id,
            image_id: fields.image_id,
            category_id: fields.category_id,
            bbox: fields.bbox,
            area: fields.area,
            segmentation: fields
                .segmentation
                .map_or(Ok(None), segmentation)
                .map_err(D::Error::custom)?,
            is_crowd: fields.iscrowd == 1,
            num_keypoints: fields.num_keypoints.unwrap_or_else(labelled),
            keypoints,
        })
    }
}

/// A list of polygons or an object of run lengths. Files without masks have null or an empty list.
fn segmentation(value: Value) -> Result<Option<CocoSegmentation>, String> {
    let wrong = |error: serde_json::Error| format!("`segmentation`: {error}");
    match value {
        Value::Null => Ok(None),
        Value::Array(polygons) if polygons.is_empty() => Ok(None),
        Value::Array(_) => {
            let polygons = Vec::<Vec<f64>>::deserialize(value).map_err(wrong)?;
            Ok(Some(CocoSegmentation::Polygons(polygons)))
        }
        Value::Object(_) => {
            let run_lengths = RunLengths::deserialize(value).map_err(wrong)?;
            Ok(Some(CocoSegmentation::RunLengths(run_lengths)))
        }
        _ => Err("`segmentation` must be a list of polygons or an object with run lengths".to_string()),
    }
}

/// The `[x, y, v]` of each keypoint.
pub fn triples(keypoints: &[f64]) -> Result<Vec<[f64; 3]>, String> {
    let (triples, rest) = keypoints.as_chunks::<3>();
    if !rest.is_empty() {
        let count = keypoints.len();
        return Err(format!("`keypoints` has {count} values, but must have a multiple of 3"));
    }
    Ok(triples.to_vec())
}
