//! The kernel that pools by elements: of position-sensitive operators, whose elements read channels of their own, of
//! wide outputs, for which a cube would reduce columns again and again, and of all operators on CubeCL's CPU runtime,
//! whose threads spin while they wait for each other.

use cubecl::prelude::*;

use crate::backend::cube::plan::layout::{PlanLayout, pixel_of_tap, planned_element, planned_region, weight_of_tap};
use crate::backend::cube::unit::blocks::{add_outside, blocks, reduce_pixel, write_blocks};
use crate::backend::cube::unit::element::{Units, element, sizes};
use crate::geometry::options::Reduction;

/// Reduces what each element reads. `first` is the row of the first region of the plan.
#[cube(launch, address_type = "dynamic")]
pub fn pool_elements<F: Float>(
    levels: &Sequence<OwnedTensor<F>>,
    plans: &Tensor<u32>,
    output: &mut Tensor<F>,
    units: &Units,
    layout: &PlanLayout,
    first: usize,
    start: f32,
    outside: f32,
    #[comptime] reduction: Reduction,
    #[define(F)] _dtype: cubecl::ir::ElemType,
) {
    if ABSOLUTE_POS >= units.total {
        terminate!();
    }
    let mut place = element(units);
    let region = planned_region(plans, place.region, layout);
    place.region += first;
    let y = planned_element(plans, region.start, &layout.y, place.row as u32);
    let x = planned_element(plans, region.start, &layout.x, place.column as u32);
    let sizes = sizes(output);
    let count = comptime!(levels.len());
    #[unroll]
    for level in 0..count {
        if region.level == comptime!(level as u32) {
            let features = levels.index(level);
            let (row_step, step) = (features.stride(2), features.stride(3));
            let mut blocks = blocks(features, region.image, &place, &sizes, start);
            for row in 0..y.taps {
                let of_row = pixel_of_tap(plans, &y, row) as usize * row_step;
                let weight = weight_of_tap(plans, &y, row);
                for column in 0..x.taps {
                    let pixel = of_row + pixel_of_tap(plans, &x, column) as usize * step;
                    let weight = weight * weight_of_tap(plans, &x, column);
                    reduce_pixel(features, pixel, weight, &mut blocks, reduction);
                }
            }
            add_outside(&mut blocks, y.share * x.share, outside, reduction);
            write_blocks(output, &place, &blocks);
        }
    }
}
