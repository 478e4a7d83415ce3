//! The kernel of operators whose elements read points. It is apart, so that the others are not compiled with it.

use cubecl::prelude::*;

use crate::backend::cube::launch::Regions;
use crate::backend::cube::unit::blocks::{Blocks, PixelPair, add_pixel_pair, blocks, multiply, write_blocks};
use crate::backend::cube::unit::element::{Element, Units, element, sizes};
use crate::backend::cube::unit::plan::{Channels, PointPlan};
use crate::backend::cube::unit::point_region::{CallSizes, PointRegion, reach_on_map, read_region};
use crate::geometry::real::single::points::{Point, place, reads, turned};
use crate::geometry::real::single::samples::bilinear_taps;

#[cube(launch, address_type = "dynamic")]
pub fn pool_points<F: Float, R: Float, I: Int>(
    levels: &Sequence<OwnedTensor<F>>,
    regions: &Regions<R, I>,
    output: &mut Tensor<F>,
    units: &Units,
    plans: &Sequence<PointPlan>,
    #[define(F, R, I)] _dtypes: [cubecl::ir::ElemType; 3],
) {
    if ABSOLUTE_POS >= units.total {
        terminate!();
    }
    let element = element(units);
    let count = comptime!(levels.len());
    #[unroll]
    for level in 0..count {
        pool_level(levels.index(level), regions, output, &element, plans.index(level));
    }
}

/// Pools an element from a map, if its region is in the range of areas.
#[cube]
fn pool_level<F: Float, R: Float, I: Int>(
    features: &Tensor<F>,
    regions: &Regions<R, I>,
    output: &mut Tensor<F>,
    element: &Element,
    plan: &PointPlan,
) {
    let sizes = sizes(output);
    let of_call = CallSizes {
        images: features.shape(0),
        rows: sizes.rows as u32,
        columns: sizes.columns as u32,
        height: features.shape(2) as u32,
        width: features.shape(3) as u32,
    };
    let region = read_region(regions, element.region, plan, &of_call);
    // A region that is not finite or has an invalid batch index is 0.
    if comptime!(!plan.settings.of_level) || region.in_range {
        let mut blocks = blocks(features, region.image, element, &sizes, 0.0);
        if region.pooled {
            add_samples(features, &region, element, sizes.channels, &mut blocks);
        }
        write_blocks(output, element, &blocks);
    }
}

/// Adds the mean of an element's samples, in all channels of a unit.
#[cube]
fn add_samples<F: Float, R: Float, I: Int>(
    features: &Tensor<F>,
    region: &PointRegion<'_, R, I>,
    element: &Element,
    channels: usize,
    blocks: &mut Blocks,
) {
    let rule = &region.plan.rule;
    let (height, width) = (region.y.size, region.x.size);
    let (p, q) = (element.row as u32, element.column as u32);
    let reach = reach_on_map(region, p, q);
    let map = Map {
        height,
        width,
        row_step: features.stride(2),
        step: features.stride(3),
    };
    let of_sample = channels * features.stride(1);
    let mut count = 0u32;
    for sample_y in reach.y.first..reach.y.end {
        let place_y = place(rule, &region.y, p, sample_y, reach.offset.shift_y);
        for sample_x in reach.x.first..reach.x.end {
            let place_x = place(rule, &region.x, q, sample_x, reach.offset.shift_x);
            let point = turned(rule, &region.turn, place_y, place_x);
            if reads(rule, &point, height, width) {
                count += 1u32;
                let mut shift = 0usize.runtime();
                if comptime!(region.plan.settings.channels == Channels::OfSamples) {
                    shift = (sample_y * region.x.samples + sample_x) as usize * of_sample;
                }
                add_point(features, &map, &point, shift, blocks);
            }
        }
    }
    let mut samples = region.y.samples as f32 * region.x.samples as f32;
    if rule.ignores_out_of_bounds == 1u32 {
        samples = count as f32;
    }
    if count > 0u32 {
        multiply(blocks, 1.0 / samples);
    }
}

/// The size and the strides of a map.
#[derive(CubeType)]
struct Map {
    height: u32,
    width: u32,
    row_step: usize,
    step: usize,
}

/// Adds a bilinear sample, in all channels of a unit, which it reads `shift` after those of the first sample.
#[cube]
fn add_point<F: Float>(features: &Tensor<F>, map: &Map, point: &Point, shift: usize, blocks: &mut Blocks) {
    let y = bilinear_taps(point.y, map.height);
    let x = bilinear_taps(point.x, map.width);
    let mut row = y.low;
    let mut weight = 1.0 - y.fraction;
    for _ in 0..2u32 {
        let pair = PixelPair {
            left: shift + row as usize * map.row_step + x.low as usize * map.step,
            distance: (x.high - x.low) as usize * map.step,
            left_weight: weight * (1.0 - x.fraction),
            right_weight: weight * x.fraction,
        };
        add_pixel_pair(features, &pair, blocks);
        row = y.high;
        weight = y.fraction;
    }
}
