//! The entries of a COCO file.

use crate::run_lengths::RunLengths;

/// An image of a COCO file.
#[derive(Debug, Clone, PartialEq)]
pub struct CocoImage {
    /// Its id, which no other image has.
    pub id: i64,
    /// The name of its file, if the COCO file has it.
    pub file_name: Option<String>,
    /// `[height, width]` in pixels, above 0. Height * width fits into a u32. `None` if the COCO file has no such size.
    pub size: Option<[usize; 2]>,
}

/// A category of a COCO file.
#[derive(Debug, Clone, PartialEq)]
pub struct CocoCategory {
    /// Its id, which no other category has. The ids of COCO go from 1 to 90 with gaps.
    pub id: i64,
    /// Its name, not empty.
    pub name: String,
    /// The group that it belongs to, such as `animal`.
    pub supercategory: Option<String>,
    /// The names of its keypoints, in the order of an annotation's keypoints. Empty if it has none.
    pub keypoints: Vec<String>,
}

/// An object of an image, or a crowd of objects.
#[derive(Debug, Clone, PartialEq)]
pub struct CocoAnnotation {
    /// Its id, which no other annotation has.
    pub id: i64,
    /// The id of its image.
    pub image_id: i64,
    /// The id of its category.
    pub category_id: i64,
    /// `[x, y, w, h]` in pixels: the left upper corner and the size. The size may be 0, and the box may be outside
    /// of the image.
    pub bbox: [f64; 4],
    /// The area of the object in pixels, by which COCO calls it small, medium or large. Finite and at least 0.
    pub area: f64,
    /// Its mask, if the COCO file has it. [`CocoDataset::mask_of`](super::CocoDataset::mask_of) rasterises it.
    pub segmentation: Option<CocoSegmentation>,
    /// Whether it is a crowd, which any number of detections may match: COCO's `iscrowd`.
    pub is_crowd: bool,
    /// `[x, y, v]` of each keypoint in pixels, if the COCO file has them. v is 0 for a keypoint without a label, 1 for
    /// a hidden keypoint and 2 for a visible keypoint.
    pub keypoints: Option<Vec<[f64; 3]>>,
    /// The number of keypoints with a label. COCO's evaluation of keypoints ignores an annotation with 0.
    pub num_keypoints: usize,
}

impl CocoAnnotation {
    /// `[x1, y1, x2, y2]` of the box, limited to an image of this `[height, width]`. `None` if it is then empty, which
    /// nothing can be trained on.
    pub(crate) fn corners_in(&self, [height, width]: [f64; 2]) -> Option<[f32; 4]> {
        let [x, y, w, h] = self.bbox;
        let [x1, x2] = [x, x + w].map(|coordinate| coordinate.clamp(0.0, width) as f32);
        let [y1, y2] = [y, y + h].map(|coordinate| coordinate.clamp(0.0, height) as f32);
        (x1 < x2 && y1 < y2).then_some([x1, y1, x2, y2])
    }
}

/// The mask of an annotation, in the form of the COCO file.
#[derive(Debug, Clone, PartialEq)]
pub enum CocoSegmentation {
    /// Polygons `[x1, y1, x2, y2, ...]` in pixels, of at least 3 points each. The mask is their union.
    Polygons(Vec<Vec<f64>>),
    /// Run lengths, COCO's form for crowds. In the file they may be compressed.
    RunLengths(RunLengths),
}

impl CocoSegmentation {
    /// The mask in an image of this size. `None` for polygons without a size.
    pub(crate) fn drawn(&self, size: Option<[usize; 2]>) -> Option<RunLengths> {
        match self {
            Self::Polygons(polygons) => RunLengths::try_from_polygons(polygons, size?).ok(),
            Self::RunLengths(run_lengths) => Some(run_lengths.clone()),
        }
    }
}
