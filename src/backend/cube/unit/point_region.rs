//! A region whose elements read points, as a kernel reads it.

use cubecl::prelude::*;

use super::plan::PointPlan;
use super::region::{is_finite, read_box};
use crate::backend::cube::launch::Regions;
use crate::geometry::options::BoxFormat;
use crate::geometry::real::single::angle::sine_cosine;
use crate::geometry::real::single::area::in_range;
use crate::geometry::real::single::between::Reach;
use crate::geometry::real::single::points::{
    Places, PointAxis, ROTATED, Turn, place, places_of_pixels, point_axis, reads, samples_between, shift, turn, turned,
};

/// A region: its image, its axes, and how it is turned.
#[derive(CubeType)]
pub struct PointRegion<'a, R: Float, I: Int> {
    regions: &'a Regions<R, I>,
    pub plan: &'a PointPlan,
    pub row: usize,
    pub image: usize,
    /// Whether its area is in the range of areas.
    pub in_range: bool,
    /// Whether it is pooled: its batch index is valid, and it is finite and in the range of areas.
    pub pooled: bool,
    pub y: PointAxis,
    pub x: PointAxis,
    pub turn: Turn,
}

/// An element's offset, and by how many pixels it moves its samples.
#[derive(CubeType)]
pub struct ElementOffset {
    pub y: f32,
    pub x: f32,
    pub shift_y: f32,
    pub shift_x: f32,
}

/// The sizes of a call.
#[derive(CubeType, CubeLaunch)]
pub struct CallSizes {
    /// How many images the features have, and the size of their maps.
    pub images: usize,
    pub height: u32,
    pub width: u32,
    /// The size of the output.
    pub rows: u32,
    pub columns: u32,
}

#[cube]
pub fn read_region<'a, R: Float, I: Int>(
    regions: &'a Regions<R, I>,
    row: usize,
    plan: &'a PointPlan,
    sizes: &CallSizes,
) -> PointRegion<'a, R, I> {
    let rule = &plan.rule;
    let region = read_box(regions, row, sizes.images, comptime!(BoxFormat::Xyxy));
    let mut pooled = region.valid;
    let mut top = region.y1;
    let mut left = region.x1;
    let mut sine = 0.0f32;
    let mut cosine = 1.0f32;
    if rule.placement == ROTATED {
        let angle = f32::cast_from(regions.boxes[row * regions.boxes.stride(0) + 4 * regions.boxes.stride(1)]);
        pooled = pooled && is_finite(angle);
        let mut rest = angle;
        if rule.full_turn > 0.0 {
            // Before it is rounded to radians: of 360,000 degrees they would lose four digits.
            rest -= (angle / rule.full_turn + 0.5).floor() * rule.full_turn;
        }
        let of_angle = sine_cosine(rest * rule.radians);
        sine = of_angle.sine;
        cosine = of_angle.cosine;
        // The area of the box: its last two columns are its size.
        top = 0.0f32.runtime();
        left = 0.0f32.runtime();
    }
    let mut of_this_level = true;
    if comptime!(plan.settings.of_level) {
        of_this_level = in_range(&plan.areas, top, left, region.y2, region.x2);
        pooled = pooled && of_this_level;
    }
    PointRegion::<'a, R, I> {
        regions,
        plan,
        row,
        image: region.image,
        in_range: of_this_level,
        pooled,
        y: point_axis(rule, region.y1, region.y2, rule.samples_y, sizes.rows, sizes.height),
        x: point_axis(rule, region.x1, region.x2, rule.samples_x, sizes.columns, sizes.width),
        turn: turn(rule, region.y1, region.x1, cosine, sine),
    }
}

#[cube]
pub fn offset_of_element<R: Float, I: Int>(region: &PointRegion<'_, R, I>, p: u32, q: u32) -> ElementOffset {
    let (regions, rule) = (region.regions, &region.plan.rule);
    let mut offset = ElementOffset {
        y: 0.0f32,
        x: 0.0f32,
        shift_y: 0.0f32,
        shift_x: 0.0f32,
    };
    if rule.parts_y > 0u32 {
        let place = offset_place(region, p, q);
        let of_axis = (rule.parts_y * rule.parts_x) as usize;
        let start = region.row * regions.boxes.stride(0);
        let step = regions.boxes.stride(1);
        offset.x = f32::cast_from(regions.boxes[start + (4 + place) * step]);
        offset.y = f32::cast_from(regions.boxes[start + (4 + of_axis + place) * step]);
        offset.shift_y = shift(rule, &region.y, offset.y);
        offset.shift_x = shift(rule, &region.x, offset.x);
    }
    offset
}

/// Which of the offsets along an axis is an element's.
#[cube]
fn offset_place<R: Float, I: Int>(region: &PointRegion<'_, R, I>, p: u32, q: u32) -> usize {
    let rule = &region.plan.rule;
    let part_y = p * rule.parts_y / region.y.elements;
    let part_x = q * rule.parts_x / region.x.elements;
    (part_y * rule.parts_x + part_x) as usize
}

/// The samples of an element that may read some pixels, and its offset.
#[derive(CubeType)]
pub struct ElementReach {
    pub y: Reach,
    pub x: Reach,
    pub offset: ElementOffset,
}

/// The samples of an element that may read the pixels of some places. An element whose offset is not finite reads none.
#[cube]
pub fn reach_of_element<R: Float, I: Int>(
    region: &PointRegion<'_, R, I>,
    places: &Places,
    p: u32,
    q: u32,
) -> ElementReach {
    let rule = &region.plan.rule;
    let offset = offset_of_element(region, p, q);
    let mut y = samples_between(rule, &region.y, p, offset.shift_y, places.low_y, places.high_y);
    if !(is_finite(offset.y) && is_finite(offset.x)) {
        y.end = y.first;
    }
    // Most elements are elsewhere along y already.
    let mut first = 0u32;
    let mut end = 0u32;
    if y.first < y.end {
        let x = samples_between(rule, &region.x, q, offset.shift_x, places.low_x, places.high_x);
        first = x.first;
        end = x.end;
    }
    ElementReach {
        y,
        x: Reach { first, end },
        offset,
    }
}

/// The samples of an element that may read the map.
#[cube]
pub fn reach_on_map<R: Float, I: Int>(region: &PointRegion<'_, R, I>, p: u32, q: u32) -> ElementReach {
    let (last_y, last_x) = (region.y.size - 1u32, region.x.size - 1u32);
    let places = places_of_pixels(&region.plan.rule, &region.turn, 0u32, last_y, 0u32, last_x);
    reach_of_element(region, &places, p, q)
}

/// How many samples of an element read the map, of those that may.
#[cube]
pub fn samples_in_bounds<R: Float, I: Int>(
    region: &PointRegion<'_, R, I>,
    reach: &ElementReach,
    p: u32,
    q: u32,
) -> f32 {
    let rule = &region.plan.rule;
    let mut samples = 0.0f32;
    for sample_y in reach.y.first..reach.y.end {
        let y = place(rule, &region.y, p, sample_y, reach.offset.shift_y);
        for sample_x in reach.x.first..reach.x.end {
            let x = place(rule, &region.x, q, sample_x, reach.offset.shift_x);
            if reads(rule, &turned(rule, &region.turn, y, x), region.y.size, region.x.size) {
                samples += 1.0;
            }
        }
    }
    samples
}
