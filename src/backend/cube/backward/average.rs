//! The gradient of features of an average: a unit gathers that of one pixel in a few channels.

use cubecl::prelude::*;

use super::Compiled;
use super::tile::{Tile, UNITS, elements_reading, list_regions, places, tile, write_pixel};
use crate::backend::cube::unit::{BoxRow, CHANNELS, read_box};
use crate::geometry::operator::ChannelMap;
use crate::geometry::real::single::area::AreaRule;
use crate::geometry::real::single::bins::extent;
use crate::geometry::real::single::integrals;
use crate::geometry::real::single::make::{Rules, RulesExpand};
use crate::geometry::real::single::reach::{weight_of_bin, weight_of_integral, weight_of_samples};
use crate::geometry::real::single::samples::axis;

#[cube(launch, address_type = "dynamic")]
#[allow(clippy::too_many_arguments)]
pub fn gather_average<F: Float, I: Int>(
    gradient: &Tensor<F>,
    boxes: &Tensor<F>,
    batch_indices: &Tensor<I>,
    output: &mut Tensor<F>,
    rules: &Rules,
    areas: &AreaRule,
    cubes: usize,
    #[comptime] compiled: Compiled,
    #[define(F)] _dtype: cubecl::ir::ElemType,
    #[define(I)] _index_dtype: cubecl::ir::ElemType,
) {
    if CUBE_POS >= cubes {
        terminate!();
    }
    let tile = tile(gradient, output, places(gradient, compiled.channel_map));
    let batch = output.shape(0);
    let mut flags = Shared::<[u32]>::new_slice(UNITS);
    let mut list = Shared::<[u32]>::new_slice(UNITS + 1);
    let mut sums = Array::<f32>::new(CHANNELS);
    #[unroll]
    for lane in 0..CHANNELS {
        sums[lane] = 0.0;
    }
    let regions = gradient.shape(0);
    let mut first = 0usize.runtime();
    while first < regions {
        let count = list_regions(
            gradient,
            boxes,
            batch_indices,
            batch,
            rules,
            areas,
            &tile,
            first,
            &mut flags,
            &mut list,
            compiled.box_format,
            compiled.of_level,
        );
        if tile.on_map {
            for place in 0..count {
                let row = list[place as usize] as usize;
                let region = read_box(boxes, batch_indices, row, batch, compiled.box_format);
                add_region(gradient, rules, &region, row, &tile, &mut sums, compiled.channel_map);
            }
        }
        first += UNITS;
    }
    write_pixel(output, gradient.shape(1), &tile, &sums, compiled.channel_map);
}

/// Adds what a region gives the pixel of this unit.
#[cube]
fn add_region<F: Float>(
    gradient: &Tensor<F>,
    rules: &Rules,
    region: &BoxRow,
    row: usize,
    tile: &Tile,
    sums: &mut Array<f32>,
    #[comptime] channel_map: ChannelMap,
) {
    let (rows, columns) = (gradient.shape(2) as u32, gradient.shape(3) as u32);
    let elements = elements_reading(rules, region, tile.y, tile.y, tile.x, tile.x, rows, columns);
    let mut first_row = elements.rows.first;
    let mut end_row = elements.rows.end;
    let mut first_column = elements.columns.first;
    let mut end_column = elements.columns.end;
    if comptime!(channel_map == ChannelMap::PositionSensitive) {
        let place_row = tile.place as u32 / columns;
        let place_column = tile.place as u32 % columns;
        first_row = first_row.max(place_row);
        end_row = end_row.min(place_row + 1u32);
        first_column = first_column.max(place_column);
        end_column = end_column.min(place_column + 1u32);
    }
    for p in first_row..end_row {
        let weight_y = weight(rules, region, true, p, rows, tile.y, tile.height);
        if weight_y > 0.0 {
            for q in first_column..end_column {
                let weight_x = weight(rules, region, false, q, columns, tile.x, tile.width);
                if weight_x > 0.0 {
                    add_element(gradient, row, p, q, tile.channel, weight_y * weight_x, sums);
                }
            }
        }
    }
}

/// The weight of a pixel in an element, along y or along x.
#[cube]
#[allow(clippy::too_many_arguments)]
fn weight(
    rules: &Rules,
    region: &BoxRow,
    #[comptime] along_y: bool,
    element: u32,
    elements: u32,
    pixel: u32,
    size: u32,
) -> f32 {
    let mut low = region.x1;
    let mut high = region.x2;
    if comptime!(along_y) {
        low = region.y1;
        high = region.y2;
    }
    match rules {
        Rules::Samples(y, x) => {
            if comptime!(along_y) {
                let axis = axis(y, low, high, elements);
                weight_of_samples(y, &axis, element, pixel, size) / axis.samples as f32
            } else {
                let axis = axis(x, low, high, elements);
                weight_of_samples(x, &axis, element, pixel, size) / axis.samples as f32
            }
        }
        Rules::Bins(y, x) => {
            if comptime!(along_y) {
                weight_of_bin(y, &extent(y, low, high, elements), element, elements, pixel, size)
            } else {
                weight_of_bin(x, &extent(x, low, high, elements), element, elements, pixel, size)
            }
        }
        Rules::Integrals(y, x) => {
            if comptime!(along_y) {
                weight_of_integral(&integrals::extent(y, low, high, elements), element, pixel, size)
            } else {
                weight_of_integral(&integrals::extent(x, low, high, elements), element, pixel, size)
            }
        }
    }
}

/// Adds the weighted gradient of an element.
#[cube]
pub fn add_element<F: Float>(
    gradient: &Tensor<F>,
    row: usize,
    p: u32,
    q: u32,
    channel: usize,
    weight: f32,
    sums: &mut Array<f32>,
) {
    let step = gradient.stride(1);
    let last = gradient.shape(1) - 1;
    let place = row * gradient.stride(0) + p as usize * gradient.stride(2) + q as usize * gradient.stride(3);
    #[unroll]
    for lane in 0..CHANNELS {
        let of_channel = (channel + lane).min(last) * step;
        sums[lane] += weight * f32::cast_from(gradient[place + of_channel]);
    }
}
