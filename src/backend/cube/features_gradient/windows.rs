//! The pixels that regions of point plans may read, as headers of plans without elements.

use cubecl::prelude::*;

use crate::backend::cube::launch::Regions;
use crate::backend::cube::plan::layout::{HEADER, NO_LEVEL, write_region};
use crate::backend::cube::unit::plan::PointPlan;
use crate::backend::cube::unit::point_region::{CallSizes, PointRegion, offset_of_element, read_region};
use crate::backend::cube::unit::region::is_finite;
use crate::geometry::real::single::between::Reach;
use crate::geometry::real::single::points::{PointAxis, PointRule, place, turned};

/// Finds the window of each region: a unit looks at one.
#[cube(launch, address_type = "dynamic")]
pub fn find_windows<R: Float, I: Int>(
    regions: &Regions<R, I>,
    windows: &mut Tensor<u32>,
    plan: &PointPlan,
    sizes: &CallSizes,
    #[define(R, I)] _dtypes: [cubecl::ir::ElemType; 2],
) {
    let row = ABSOLUTE_POS;
    if row >= regions.boxes.shape(0) {
        terminate!();
    }
    let region = read_region(regions, row, plan, sizes);
    let start = row * HEADER;
    let mut level = comptime!(NO_LEVEL).runtime();
    let mut y = Reach { first: 0u32, end: 0u32 };
    let mut x = Reach { first: 0u32, end: 0u32 };
    if region.pooled && region.y.samples > 0u32 && region.x.samples > 0u32 {
        level = 0u32;
        let corners = corners(&region);
        y.first = pixel(corners.low_y - 2.0, sizes.height);
        y.end = pixel(corners.high_y + 3.0, sizes.height);
        x.first = pixel(corners.low_x - 2.0, sizes.width);
        x.end = pixel(corners.high_x + 3.0, sizes.width);
    }
    write_region(windows, start, level, region.image, &y, &x);
}

/// A coordinate as a pixel of a map, with the next one for what rounding has lost of a large coordinate.
#[cube]
fn pixel(coordinate: f32, size: u32) -> u32 {
    (coordinate.floor().clamp(0.0, 4e9) as u32).min(size)
}

/// The least and the greatest coordinates of samples.
#[derive(CubeType)]
struct Corners {
    low_y: f32,
    high_y: f32,
    low_x: f32,
    high_x: f32,
}

#[cube]
fn corners<R: Float, I: Int>(region: &PointRegion<'_, R, I>) -> Corners {
    let rule = &region.plan.rule;
    let mut corners = Corners {
        low_y: 1e30f32,
        high_y: -1e30f32,
        low_x: 1e30f32,
        high_x: -1e30f32,
    };
    // Without offsets, the first and the last elements hold all others between them.
    let mut step_y = 1u32;
    let mut step_x = 1u32;
    if rule.parts_y == 0u32 {
        step_y = (region.y.elements - 1u32).max(1u32);
        step_x = (region.x.elements - 1u32).max(1u32);
    }
    let mut p = 0u32;
    while p < region.y.elements {
        let mut q = 0u32;
        while q < region.x.elements {
            let offset = offset_of_element(region, p, q);
            if is_finite(offset.y) && is_finite(offset.x) {
                for corner in 0..4u32 {
                    let y = end_of_samples(rule, &region.y, p, corner / 2u32, offset.shift_y);
                    let x = end_of_samples(rule, &region.x, q, corner % 2u32, offset.shift_x);
                    let point = turned(rule, &region.turn, y, x);
                    // Coordinates are rounded, and those of other samples otherwise.
                    let slack = (point.y.abs() + point.x.abs() + y.abs() + x.abs()) * 4e-6;
                    corners.low_y = corners.low_y.min(point.y - slack);
                    corners.high_y = corners.high_y.max(point.y + slack);
                    corners.low_x = corners.low_x.min(point.x - slack);
                    corners.high_x = corners.high_x.max(point.x + slack);
                }
            }
            q += step_x;
        }
        p += step_y;
    }
    corners
}

/// The place of the first sample of an element, or of the last one.
#[cube]
fn end_of_samples(rule: &PointRule, axis: &PointAxis, element: u32, end: u32, shift: f32) -> f32 {
    place(rule, axis, element, end * (axis.samples - 1u32), shift)
}
