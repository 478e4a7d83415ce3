//! Reading a COCO file. What is accepted is what programs write: see [`json_values`](crate::json_values).

use std::fs;
use std::path::Path;

use serde::de::{Deserialize, Deserializer};
use serde_json::Value;

use super::drafts::{AnnotationDraft, CategoryDraft, Field, ImageDraft, Unreadable};
use super::{CocoDataset, CocoReadError, CocoSegmentation};
use crate::json_values::{integer, number, text};
use crate::run_lengths::RunLengths;

/// The lists of a COCO file. It may have others.
#[derive(serde::Deserialize)]
struct File {
    images: Vec<Entry<ImageDraft>>,
    categories: Vec<Entry<CategoryDraft>>,
    annotations: Vec<Entry<AnnotationDraft>>,
}

/// An entry of a list. Read one by one, since JSON's values take four times the memory of the numbers of a polygon.
struct Entry<T>(Result<T, Unreadable>);

impl<'de, T: ReadEntry> Deserialize<'de> for Entry<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let entry = T::read(&value).map_err(|message| Unreadable {
            id: integer(&value["id"]),
            message,
        });
        Ok(Self(entry))
    }
}

impl CocoDataset {
    /// Reads a COCO file. Entries are mended if they can be; [`problems`](Self::problems) says how.
    ///
    /// # Errors
    ///
    /// The file can't be read, does not have COCO's form, or has entries that would have to be left out, which the
    /// error lists.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, CocoReadError> {
        Self::read_without_broken(path)?.if_whole()
    }

    /// Reads a COCO file and leaves out broken entries, which [`problems`](Self::problems) lists.
    ///
    /// # Errors
    ///
    /// The file can't be read, or does not have COCO's form.
    pub fn read_without_broken(path: impl AsRef<Path>) -> Result<Self, CocoReadError> {
        let path = path.as_ref();
        let json = fs::read(path).map_err(|error| CocoReadError::File {
            path: path.display().to_string(),
            message: error.to_string(),
        })?;
        Self::of_text(&json, Some(path))
    }

    /// Reads the text of a COCO file, as [`read`](Self::read) does.
    ///
    /// # Errors
    ///
    /// The text does not have COCO's form, or has entries that would have to be left out, which the error lists.
    pub fn from_json(json: &[u8]) -> Result<Self, CocoReadError> {
        Self::from_json_without_broken(json)?.if_whole()
    }

    /// Reads the text of a COCO file and leaves out broken entries, which [`problems`](Self::problems) lists.
    ///
    /// An annotation is broken if its image or its category is. An entry may have fields that are not read.
    ///
    /// # Errors
    ///
    /// The text does not have COCO's form.
    pub fn from_json_without_broken(json: &[u8]) -> Result<Self, CocoReadError> {
        Self::of_text(json, None)
    }

    fn of_text(json: &[u8], path: Option<&Path>) -> Result<Self, CocoReadError> {
        let file: File = serde_json::from_slice(json).map_err(|error| CocoReadError::Json {
            path: path.map(|path| path.display().to_string()),
            message: error.to_string(),
        })?;
        let images = file.images.into_iter().map(|entry| entry.0);
        let categories = file.categories.into_iter().map(|entry| entry.0);
        let annotations = file.annotations.into_iter().map(|entry| entry.0);
        Ok(Self::of_drafts(images, categories, annotations))
    }
}

/// An entry of a list.
trait ReadEntry: Sized {
    /// The entry, or what makes it unreadable.
    fn read(value: &Value) -> Result<Self, String>;
}

impl ReadEntry for ImageDraft {
    fn read(value: &Value) -> Result<Self, String> {
        let [height, width] = ["height", "width"].map(|name| &value[name]);
        Ok(Self {
            id: id(value, "id")?,
            file_name: text(&value["file_name"]),
            size: match (integer(height), integer(width)) {
                (Some(height), Some(width)) => Ok([height, width]),
                _ => Err(format!(
                    "its size is {height} x {width}, but must be two integers above 0"
                )),
            },
        })
    }
}

impl ReadEntry for CategoryDraft {
    fn read(value: &Value) -> Result<Self, String> {
        let keypoints = match &value["keypoints"] {
            Value::Null => Ok(Vec::new()),
            names => {
                let found = names.as_array().and_then(|names| names.iter().map(text).collect());
                found.ok_or_else(|| format!("`keypoints` is {names}, but must be a list of names"))
            }
        };
        Ok(Self {
            id: id(value, "id")?,
            name: text(&value["name"]),
            supercategory: text(&value["supercategory"]),
            keypoints,
        })
    }
}

impl ReadEntry for AnnotationDraft {
    fn read(value: &Value) -> Result<Self, String> {
        Ok(Self {
            id: id(value, "id")?,
            image_id: id(value, "image_id")?,
            category_id: id(value, "category_id")?,
            bbox: bbox(&value["bbox"]),
            area: number(&value["area"]).ok_or_else(|| wrong(value, "area", "a number")),
            segmentation: segmentation(&value["segmentation"]),
            iscrowd: match &value["iscrowd"] {
                Value::Bool(is_crowd) => f64::from(u8::from(*is_crowd)),
                iscrowd => number(iscrowd).unwrap_or(0.0),
            },
            keypoints: keypoints(&value["keypoints"]),
            num_keypoints: match &value["num_keypoints"] {
                Value::Null => Ok(None),
                count => {
                    let count = integer(count).map(Some);
                    count.ok_or_else(|| wrong(value, "num_keypoints", "an integer of at least 0"))
                }
            },
        })
    }
}

fn id(value: &Value, name: &str) -> Result<i64, String> {
    integer(&value[name]).ok_or_else(|| wrong(value, name, "an integer"))
}

/// What is wrong with a field.
fn wrong(entry: &Value, name: &str, expected: &str) -> String {
    match entry.get(name) {
        Some(value) => format!("`{name}` is {value}, but must be {expected}"),
        None => format!("there is no `{name}`"),
    }
}

fn bbox(value: &Value) -> Field<[f64; 4]> {
    let numbers: Option<Vec<f64>> = value.as_array().and_then(|values| values.iter().map(number).collect());
    let numbers = numbers.and_then(|numbers| numbers.try_into().ok());
    numbers.ok_or_else(|| match value {
        Value::Null => "there is no `bbox`".to_string(),
        _ => format!("`bbox` is {value}, but must be four numbers"),
    })
}

/// A list of polygons, one polygon, or an object of run lengths. Files without masks have null or an empty list.
fn segmentation(value: &Value) -> Field<Option<CocoSegmentation>> {
    let coordinates = |values: &Vec<Value>| {
        let coordinates = values.iter().map(|value| number(value).unwrap_or(f64::NAN));
        coordinates.collect()
    };
    match value {
        Value::Null => Ok(None),
        Value::Array(values) if values.is_empty() => Ok(None),
        Value::Array(values) if values.iter().all(|value| number(value).is_some()) => {
            Ok(Some(CocoSegmentation::Polygons(vec![coordinates(values)])))
        }
        Value::Array(polygons) => {
            let polygon = |value: &Value| value.as_array().map(coordinates).unwrap_or_default();
            Ok(Some(CocoSegmentation::Polygons(polygons.iter().map(polygon).collect())))
        }
        Value::Object(_) => match RunLengths::deserialize(value) {
            Ok(run_lengths) => Ok(Some(CocoSegmentation::RunLengths(run_lengths))),
            Err(error) => Err(format!("`segmentation`: {error}")),
        },
        _ => Err(format!(
            "`segmentation` is {value}, but must be a list of polygons or an object with run lengths"
        )),
    }
}

/// Files without keypoints have null or an empty list.
fn keypoints(value: &Value) -> Field<Option<Vec<[f64; 3]>>> {
    let numbers: Option<Vec<f64>> = match value {
        Value::Null => return Ok(None),
        Value::Array(values) => values.iter().map(number).collect(),
        _ => None,
    };
    let numbers = numbers.ok_or("`keypoints` must be a list of numbers")?;
    let keypoints = triples(&numbers)?;
    Ok(Some(keypoints).filter(|keypoints| !keypoints.is_empty()))
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
