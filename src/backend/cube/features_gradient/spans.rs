//! What a region's elements read of a tile, in shared memory. Each unit looks at one element, along y or along x.

use cubecl::prelude::*;

use super::tile::{SIDE, TilePlace, UNITS};
use crate::backend::cube::plan::layout::{
    PlanLayout, PlannedElement, axis_of, pixel_of_tap, planned_element, weight_of_tap,
};
use crate::geometry::real::single::between::Reach;

/// How many elements along an axis are looked at together. Half of the units look along y, the other half along x.
pub const TOGETHER: usize = UNITS / 2;

/// The distance of the weights of two elements. Four weights that follow each other are loaded at once where the first
/// has a number that is divisible by four.
const STEP: usize = SIDE + 4;

/// The bytes of four weights.
const ALIGNMENT: usize = 16;

/// What was looked at along y, then along x.
#[derive(CubeType)]
pub struct Spans {
    /// The number of an element that reads the tile, and the one behind it. The numbers of others are larger than all,
    /// and 0.
    lowest: Shared<[u32]>,
    highest: Shared<[u32]>,
    /// The weight of each pixel of the tile.
    pub weights: Shared<[f32]>,
}

#[cube]
pub fn spans() -> Spans {
    Spans {
        lowest: Shared::<[u32]>::new_slice(UNITS),
        highest: Shared::<[u32]>::new_slice(UNITS),
        weights: Shared::<[f32]>::new_aligned_slice(comptime!(UNITS * STEP), ALIGNMENT),
    }
}

/// Looks at the element of this unit: at one of those from row `p` or column `q` on, up to those of `ends`. The plan of
/// the region begins at `start`.
#[cube]
pub fn look(
    spans: &mut Spans,
    plans: &Tensor<u32>,
    start: usize,
    layout: &PlanLayout,
    tile: &TilePlace,
    first: (u32, u32),
    ends: (u32, u32),
) {
    let unit = UNIT_POS as usize;
    let number = UNIT_POS % comptime!(TOGETHER as u32);
    let is_y = UNIT_POS < comptime!(TOGETHER as u32);
    let axis = axis_of(layout, is_y);
    let pixel = select(is_y, tile.y, tile.x);
    let element = number + select(is_y, first.0, first.1);
    let mut reads = false;
    #[unroll]
    for pixel in 0..SIDE {
        spans.weights[unit * STEP + pixel] = 0.0;
    }
    if element < select(is_y, ends.0, ends.1) {
        let element = planned_element(plans, start, &axis, element);
        let taps = taps_in_tile(plans, &element, pixel);
        for tap in taps.first..taps.end {
            let of_tile = pixel_of_tap(plans, &element, tap) - pixel;
            spans.weights[unit * STEP + of_tile as usize] = weight_of_tap(plans, &element, tap);
        }
        reads = taps.first < taps.end;
    }
    spans.lowest[unit] = select(reads, number, comptime!(TOGETHER as u32));
    spans.highest[unit] = select(reads, number + 1u32, 0u32);
}

/// The taps whose pixels are the [`SIDE`] pixels from `pixel` on. The pixels of taps ascend, and may leave some out.
#[cube]
fn taps_in_tile(plans: &Tensor<u32>, element: &PlannedElement, pixel: u32) -> Reach {
    let mut first = 0u32;
    let mut end = 0u32;
    if element.taps > 0u32 {
        let behind = pixel + comptime!(SIDE as u32);
        // The pixel of tap t is at least `least + t`.
        let least = pixel_of_tap(plans, element, 0u32);
        end = element.taps.min(behind - least.min(behind));
        first = end.min(pixel - least.min(pixel));
        while first > 0u32 && pixel_before(plans, element, first) >= pixel {
            first -= 1u32;
        }
        while end > first && pixel_before(plans, element, end) >= behind {
            end -= 1u32;
        }
    }
    Reach { first, end }
}

/// The pixel of the tap before this one. It is looked at even where this is the first.
#[cube]
fn pixel_before(plans: &Tensor<u32>, element: &PlannedElement, tap: u32) -> u32 {
    pixel_of_tap(plans, element, (tap - 1u32).min(element.taps - 1u32))
}

/// From the first to the last of those elements that read the tile, of `elements` along an axis. `first` is the unit
/// that has looked at the first of these.
#[cube]
pub fn reaching(spans: &Spans, first: u32, elements: u32) -> Reach {
    let mut lowest = elements;
    let mut end = 0u32;
    for unit in first..first + elements {
        lowest = lowest.min(spans.lowest[unit as usize]);
        end = end.max(spans.highest[unit as usize]);
    }
    Reach { first: lowest, end }
}

/// The place of an element's weight of a pixel of the tile.
///
/// The bound changes nothing. But LLVM has to know that no index wraps, and that it is divisible by four if `pixel` is,
/// before it loads four weights at once.
#[cube]
pub fn weight_place(unit: u32, pixel: u32) -> usize {
    (unit * comptime!(STEP as u32)).min(comptime!(((UNITS - 1) * STEP) as u32)) as usize + pixel as usize
}
