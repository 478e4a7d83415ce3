//! COCO's annotation files: images, categories, and annotations with boxes, masks and keypoints.
//!
//! Files as labelling tools write them are read. What can be mended is mended: a polygon of two points is left out of
//! its mask, and a missing area is computed. An invalid mask is a problem only where masks are asked for.
//! [`CocoDataset::problems`] names the flaws of a file. [`CocoFlaw`] lists all flaws, and what becomes of the entry.
//!
//! [`CocoDataset::read`] refuses a file if an entry can't be mended, such as an annotation of an image that is not
//! listed. [`CocoDataset::read_without_broken`] leaves these entries out.
//!
//! With the feature `pictures`, `CocoPictures` reads a file and the folder of its pictures.
//!
//! ```
//! use burn_roi_detection::data::coco::CocoDataset;
//!
//! let json = r#"{
//!     "images": [{"id": 9, "file_name": "cat.jpg", "height": 4, "width": 5}],
//!     "categories": [{"id": 17, "name": "cat"}, {"id": 18, "name": "dog"}],
//!     "annotations": [{
//!         "id": 1, "image_id": 9, "category_id": 17, "iscrowd": 0, "area": 4,
//!         "bbox": [1, 1, 2, 2], "segmentation": [[1, 1, 3, 1, 3, 3, 1, 3]]
//!     }]
//! }"#;
//! let dataset = CocoDataset::from_json(json.as_bytes())?;
//! let annotation = dataset.annotations_of(9).next().expect("an annotation");
//! // Labels are contiguous, and label 0 is the background.
//! assert_eq!(dataset.label_of(annotation.category_id), Some(1));
//! assert_eq!(dataset.mask_of(annotation).expect("a mask").area(), 4);
//! # Ok::<(), burn_roi_detection::data::coco::CocoReadError>(())
//! ```

mod annotation;
mod dataset;
mod drafts;
mod error;
mod flaw;
mod mending;
#[cfg(all(feature = "models", feature = "pictures"))]
mod pictures;
mod reading;
#[cfg(all(feature = "models", feature = "pictures"))]
mod summary;

pub use annotation::{CocoAnnotation, CocoCategory, CocoImage, CocoSegmentation};
pub use dataset::CocoDataset;
pub use error::{CocoList, CocoProblem, CocoReadError};
pub use flaw::{CocoEffect, CocoFlaw};
#[cfg(all(feature = "models", feature = "pictures"))]
pub use pictures::{CocoPictures, CocoPicturesConfig, CocoPicturesError};
pub(crate) use reading::triples;
