//! The weights of a tile's rows and columns in the elements of a few regions, in shared memory.
//!
//! What elements read along y and along x is apart. So each row and each column of a tile is looked at once for a
//! region, by one unit, and not by all units whose pixels lie there.

use cubecl::prelude::*;

use super::tile::{SIDE, Tile, UNITS};
use crate::backend::cube::unit::BoxRow;
use crate::geometry::operator::ChannelMap;
use crate::geometry::real::single::between::Reach;
use crate::geometry::real::single::bins::{self, BinRule};
use crate::geometry::real::single::integrals::{self, IntegralRule};
use crate::geometry::real::single::make::{Rules, RulesExpand};
use crate::geometry::real::single::reach::{
    elements_of_bins, elements_of_integrals, elements_of_samples, weight_of_bin, weight_of_integral, weight_of_samples,
};
use crate::geometry::real::single::samples::{SampleRule, axis};

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

/// For which of the regions looked at together this unit looks.
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

/// A region along y, and a row of the map. The output has so many rows and columns.
#[cube]
pub fn along_y(
    region: &BoxRow,
    tile: &Tile,
    pixel: u32,
    rows: u32,
    columns: u32,
    #[comptime] channel_map: ChannelMap,
) -> Along {
    Along {
        low: region.y1,
        high: region.y2,
        elements: rows,
        of_channels: of_channels(tile.place as u32 / columns, rows, channel_map),
        pixel,
        size: tile.height,
    }
}

/// A region along x, and a column of the map.
#[cube]
pub fn along_x(region: &BoxRow, tile: &Tile, pixel: u32, columns: u32, #[comptime] channel_map: ChannelMap) -> Along {
    Along {
        low: region.x1,
        high: region.x2,
        elements: columns,
        of_channels: of_channels(tile.place as u32 % columns, columns, channel_map),
        pixel,
        size: tile.width,
    }
}

/// All elements, or the one whose place a position-sensitive operator reads these channels for.
#[cube]
fn of_channels(place: u32, elements: u32, #[comptime] channel_map: ChannelMap) -> Reach {
    let mut first = 0u32;
    let mut end = elements;
    if comptime!(channel_map == ChannelMap::PositionSensitive) {
        first = place;
        end = place + 1u32;
    }
    Reach { first, end }
}

/// Looks at a region along an axis, for the row or column of this unit.
#[cube]
pub fn look(weights: &mut Weights, rules: &Rules, along: &Along, #[comptime] is_y: bool) {
    match rules {
        Rules::Samples(y, x) => {
            if comptime!(is_y) {
                look_at_samples(weights, y, along);
            } else {
                look_at_samples(weights, x, along);
            }
        }
        Rules::Bins(y, x) => {
            if comptime!(is_y) {
                look_at_bins(weights, y, along);
            } else {
                look_at_bins(weights, x, along);
            }
        }
        Rules::Integrals(y, x) => {
            if comptime!(is_y) {
                look_at_integrals(weights, y, along);
            } else {
                look_at_integrals(weights, x, along);
            }
        }
    }
}

#[cube]
fn look_at_samples(weights: &mut Weights, rule: &SampleRule, along: &Along) {
    let axis = axis(rule, along.low, along.high, along.elements);
    let reach = elements_of_samples(rule, &axis, along.elements, along.pixel, along.pixel);
    let reach = keep_reach(weights, &reach, &along.of_channels);
    for element in reach.first..reach.end {
        let weight = weight_of_samples(rule, &axis, element, along.pixel, along.size) / axis.samples as f32;
        keep(weights, element - reach.first, weight);
    }
}

#[cube]
fn look_at_bins(weights: &mut Weights, rule: &BinRule, along: &Along) {
    let extent = bins::extent(rule, along.low, along.high, along.elements);
    let reach = elements_of_bins(&extent, along.elements, along.pixel, along.pixel);
    let reach = keep_reach(weights, &reach, &along.of_channels);
    for element in reach.first..reach.end {
        let weight = weight_of_bin(rule, &extent, element, along.elements, along.pixel, along.size);
        keep(weights, element - reach.first, weight);
    }
}

#[cube]
fn look_at_integrals(weights: &mut Weights, rule: &IntegralRule, along: &Along) {
    let extent = integrals::extent(rule, along.low, along.high, along.elements);
    let reach = elements_of_integrals(&extent, along.elements, along.pixel, along.pixel);
    let reach = keep_reach(weights, &reach, &along.of_channels);
    for element in reach.first..reach.end {
        let weight = weight_of_integral(&extent, element, along.pixel, along.size);
        keep(weights, element - reach.first, weight);
    }
}

/// Writes down which elements may read the row or column of this unit, and returns those whose weights are kept.
#[cube]
fn keep_reach(weights: &mut Weights, reach: &Reach, of_channels: &Reach) -> Reach {
    let unit = UNIT_POS as usize;
    let first = reach.first.max(of_channels.first);
    let end = reach.end.min(of_channels.end);
    weights.first[unit] = first;
    weights.end[unit] = end;
    Reach {
        first,
        end: end.min(first + comptime!(KEPT as u32)),
    }
}

#[cube]
fn keep(weights: &mut Weights, number: u32, weight: f32) {
    weights.kept[UNIT_POS as usize * KEPT + number as usize] = weight;
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
    match rules {
        Rules::Samples(y, x) => {
            if comptime!(is_y) {
                weight_in_samples(y, along, element)
            } else {
                weight_in_samples(x, along, element)
            }
        }
        Rules::Bins(y, x) => {
            if comptime!(is_y) {
                weight_in_bin(y, along, element)
            } else {
                weight_in_bin(x, along, element)
            }
        }
        Rules::Integrals(y, x) => {
            if comptime!(is_y) {
                weight_in_integral(y, along, element)
            } else {
                weight_in_integral(x, along, element)
            }
        }
    }
}

#[cube]
fn weight_in_samples(rule: &SampleRule, along: &Along, element: u32) -> f32 {
    let axis = axis(rule, along.low, along.high, along.elements);
    weight_of_samples(rule, &axis, element, along.pixel, along.size) / axis.samples as f32
}

#[cube]
fn weight_in_bin(rule: &BinRule, along: &Along, element: u32) -> f32 {
    let extent = bins::extent(rule, along.low, along.high, along.elements);
    weight_of_bin(rule, &extent, element, along.elements, along.pixel, along.size)
}

#[cube]
fn weight_in_integral(rule: &IntegralRule, along: &Along, element: u32) -> f32 {
    let extent = integrals::extent(rule, along.low, along.high, along.elements);
    weight_of_integral(&extent, element, along.pixel, along.size)
}
