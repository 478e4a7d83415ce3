//! The weights of a tile's rows and columns in the elements of a few regions, in shared memory.
//!
//! What elements read along y and along x is apart. So each row and each column of a tile is looked at once for a
//! region, by one unit, and not by all units whose pixels lie there.

use cubecl::prelude::*;

use super::tile::{SIDE, Tile};
use crate::backend::cube::launch::UNITS;
use crate::backend::cube::unit::region::BoxRow;
use crate::geometry::operator::ChannelMap;
use crate::geometry::real::single::between::Reach;
use crate::geometry::real::single::bins::{self, BinExtent, BinRule};
use crate::geometry::real::single::integrals::{self, IntegralExtent};
use crate::geometry::real::single::reach::{
    elements_of_bins, elements_of_integrals, elements_of_samples, weight_of_bin, weight_of_integral, weight_of_samples,
};
use crate::geometry::real::single::rules::{Rules, RulesExpand};
use crate::geometry::real::single::samples::{Axis, SampleRule, axis};

/// How many regions are looked at together: a unit looks at a row or at a column for one of them.
pub const REGIONS: usize = UNITS / (2 * SIDE);

/// How many weights of a row or column are kept. Where elements are shorter than a fourth of a pixel, more of them may
/// read it. Their weights are computed where they are needed.
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

/// A region along one axis, and a row or column of the map.
#[derive(CubeType)]
pub struct Along {
    low: f32,
    high: f32,
    /// How many elements the region has, and which of them read the channels of the tile.
    elements: u32,
    of_channels: Reach,
    pixel: u32,
    size: u32,
}

/// A region along y and a row of the map, or a region along x and a column. The output has so many rows and columns.
#[cube]
pub fn along(
    region: &BoxRow,
    tile: &Tile,
    pixel: u32,
    rows: u32,
    columns: u32,
    #[comptime] is_y: bool,
    #[comptime] channel_map: ChannelMap,
) -> Along {
    if comptime!(is_y) {
        Along {
            low: region.y1,
            high: region.y2,
            elements: rows,
            of_channels: of_channels(tile.group as u32 / columns, rows, channel_map),
            pixel,
            size: tile.height,
        }
    } else {
        Along {
            low: region.x1,
            high: region.x2,
            elements: columns,
            of_channels: of_channels(tile.group as u32 % columns, columns, channel_map),
            pixel,
            size: tile.width,
        }
    }
}

/// All elements, or the one at `index`, which reads the channels of a position-sensitive operator.
#[cube]
fn of_channels(index: u32, elements: u32, #[comptime] channel_map: ChannelMap) -> Reach {
    let mut first = 0u32;
    let mut end = elements;
    if comptime!(channel_map == ChannelMap::PositionSensitive) {
        first = index;
        end = index + 1u32;
    }
    Reach { first, end }
}

/// How the elements of a region read, along one axis.
// What constructs it is written by the macro, for kernels only.
#[allow(dead_code)]
#[derive(CubeType)]
enum Reading {
    Samples(SampleRule, Axis),
    Bins(BinRule, BinExtent),
    Integrals(IntegralExtent),
}

#[cube]
// In a kernel these are not `Copy`.
#[allow(clippy::clone_on_copy)]
fn reading(rules: &Rules, along: &Along, #[comptime] is_y: bool) -> Reading {
    match rules {
        Rules::Samples(y, x) => {
            let rule = if comptime!(is_y) { y.clone() } else { x.clone() };
            let axis = axis(&rule, along.low, along.high, along.elements);
            Reading::new_Samples(rule, axis)
        }
        Rules::Bins(y, x) => {
            let rule = if comptime!(is_y) { y.clone() } else { x.clone() };
            let extent = bins::extent(&rule, along.low, along.high, along.elements);
            Reading::new_Bins(rule, extent)
        }
        Rules::Integrals(y, x) => {
            let rule = if comptime!(is_y) { y } else { x };
            Reading::new_Integrals(integrals::extent(rule, along.low, along.high, along.elements))
        }
    }
}

/// The elements that may read the row or column.
#[cube]
fn reach(reading: &Reading, along: &Along) -> Reach {
    let (elements, pixel) = (along.elements, along.pixel);
    match reading {
        Reading::Samples(rule, axis) => elements_of_samples(rule, axis, elements, pixel, pixel),
        Reading::Bins(_, extent) => elements_of_bins(extent, elements, pixel, pixel),
        Reading::Integrals(extent) => elements_of_integrals(extent, elements, pixel, pixel),
    }
}

/// The weight of the row or column in an element.
#[cube]
fn weight_in(reading: &Reading, along: &Along, element: u32) -> f32 {
    let (elements, pixel, size) = (along.elements, along.pixel, along.size);
    match reading {
        Reading::Samples(rule, axis) => weight_of_samples(rule, axis, element, pixel, size) / axis.samples as f32,
        Reading::Bins(rule, extent) => weight_of_bin(rule, extent, element, elements, pixel, size),
        Reading::Integrals(extent) => weight_of_integral(extent, element, pixel, size),
    }
}

/// Looks at a region along an axis, for the row or column of this unit: writes down which elements may read it, and
/// the weights of the first of them.
#[cube]
pub fn look(weights: &mut Weights, rules: &Rules, along: &Along, #[comptime] is_y: bool) {
    let unit = UNIT_POS as usize;
    let reading = reading(rules, along, is_y);
    let reach = reach(&reading, along);
    let first = reach.first.max(along.of_channels.first);
    let end = reach.end.min(along.of_channels.end);
    // The range of elements is an estimate, and most of those at its ends read nothing.
    let mut begin = end;
    let mut after = end;
    for element in first..end {
        let weight = weight_in(&reading, along, element);
        if weight > 0.0 {
            begin = begin.min(element);
            after = element + 1u32;
        }
        if begin <= element && element - begin < comptime!(KEPT as u32) {
            weights.kept[unit * KEPT + (element - begin) as usize] = weight;
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

/// The weight of a row or column in an element, computed.
#[cube]
pub fn weight(rules: &Rules, along: &Along, element: u32, #[comptime] is_y: bool) -> f32 {
    weight_in(&reading(rules, along, is_y), along, element)
}
