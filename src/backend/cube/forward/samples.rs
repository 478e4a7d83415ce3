//! The kernel of a maximum over samples, which are taken one by one. A maximum does not part into one along y and one
//! along x.

use cubecl::prelude::*;

use crate::backend::cube::launch::Regions;
use crate::backend::cube::unit::blocks::{Block, Blocks, blocks, write_blocks};
use crate::backend::cube::unit::channels::Layout;
use crate::backend::cube::unit::element::{Element, Units, element, sizes};
use crate::backend::cube::unit::plan::ReductionPlan;
use crate::backend::cube::unit::region::{BoxRow, read_box};
use crate::backend::cube::unit::square::{Square, corners, sample_of, square};
use crate::geometry::options::Reduction;
use crate::geometry::real::single::area::in_range;
use crate::geometry::real::single::rules::{Rules, RulesExpand};
use crate::geometry::real::single::samples::{SampleRule, axis, in_bounds, position, taps};

/// The number of levels is compiled in, and the code of a level once for each.
#[cube(launch, address_type = "dynamic")]
pub fn pool_maxima<F: Float, R: Float, I: Int>(
    levels: &Sequence<OwnedTensor<F>>,
    regions: &Regions<R, I>,
    output: &mut Tensor<F>,
    units: &Units,
    plans: &Sequence<ReductionPlan>,
    #[define(F, R, I)] _dtypes: [cubecl::ir::ElemType; 3],
) {
    if ABSOLUTE_POS >= units.total {
        terminate!();
    }
    let element = element(units);
    let first = plans.index(0);
    let box_format = comptime!(first.settings.box_format);
    let region = read_box(regions, element.region, levels.index(0).shape(0), box_format);
    let count = comptime!(levels.len());
    #[unroll]
    for level in 0..count {
        let plan = plans.index(level);
        if comptime!(!plan.settings.of_level) || in_range(&plan.areas, region.y1, region.x1, region.y2, region.x2) {
            match &plan.rules {
                Rules::Samples(y, x) => pool_samples(levels.index(level), output, &element, &region, y, x, plan),
                // These are pooled by their plans.
                Rules::Bins(_, _) => {}
                Rules::Integrals(_, _) => {}
            }
        }
    }
}

/// Pools an element in all channels of its unit.
#[cube]
fn pool_samples<F: Float>(
    features: &Tensor<F>,
    output: &mut Tensor<F>,
    element: &Element,
    region: &BoxRow,
    rule_y: &SampleRule,
    rule_x: &SampleRule,
    plan: &ReductionPlan,
) {
    let height = features.shape(2) as u32;
    let width = features.shape(3) as u32;
    let sizes = sizes(output);
    let axis_y = axis(rule_y, region.y1, region.y2, sizes.rows as u32);
    let axis_x = axis(rule_x, region.x1, region.x2, sizes.columns as u32);
    let rows = in_bounds(rule_y, &axis_y, element.row as u32, height);
    let mut rows_end = rows.end;
    if !region.valid {
        rows_end = rows.first;
    }
    let columns = in_bounds(rule_x, &axis_x, element.column as u32, width);

    // Read before the loops: a device compiler does not hoist a read that may not be reached.
    let row_step = features.stride(2);
    let step = features.stride(3);
    let reduction = comptime!(plan.settings.reduction);
    let mut blocks = blocks(features, region.image, element, &sizes, plan.start);
    for sample_y in rows.first..rows_end {
        let y = taps(rule_y, position(rule_y, &axis_y, element.row as u32, sample_y), height);
        for sample_x in columns.first..columns.end {
            let x = taps(
                rule_x,
                position(rule_x, &axis_x, element.column as u32, sample_x),
                width,
            );
            let square = square(&y, &x, row_step, step);
            #[unroll]
            for number in 0..comptime!(blocks.layout.blocks) {
                compare_square(features, &square, &mut blocks.list[number], blocks.layout, reduction);
            }
        }
    }
    let samples = axis_y.samples as f32 * axis_x.samples as f32;
    let in_bounds = (rows_end - rows.first) as f32 * (columns.end - columns.first) as f32;
    compare_out_of_bounds(&mut blocks, samples, in_bounds, plan.outside);
    write_blocks(output, element, &blocks);
}

/// Compares four more pixels with a maximum, in all channels of a block.
#[cube]
fn compare_square<F: Float>(
    features: &Tensor<F>,
    square: &Square,
    block: &mut Block,
    #[comptime] layout: Layout,
    #[comptime] reduction: Reduction,
) {
    if block.computed {
        let mut plane = block.planes.start;
        #[unroll]
        for channel in 0..layout.of_block {
            let corners = corners(features, plane, square);
            if comptime!(reduction == Reduction::MaxOfWeightedCorners) {
                let above = corners.value_11.max(corners.value_12);
                let below = corners.value_21.max(corners.value_22);
                block.results[channel] = block.results[channel].max(above.max(below));
            } else {
                block.results[channel] = block.results[channel].max(sample_of(&corners));
            }
            plane += block.planes.step;
        }
    }
}

/// Ends a maximum with the samples out of bounds.
#[cube]
fn compare_out_of_bounds(blocks: &mut Blocks, samples: f32, in_bounds: f32, outside: f32) {
    let layout = comptime!(blocks.layout);
    #[unroll]
    for number in 0..layout.blocks {
        let block = &mut blocks.list[number];
        #[unroll]
        for channel in 0..layout.of_block {
            let mut result = block.results[channel];
            if in_bounds < samples {
                result = result.max(outside);
            }
            block.results[channel] = select(in_bounds > 0.0, result, outside);
        }
    }
}
