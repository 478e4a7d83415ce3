//! The kernel of point plans: a cube owns a box with its angle or offsets, and its units sum over channels.

use cubecl::prelude::*;

use super::ends::write_sum;
use super::slope::slope_of_pixels;
use crate::backend::cube::launch::{Regions, UNITS};
use crate::backend::cube::plan::layout::reach;
use crate::backend::cube::unit::plan::{Channels, PointPlan};
use crate::backend::cube::unit::point_region::{
    CallSizes, ElementOffset, PointRegion, reach_on_map, read_region, samples_in_bounds,
};
use crate::geometry::real::single::between::Reach;
use crate::geometry::real::single::point_slopes::{angle_slopes, fraction_slope, place_slopes};
use crate::geometry::real::single::points::{Point, ROTATED, place, reads, turned};
use crate::geometry::real::single::samples::bilinear_taps;

/// The gradients of a region's columns, and of an offset.
#[derive(CubeType)]
struct RegionGradient {
    x1: f32,
    y1: f32,
    x2: f32,
    y2: f32,
    angle: f32,
    offset_y: f32,
    offset_x: f32,
}

/// A sample of an element.
#[derive(CubeType)]
struct PointSample {
    /// The row and the column of the element.
    p: u32,
    q: u32,
    /// The indices of the sample within its element.
    y: u32,
    x: u32,
}

#[cube(launch, address_type = "dynamic")]
pub fn pull_points<F: Float, R: Float, I: Int>(
    gradient: &Tensor<F>,
    features: &Tensor<F>,
    regions: &Regions<R, I>,
    output: &mut Tensor<R>,
    plan: &PointPlan,
    #[define(F, R, I)] _dtypes: [cubecl::ir::ElemType; 3],
) {
    let row = CUBE_POS;
    if row >= gradient.shape(0) {
        terminate!();
    }
    let rule = &plan.rule;
    let sizes = CallSizes {
        images: features.shape(0),
        rows: gradient.shape(2) as u32,
        columns: gradient.shape(3) as u32,
        height: features.shape(2) as u32,
        width: features.shape(3) as u32,
    };
    let region = read_region(regions, row, plan, &sizes);
    let mut shared = Shared::<[f32]>::new_slice(UNITS);
    let mut of_region = RegionGradient {
        x1: 0.0f32,
        y1: 0.0f32,
        x2: 0.0f32,
        y2: 0.0f32,
        angle: 0.0f32,
        offset_y: 0.0f32,
        offset_x: 0.0f32,
    };
    // One part after another, each with the elements that its offset moves; all of them where there are no offsets.
    let offsets = (rule.parts_y * rule.parts_x) as usize;
    for part in 0..offsets.max(1usize) {
        of_region.offset_y = 0.0;
        of_region.offset_x = 0.0;
        let elements = elements_of_part(&region, offsets, part);
        for p in elements.rows.first..elements.rows.end {
            for q in elements.columns.first..elements.columns.end {
                add_element(gradient, features, &region, p, q, &mut of_region);
            }
        }
        if offsets > 0usize {
            write_sum(output, row, 4 + part, of_region.offset_x, &mut shared);
            write_sum(output, row, 4 + offsets + part, of_region.offset_y, &mut shared);
        }
    }
    write_sum(output, row, 0usize.runtime(), of_region.x1, &mut shared);
    write_sum(output, row, 1usize.runtime(), of_region.y1, &mut shared);
    write_sum(output, row, 2usize.runtime(), of_region.x2, &mut shared);
    write_sum(output, row, 3usize.runtime(), of_region.y2, &mut shared);
    if rule.placement == ROTATED {
        write_sum(output, row, 4usize.runtime(), of_region.angle, &mut shared);
    }
}

/// A range of elements along both axes.
#[derive(CubeType)]
struct PartElements {
    rows: Reach,
    columns: Reach,
}

/// The elements that the offset of a part moves, or all without offsets; none of a region that is not pooled.
#[cube]
fn elements_of_part<R: Float, I: Int>(region: &PointRegion<'_, R, I>, offsets: usize, part: usize) -> PartElements {
    let rule = &region.plan.rule;
    let mut first_p = 0u32;
    let mut end_p = region.y.elements;
    let mut first_q = 0u32;
    let mut end_q = region.x.elements;
    if offsets > 0usize {
        let part_y = part as u32 / rule.parts_x;
        let part_x = part as u32 % rule.parts_x;
        first_p = first_element(part_y, rule.parts_y, region.y.elements);
        end_p = first_element(part_y + 1u32, rule.parts_y, region.y.elements);
        first_q = first_element(part_x, rule.parts_x, region.x.elements);
        end_q = first_element(part_x + 1u32, rule.parts_x, region.x.elements);
    }
    if !region.pooled {
        end_p = first_p;
    }
    PartElements {
        rows: reach(first_p, end_p),
        columns: reach(first_q, end_q),
    }
}

/// The first element whose offset is that of a part or of one after it: `element * parts / elements` reaches `part`.
#[cube]
fn first_element(part: u32, parts: u32, elements: u32) -> u32 {
    (part * elements).div_ceil(parts)
}

/// Adds what an element gives in the channels of this unit.
#[cube]
fn add_element<F: Float, R: Float, I: Int>(
    gradient: &Tensor<F>,
    features: &Tensor<F>,
    region: &PointRegion<'_, R, I>,
    p: u32,
    q: u32,
    of_region: &mut RegionGradient,
) {
    let rule = &region.plan.rule;
    let (height, width) = (region.y.size, region.x.size);
    let reach = reach_on_map(region, p, q);
    let mut samples = region.y.samples as f32 * region.x.samples as f32;
    if rule.ignores_out_of_bounds == 1u32 {
        samples = samples_in_bounds(region, &reach, p, q);
    }
    for sample_y in reach.y.first..reach.y.end {
        let place_y = place(rule, &region.y, p, sample_y, reach.offset.shift_y);
        for sample_x in reach.x.first..reach.x.end {
            let place_x = place(rule, &region.x, q, sample_x, reach.offset.shift_x);
            let point = turned(rule, &region.turn, place_y, place_x);
            if reads(rule, &point, height, width) {
                let sample = PointSample {
                    p,
                    q,
                    y: sample_y,
                    x: sample_x,
                };
                let slope = slope(gradient, features, region, &sample, &point);
                let along_y = slope.y * fraction_slope(point.y, height) / samples;
                let along_x = slope.x * fraction_slope(point.x, width) / samples;
                let places = Point { y: place_y, x: place_x };
                let along = Point { y: along_y, x: along_x };
                add_sample(region, &reach.offset, &sample, &places, &along, of_region);
            }
        }
    }
}

/// By how much the sum of this unit's channels, each times its gradient, grows with the position of a sample.
#[cube]
fn slope<F: Float, R: Float, I: Int>(
    gradient: &Tensor<F>,
    features: &Tensor<F>,
    region: &PointRegion<'_, R, I>,
    sample: &PointSample,
    point: &Point,
) -> Point {
    let of_channels = comptime!(region.plan.settings.channels);
    let index = (sample.y * region.x.samples + sample.x) as usize;
    let y = bilinear_taps(point.y, region.y.size);
    let x = bilinear_taps(point.x, region.x.size);
    let (row_step, step) = (features.stride(2), features.stride(3));
    let of_element = region.row * gradient.stride(0)
        + sample.p as usize * gradient.stride(2)
        + sample.q as usize * gradient.stride(3);
    let channels = gradient.shape(1);
    let mut down = 0.0f32;
    let mut across = 0.0f32;
    let mut channel = UNIT_POS as usize;
    while channel < channels {
        let mut input = channel;
        if comptime!(of_channels == Channels::OfElements) {
            input = (channel * gradient.shape(2) + sample.p as usize) * gradient.shape(3) + sample.q as usize;
        }
        if comptime!(of_channels == Channels::OfSamples) {
            input = index * channels + channel;
        }
        let plane = region.image * features.stride(0) + input * features.stride(1);
        let of_pixels = slope_of_pixels(features, plane, &y, &x, row_step, step);
        let of_channel = f32::cast_from(gradient[of_element + channel * gradient.stride(1)]);
        down += of_channel * of_pixels.along_y;
        across += of_channel * of_pixels.along_x;
        channel += UNITS;
    }
    Point { y: down, x: across }
}

/// Adds what a sample gives the columns of its region. `along` is by how much the result grows with its position.
#[cube]
fn add_sample<R: Float, I: Int>(
    region: &PointRegion<'_, R, I>,
    offset: &ElementOffset,
    sample: &PointSample,
    places: &Point,
    along: &Point,
    of_region: &mut RegionGradient,
) {
    let rule = &region.plan.rule;
    let y = place_slopes(rule, &region.y, sample.p, sample.y, offset.y);
    let x = place_slopes(rule, &region.x, sample.q, sample.x, offset.x);
    if rule.placement == ROTATED {
        let turn = &region.turn;
        let angle = angle_slopes(rule, turn, places.y, places.x);
        of_region.x1 += rule.spatial_scale * along.x;
        of_region.y1 += rule.spatial_scale * along.y;
        of_region.x2 += x.high * (turn.cosine * along.x - turn.sine * along.y);
        of_region.y2 += y.high * (turn.cosine * along.y + turn.sine * along.x);
        of_region.angle += angle.y * along.y + angle.x * along.x;
    } else {
        of_region.x1 += x.low * along.x;
        of_region.y1 += y.low * along.y;
        of_region.x2 += x.high * along.x;
        of_region.y2 += y.high * along.y;
        of_region.offset_y += y.offset * along.y;
        of_region.offset_x += x.offset * along.x;
    }
}
