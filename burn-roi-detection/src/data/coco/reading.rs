//! Reading a COCO file.

use std::fs;
use std::path::Path;

use serde::de::{Deserialize, Deserializer};
use serde_json::Value;

use super::drafts::{AnnotationDraft, CategoryDraft, ImageDraft, Unreadable};
use super::json::ReadEntry;
use super::{CocoDataset, CocoReadError};
use crate::json_values::integer;

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
        Self::of_text(&bytes_of(path)?, Some(path))
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

fn bytes_of(path: &Path) -> Result<Vec<u8>, CocoReadError> {
    fs::read(path).map_err(|error| CocoReadError::File {
        path: path.display().to_string(),
        message: error.to_string(),
    })
}
