//! Which taps of a region's elements lie in a tile, in shared memory. Each unit looks at one element.

use cubecl::prelude::*;

use super::tile::{SIDE, UNITS};
use crate::backend::cube::plan::layout::{AxisLayout, PlannedElement, planned_element};
use crate::geometry::real::single::between::Reach;

/// How many elements along an axis are looked at together. Half of the units look along y, the other half along x.
pub const TOGETHER: usize = UNITS / 2;

/// For each element the word of its first tap in the tile, and how many taps lie there. Those along y come first.
#[derive(CubeType)]
pub struct Spans {
    words: Shared<[u32]>,
    taps: Shared<[u32]>,
}

#[cube]
pub fn spans() -> Spans {
    Spans {
        words: Shared::<[u32]>::new_slice(UNITS),
        taps: Shared::<[u32]>::new_slice(UNITS),
    }
}

/// Looks at the element of this unit: at one of `elements`, along an axis of a tile whose first pixel is `pixel`.
#[cube]
pub fn look(spans: &mut Spans, plans: &Tensor<u32>, start: usize, axis: &AxisLayout, elements: &Reach, pixel: u32) {
    let unit = UNIT_POS as usize;
    let element = elements.first + UNIT_POS % comptime!(TOGETHER as u32);
    spans.taps[unit] = 0u32;
    if element < elements.end {
        let element = planned_element(plans, start, axis, element);
        let taps = taps_in_tile(plans, &element, pixel);
        spans.words[unit] = (element.start + 2usize * taps.first as usize) as u32;
        spans.taps[unit] = taps.end - taps.first;
    }
}

/// The taps whose pixels are the [`SIDE`] pixels from `pixel` on. The pixels of taps ascend, and may leave some out.
#[cube]
fn taps_in_tile(plans: &Tensor<u32>, element: &PlannedElement, pixel: u32) -> Reach {
    let mut first = 0u32;
    let mut end = 0u32;
    if element.taps > 0u32 {
        let least = plans[element.start];
        // The pixel of tap t is at least `least + t`.
        let before = pixel - least.min(pixel);
        end = element
            .taps
            .min(pixel + comptime!(SIDE as u32) - least.min(pixel + comptime!(SIDE as u32)));
        first = before.min(end);
        while first > 0u32 && pixel_of_tap(plans, element, first - 1u32) >= pixel {
            first -= 1u32;
        }
        while end > first && pixel_of_tap(plans, element, end - 1u32) >= pixel + comptime!(SIDE as u32) {
            end -= 1u32;
        }
    }
    Reach { first, end }
}

#[cube]
fn pixel_of_tap(plans: &Tensor<u32>, element: &PlannedElement, tap: u32) -> u32 {
    // Looked at even where there is no tap before the first.
    plans[element.start + 2usize * tap.min(element.taps - 1u32) as usize]
}

/// The first word of an element's taps in the tile.
#[cube]
pub fn word_of(spans: &Spans, place: u32) -> usize {
    spans.words[place as usize] as usize
}

/// How many taps of an element lie in the tile.
#[cube]
pub fn taps_of(spans: &Spans, place: u32) -> u32 {
    spans.taps[place as usize]
}

/// From the first to the last of those elements from `first` on that have taps in the tile.
#[cube]
pub fn reaching(spans: &Spans, first: u32, elements: u32) -> Reach {
    let mut begin = first;
    let mut end = first;
    for place in first..first + elements {
        if spans.taps[place as usize] > 0u32 {
            if end == first {
                begin = place;
            }
            end = place + 1u32;
        }
    }
    Reach { first: begin, end }
}
