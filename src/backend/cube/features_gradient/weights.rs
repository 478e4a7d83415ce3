//! The weights of a tile's rows and columns in the elements of a few regions, in shared memory.
//!
//! What elements read along y and along x is apart. So each row and each column of a tile is looked at once for a
//! region, by one unit, and not by all units whose pixels lie there.

use cubecl::prelude::*;

use super::tile::SIDE;
use crate::backend::cube::launch::UNITS;
use crate::backend::cube::plan::layout::{AxisLayout, planned_element, weight_of_pixel};
use crate::geometry::real::single::between::Reach;

/// How many regions are looked at together: a unit looks at a row or at a column for one of them.
pub const REGIONS: usize = UNITS / (2 * SIDE);

/// How many weights of a row or column are kept. Where elements are shorter than a fourth of a pixel, more of them may
/// read it. Their weights are looked up where they are needed.
const KEPT: usize = 8;

/// Which elements read the rows and columns of a tile, and their weights. The rows for all regions come first.
#[derive(CubeType)]
pub struct Weights {
    first: Shared<[u32]>,
    end: Shared<[u32]>,
    kept: Shared<[f32]>,
}

#[cube]
pub fn weights() -> Weights {
    Weights {
        first: Shared::<[u32]>::new_slice(UNITS),
        end: Shared::<[u32]>::new_slice(UNITS),
        kept: Shared::<[f32]>::new_slice(UNITS * KEPT),
    }
}

/// Which of the regions looked at together this unit looks at.
#[cube]
pub fn region_of_unit() -> u32 {
    (UNIT_POS as usize % (UNITS / 2) / SIDE) as u32
}

/// Looks at a region along an axis, for the row or column of this unit: writes down which of some elements read it, and
/// the weights of the first of them. `start` is where the plan of the region starts.
#[cube]
pub fn look(weights: &mut Weights, plans: &Tensor<u32>, start: usize, axis: &AxisLayout, elements: &Reach, pixel: u32) {
    let unit = UNIT_POS as usize;
    let mut begin = elements.end;
    let mut after = elements.end;
    for number in elements.first..elements.end {
        let weight = weight_of_pixel(plans, &planned_element(plans, start, axis, number), pixel);
        if weight > 0.0 {
            begin = begin.min(number);
            after = number + 1u32;
        }
        if begin <= number && number - begin < comptime!(KEPT as u32) {
            weights.kept[unit * KEPT + (number - begin) as usize] = weight;
        }
    }
    weights.first[unit] = begin;
    weights.end[unit] = after;
}

/// The elements that may read a row or column: `looker` is the unit that has looked at it.
#[cube]
pub fn elements_at(weights: &Weights, looker: usize) -> Reach {
    Reach {
        first: weights.first[looker],
        end: weights.end[looker],
    }
}

/// The unit that looks at this unit's row for a region, by the region's number among those looked at together.
#[cube]
pub fn looker_y(region: u32) -> usize {
    region as usize * SIDE + UNIT_POS as usize / SIDE
}

/// The unit that looks at this unit's column.
#[cube]
pub fn looker_x(region: u32) -> usize {
    UNITS / 2 + region as usize * SIDE + UNIT_POS as usize % SIDE
}

/// Whether the weight of the element of this number among those that may read a row or column is kept.
#[cube]
pub fn is_kept(number: u32) -> bool {
    number < comptime!(KEPT as u32)
}

#[cube]
pub fn kept_weight(weights: &Weights, looker: usize, number: u32) -> f32 {
    weights.kept[looker * KEPT + number as usize]
}
