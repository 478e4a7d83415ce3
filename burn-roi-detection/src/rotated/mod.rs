//! Rotated boxes: their overlaps and NMS, with the semantics of detectron2 and mmcv.
//!
//! A box is `[cx, cy, w, h, angle]`, and what `angle` means is an [`AngleConvention`](burn_roi::AngleConvention).
//! Everything is computed on the host, in f64.

mod box_iou;
mod geometry;
mod nms;
mod read;

pub(crate) use geometry::RotatedBox;
pub(crate) use nms::kept;
pub(crate) use read::read;
use serde::{Deserialize, Serialize};

pub use box_iou::*;
pub use nms::*;

/// What the intersection of two boxes is divided by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub enum OverlapMode {
    /// Intersection over union (IoU): by the area of the union.
    #[default]
    Iou,
    /// Intersection over foreground (IoF), mmcv's `"iof"`: by the area of the first box.
    Iof,
}
