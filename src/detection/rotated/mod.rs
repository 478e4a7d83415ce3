//! Rotated boxes: their overlaps and NMS, with the semantics of detectron2 and mmcv.
//!
//! A box is `[cx, cy, w, h, angle]`, and what `angle` means is an [`AngleConvention`]. Everything is computed on the
//! host, in f64.

mod box_iou;
mod geometry;
mod nms;
mod read;

use serde::{Deserialize, Serialize};

pub use box_iou::{box_iou_rotated, box_iou_rotated_aligned, try_box_iou_rotated, try_box_iou_rotated_aligned};
pub use nms::{batched_nms_rotated, nms_rotated, try_batched_nms_rotated, try_nms_rotated};

/// What the angle of a rotated box `[cx, cy, w, h, angle]` means. The default is detectron2's.
///
/// The box has its centre at (cx, cy). At angle 0 its width `w` lies along x and its height `h` along y. The angle
/// turns it around its centre.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct AngleConvention {
    /// The unit of the angle.
    pub unit: AngleUnit,
    /// The direction that a positive angle turns the box in.
    pub direction: RotationDirection,
}

impl AngleConvention {
    /// detectron2's: degrees, counter-clockwise.
    pub const DETECTRON2: Self = Self {
        unit: AngleUnit::Degrees,
        direction: RotationDirection::CounterClockwise,
    };

    /// mmcv's default, `clockwise=True`: radians, clockwise. It is also that of mmcv's `diff_iou_rotated_2d`.
    pub const MMCV: Self = Self {
        unit: AngleUnit::Radians,
        direction: RotationDirection::Clockwise,
    };

    /// mmcv's with `clockwise=False`: radians, counter-clockwise.
    pub const MMCV_COUNTER_CLOCKWISE: Self = Self {
        unit: AngleUnit::Radians,
        direction: RotationDirection::CounterClockwise,
    };
}

impl Default for AngleConvention {
    fn default() -> Self {
        Self::DETECTRON2
    }
}

/// The unit of an angle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum AngleUnit {
    /// 360 are a full turn.
    Degrees,
    /// 2π are a full turn.
    Radians,
}

/// The direction of a rotation, as seen in an image, whose y axis points down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RotationDirection {
    /// From the x axis towards the y axis: after a quarter turn, what pointed right points down.
    Clockwise,
    /// From the y axis towards the x axis: after a quarter turn, what pointed right points up.
    CounterClockwise,
}

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
