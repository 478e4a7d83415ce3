//! COCO's annotation files: images, categories, and annotations with boxes, masks and keypoints.
//!
//! [`CocoDataset::read`] refuses a file in which an entry is broken, and says what is wrong with each.
//! [`CocoDataset::read_without_broken`] leaves these entries out.
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
mod checks;
mod dataset;
mod error;
mod json;
mod reading;

pub use annotation::{CocoAnnotation, CocoCategory, CocoImage, CocoSegmentation};
pub use dataset::CocoDataset;
pub use error::{CocoList, CocoProblem, CocoReadError};
pub(crate) use json::triples;
