//! Entries as a file has them, before they are mended. A field that can't be used is the text of what is wrong with it.

use super::{CocoAnnotation, CocoCategory, CocoImage, CocoSegmentation};

/// A value, or what is wrong with it.
pub type Field<T> = Result<T, String>;

/// What is wrong with an entry that is no draft.
pub struct Unreadable {
    pub id: Option<i64>,
    pub message: String,
}

pub struct ImageDraft {
    pub id: i64,
    pub file_name: Option<String>,
    pub size: Field<[usize; 2]>,
}

pub struct CategoryDraft {
    pub id: i64,
    pub name: Option<String>,
    pub supercategory: Option<String>,
    pub keypoints: Field<Vec<String>>,
}

pub struct AnnotationDraft {
    pub id: i64,
    pub image_id: i64,
    pub category_id: i64,
    pub bbox: Field<[f64; 4]>,
    pub area: Field<f64>,
    /// A coordinate of a polygon that is no number is NaN.
    pub segmentation: Field<Option<CocoSegmentation>>,
    pub iscrowd: f64,
    pub keypoints: Field<Option<Vec<[f64; 3]>>>,
    /// `None` if the file does not say it.
    pub num_keypoints: Field<Option<usize>>,
}

impl From<CocoImage> for ImageDraft {
    fn from(image: CocoImage) -> Self {
        Self {
            id: image.id,
            file_name: image.file_name,
            size: image.size.ok_or_else(|| "it has no size".to_string()),
        }
    }
}

impl From<CocoCategory> for CategoryDraft {
    fn from(category: CocoCategory) -> Self {
        Self {
            id: category.id,
            name: Some(category.name),
            supercategory: category.supercategory,
            keypoints: Ok(category.keypoints),
        }
    }
}

impl From<CocoAnnotation> for AnnotationDraft {
    fn from(annotation: CocoAnnotation) -> Self {
        Self {
            id: annotation.id,
            image_id: annotation.image_id,
            category_id: annotation.category_id,
            bbox: Ok(annotation.bbox),
            area: Ok(annotation.area),
            segmentation: Ok(annotation.segmentation),
            iscrowd: f64::from(u8::from(annotation.is_crowd)),
            keypoints: Ok(annotation.keypoints),
            num_keypoints: Ok(Some(annotation.num_keypoints)),
        }
    }
}
