//! A box with its image, as a kernel reads it.

use cubecl::prelude::*;

use super::plan::ReductionPlan;
use crate::backend::cube::launch::Regions;
use crate::geometry::options::BoxFormat;
use crate::geometry::real::single::area::in_range;

/// A row of the boxes, with its image.
#[derive(CubeType)]
pub struct BoxRow {
    pub image: usize,
    /// Whether the batch index is valid and the box is finite.
    pub valid: bool,
    pub x1: f32,
    pub y1: f32,
    pub x2: f32,
    pub y2: f32,
}

/// Reads a row of the boxes, for features of so many images.
#[cube]
pub fn read_box<R: Float, I: Int>(
    regions: &Regions<R, I>,
    row: usize,
    images: usize,
    #[comptime] format: BoxFormat,
) -> BoxRow {
    let index = regions.batch_indices[row * regions.batch_indices.stride(0)];
    // A cast to u32 and back changes an index that u32 cannot hold. An i32 of -1 survives it, but as a u32 it is
    // 2^32 - 1, which is not below `images`.
    let image = u32::cast_from(index);
    let whole = I::cast_from(image) == index && (image as usize) < images;

    let start = row * regions.boxes.stride(0);
    let step = regions.boxes.stride(1);
    let columns = comptime!(format.columns());
    let x1 = f32::cast_from(regions.boxes[start + comptime!(columns[1][0]) * step]);
    let y1 = f32::cast_from(regions.boxes[start + comptime!(columns[0][0]) * step]);
    let x2 = f32::cast_from(regions.boxes[start + comptime!(columns[1][1]) * step]);
    let y2 = f32::cast_from(regions.boxes[start + comptime!(columns[0][1]) * step]);
    BoxRow {
        image: image as usize,
        valid: whole && is_finite(x1) && is_finite(y1) && is_finite(x2) && is_finite(y2),
        x1,
        y1,
        x2,
        y2,
    }
}

/// Whether a region is pooled: it is valid, and its area is in the plan's range.
#[cube]
pub fn is_pooled(region: &BoxRow, plan: &ReductionPlan) -> bool {
    let mut pooled = region.valid;
    if comptime!(plan.settings.of_level) {
        pooled = pooled && in_range(&plan.areas, region.y1, region.x1, region.y2, region.x2);
    }
    pooled
}

/// By its bits, since some device compilers assume that there are no infinities.
#[cube]
pub fn is_finite(value: f32) -> bool {
    (value.to_bits() & 0x7F80_0000u32) != 0x7F80_0000u32
}
