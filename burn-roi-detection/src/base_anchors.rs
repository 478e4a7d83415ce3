//! [`BaseAnchors`]: the anchors of one pixel of a feature map.

use serde::{Deserialize, Serialize};

use crate::arguments;
use crate::error::DetectionError;

/// How the anchors of a pixel are computed from sizes and aspect ratios, and their order. Each variant follows its
/// framework's order of operations and precision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum BaseAnchors {
    /// Half of the width and half of the height are rounded to whole pixels, and ties to the even one. Aspect ratio by
    /// aspect ratio, and for each the sizes. Computed in f32.
    Torchvision,
    /// Not rounded. Size by size, and for each the aspect ratios. Computed in f64 and stored in f32.
    ///
    /// A size of 32 with an aspect ratio of 0.5 is `[-22.627, -11.314, 22.627, 11.314]`.
    Detectron2,
    /// Not rounded. Aspect ratio by aspect ratio, and for each the sizes. Computed in f32.
    ///
    /// A size is mmdetection's `base_size` times one of its `scales`. The order is the one of its default,
    /// `scale_major=True`.
    Mmdetection,
}

/// Half of the width and height of each anchor of a pixel. Sizes and ratios are finite and above 0.
pub fn half_sizes(
    base_anchors: BaseAnchors,
    sizes: &[f64],
    aspect_ratios: &[f64],
) -> Result<Vec<[f32; 2]>, DetectionError> {
    let half_size: fn(f64, f64) -> [f32; 2] = match base_anchors {
        BaseAnchors::Torchvision => |size, ratio| in_f32(size, ratio).map(f32::round_ties_even),
        BaseAnchors::Mmdetection => in_f32,
        BaseAnchors::Detectron2 => in_f64,
    };
    let mut halves = Vec::with_capacity(sizes.len() * aspect_ratios.len());
    let mut push = |size: f64, ratio: f64| {
        let half = half_size(size, ratio);
        let fits = half.iter().all(|side| side.is_finite());
        let value = format_args!("{size:?} with an aspect ratio of {ratio:?} for one feature map");
        arguments::check("sizes", fits, value, "a size whose anchors are finite in f32")?;
        halves.push(half);
        Ok::<_, DetectionError>(())
    };
    if base_anchors == BaseAnchors::Detectron2 {
        for &size in sizes {
            aspect_ratios.iter().try_for_each(|&ratio| push(size, ratio))?;
        }
    } else {
        for &ratio in aspect_ratios {
            sizes.iter().try_for_each(|&size| push(size, ratio))?;
        }
    }
    Ok(halves)
}

/// Half of the depth of an anchor. The depth is finite and above 0.
pub fn half_depth(base_anchors: BaseAnchors, depth: f64) -> Result<f32, DetectionError> {
    let half = half_side("depths", depth)?;
    Ok(match base_anchors {
        BaseAnchors::Torchvision => half.round_ties_even(),
        _ => half,
    })
}

/// Half of a side of an anchor. The side is finite and above 0.
pub fn half_side(argument: &'static str, side: f64) -> Result<f32, DetectionError> {
    let half = side as f32 / 2.0;
    let value = format_args!("{side:?} for one feature map");
    arguments::check(argument, half.is_finite(), value, "finite in f32")?;
    Ok(half)
}

/// Half of the width and height of an anchor, in the order of operations of torchvision and mmdetection.
fn in_f32(size: f64, ratio: f64) -> [f32; 2] {
    let height_ratio = (ratio as f32).sqrt();
    let width_ratio = 1.0 / height_ratio;
    [width_ratio, height_ratio].map(|side| side * size as f32 / 2.0)
}

/// Half of the width and height of an anchor, in the order of operations of detectron2.
fn in_f64(size: f64, ratio: f64) -> [f32; 2] {
    let width = (size * size / ratio).sqrt();
    let height = ratio * width;
    [width, height].map(|side| (side / 2.0) as f32)
}
