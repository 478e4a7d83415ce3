//! What a region's elements read of a tile, in shared memory. Each unit looks at one element, along y or along x.

use cubecl::prelude::*;

use super::tile::{SIDE, TilePlace, UNITS};
use crate::backend::cube::plan::layout::{
    PlanLayout, PlannedElement, axis_of, pixel_of_tap, planned_element, weight_of_tap,
};
use crate::geometry::real::single::between::Reach;

/// How many elements along an axis are looked at together. Half of the units look along y, the other half along x.
pub const TOGETHER: usize = UNITS / 2;

/// How many weights are loaded at once, and how many such loads the weights of an element take.
const FOUR: usize = 4;
const FOURS: usize = SIDE / FOUR;

/// The distance of the weights of two elements, in fours. With one four more than there are, units that write the same
/// pixels of several elements write to other banks of the memory.
const STEP: usize = FOURS + 1;

/// What was looked at along y, then along x.
#[derive(CubeType)]
pub struct Spans {
    /// The bit of an element that reads the tile; of others 0.
    reads: Shared<[u32]>,
    /// The weights of the pixels of the tile.
    weights: Shared<[Vector<f32, Const<FOUR>>]>,
}

#[cube]
pub fn spans() -> Spans {
    Spans {
        reads: Shared::<[u32]>::new_slice(UNITS),
        weights: Shared::<[Vector<f32, Const<FOUR>>]>::new_slice(UNITS * STEP),
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
    let mut weights = Array::<f32>::new(SIDE);
    #[unroll]
    for pixel in 0..SIDE {
        weights[pixel] = 0.0;
    }
    if element < select(is_y, ends.0, ends.1) {
        let element = planned_element(plans, start, &axis, element);
        let taps = taps_in_tile(plans, &element, pixel);
        for tap in taps.first..taps.end {
            let of_tile = pixel_of_tap(plans, &element, tap) - pixel;
            let weight = weight_of_tap(plans, &element, tap);
            // In registers, every index must be compiled in.
            #[unroll]
            for pixel in 0..SIDE {
                weights[pixel] = select(of_tile == comptime!(pixel as u32), weight, weights[pixel]);
            }
        }
        reads = taps.first < taps.end;
    }
    #[unroll]
    for four in 0..FOURS {
        let mut of_four = Vector::<f32, Const<FOUR>>::new(0.0f32);
        #[unroll]
        for pixel in 0..FOUR {
            of_four.insert(pixel, weights[comptime!(four * FOUR + pixel)]);
        }
        spans.weights[unit * STEP + four] = of_four;
    }
    spans.reads[unit] = select(reads, 1u32 << number, 0u32);
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
    let mut bits = 0u32;
    for unit in first..first + elements {
        bits |= spans.reads[unit as usize];
    }
    // Without a bit, the first is behind the last.
    Reach {
        first: bits.trailing_zeros(),
        end: 32u32 - bits.leading_zeros(),
    }
}

/// The weights of an element, of the pixels of the tile that a unit owns: of all, or of the one at `share` where
/// several units share a channel. `unit` has looked at the element.
#[cube]
pub fn own_weights(spans: &Spans, unit: u32, share: u32, weights: &mut Array<f32>, #[comptime] sharing: usize) {
    let place = unit as usize * STEP;
    #[unroll]
    for pixel in 0..SIDE {
        let weight = spans.weights[place + comptime!(pixel / FOUR)].extract(comptime!(pixel % FOUR));
        if comptime!(sharing == 1) {
            weights[pixel] = weight;
        } else if share == comptime!(pixel as u32) {
            weights[0] = weight;
        }
    }
}
