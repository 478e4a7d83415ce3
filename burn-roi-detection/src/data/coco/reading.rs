//! Reading a COCO file.

use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer};
use serde_json::Value;

use super::error::{CocoList, CocoProblem, CocoReadError};
use super::{CocoAnnotation, CocoCategory, CocoDataset, CocoImage};

/// The lists of a COCO file. It may have others.
#[derive(Deserialize)]
struct File {
    images: Vec<Entry<CocoImage>>,
    categories: Vec<Entry<CocoCategory>>,
    annotations: Vec<Entry<CocoAnnotation>>,
}

/// An entry of a list, or what is wrong with it.
enum Entry<T> {
    Whole(T),
    Broken { id: Option<i64>, message: String },
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Entry<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let id = value.get("id").and_then(Value::as_i64);
        Ok(match T::deserialize(value) {
            Ok(entry) => Self::Whole(entry),
            Err(error) => Self::Broken {
                id,
                message: error.to_string(),
            },
        })
    }
}

impl CocoDataset {
    /// Reads a COCO file.
    ///
    /// # Errors
    ///
    /// The file can't be read, does not have COCO's form, or has broken entries, which the error lists.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, CocoReadError> {
        Self::from_json(&bytes_of(path.as_ref())?)
    }

    /// Reads a COCO file and leaves out broken entries. It also returns the problem of each broken entry.
    ///
    /// # Errors
    ///
    /// The file can't be read, or does not have COCO's form.
    pub fn read_without_broken(path: impl AsRef<Path>) -> Result<(Self, Vec<CocoProblem>), CocoReadError> {
        Self::from_json_without_broken(&bytes_of(path.as_ref())?)
    }

    /// Reads the text of a COCO file.
    ///
    /// # Errors
    ///
    /// The text does not have COCO's form, or has broken entries, which the error lists.
    pub fn from_json(json: &[u8]) -> Result<Self, CocoReadError> {
        let (dataset, problems) = Self::from_json_without_broken(json)?;
        dataset.if_whole(problems)
    }

    /// Reads the text of a COCO file and leaves out broken entries. It also returns the problem of each broken entry.
    ///
    /// An annotation is broken if its image or its category is. An entry may have fields that are not read.
    ///
    /// # Errors
    ///
    /// The text does not have COCO's form.
    pub fn from_json_without_broken(json: &[u8]) -> Result<(Self, Vec<CocoProblem>), CocoReadError> {
        let file: File = serde_json::from_slice(json).map_err(|error| CocoReadError::Json(error.to_string()))?;
        let mut problems = Vec::new();
        let images = whole(CocoList::Images, file.images, &mut problems);
        let categories = whole(CocoList::Categories, file.categories, &mut problems);
        let annotations = whole(CocoList::Annotations, file.annotations, &mut problems);
        let (images, categories) = (images.into_iter(), categories.into_iter());
        Ok(Self::of_indexed(images, categories, annotations.into_iter(), problems))
    }
}

fn bytes_of(path: &Path) -> Result<Vec<u8>, CocoReadError> {
    fs::read(path).map_err(|error| CocoReadError::File {
        path: path.display().to_string(),
        message: error.to_string(),
    })
}

/// The entries that could be read and their indices in the file.
fn whole<T>(list: CocoList, entries: Vec<Entry<T>>, problems: &mut Vec<CocoProblem>) -> Vec<(usize, T)> {
    let mut found = Vec::with_capacity(entries.len());
    for (index, entry) in entries.into_iter().enumerate() {
        match entry {
            Entry::Whole(entry) => found.push((index, entry)),
            Entry::Broken { id, message } => problems.push(CocoProblem {
                list,
                index,
                id,
                message,
            }),
        }
    }
    found
}
