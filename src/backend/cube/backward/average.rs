//! The gradient of features of an average: a unit gathers that of one pixel in up to 16 channels.

use cubecl::prelude::*;

use super::tile::{FLAGS, LIST, SIDE, Tile, UNITS, list_regions, places, tile, write_pixel};
use super::weights::{
    REGIONS, Weights, along, elements_at, is_kept, kept_weight, look, looker_x, looker_y, region_of_unit, weight,
    weights,
};
use super::{Compiled, TOGETHER};
use crate::backend::cube::unit::{BoxRow, CHANNELS, read_box};
use crate::geometry::operator::ChannelMap;
use crate::geometry::options::BoxFormat;
use crate::geometry::real::single::area::AreaRule;
use crate::geometry::real::single::rules::Rules;

#[cube(launch, address_type = "dynamic")]
#[allow(clippy::too_many_arguments)]
pub fn gather_average<F: Float, R: Float, I: Int>(
    gradient: &Tensor<F>,
    boxes: &Tensor<R>,
    batch_indices: &Tensor<I>,
    output: &mut Tensor<F>,
    rules: &Rules,
    areas: &AreaRule,
    blocks_of_cube: usize,
    cubes: usize,
    #[comptime] compiled: Compiled,
    #[define(F)] _dtype: cubecl::ir::ElemType,
    #[define(R)] _box_dtype: cubecl::ir::ElemType,
    #[define(I)] _index_dtype: cubecl::ir::ElemType,
) {
    if CUBE_POS >= cubes {
        terminate!();
    }
    let tile = tile(gradient, output, places(gradient, compiled.channel_map), blocks_of_cube);
    let end = (tile.channel + blocks_of_cube * CHANNELS).min(gradient.shape(1));
    let batch = output.shape(0);
    let mut flags = Shared::<[u32]>::new_slice(FLAGS);
    let mut list = Shared::<[u32]>::new_slice(LIST);
    let mut weights = weights();
    let mut sums = Sequence::<Array<f32>>::new();
    #[unroll]
    for _ in 0..TOGETHER {
        let mut of_block = Array::<f32>::new(CHANNELS);
        #[unroll]
        for lane in 0..CHANNELS {
            of_block[lane] = 0.0;
        }
        sums.push(of_block);
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
        for group in 0..count.div_ceil(comptime!(REGIONS as u32)) {
            let begin = group * comptime!(REGIONS as u32);
            let end_of_group = count.min(begin + comptime!(REGIONS as u32));
            // The weights of the regions before are read by now.
            sync_cube();
            let place = begin + region_of_unit();
            if place < end_of_group {
                let row = list[place as usize] as usize;
                let region = listed_box(boxes, batch_indices, row, &tile, compiled.box_format);
                look_at_region(gradient, &mut weights, rules, &region, &tile, compiled.channel_map);
            }
            sync_cube();
            if tile.on_map {
                for place in begin..end_of_group {
                    add_region(
                        gradient,
                        boxes,
                        batch_indices,
                        rules,
                        &weights,
                        place - begin,
                        list[place as usize] as usize,
                        &tile,
                        end,
                        &mut sums,
                        compiled,
                    );
                }
            }
        }
        first += UNITS;
    }
    #[unroll]
    for block in 0..TOGETHER {
        let first = tile.channel + block * CHANNELS;
        if first < end {
            write_pixel(
                output,
                gradient.shape(1),
                &tile,
                first,
                &sums[block],
                compiled.channel_map,
            );
        }
    }
}

/// The box of a region that was listed, so it names the tile's image.
#[cube]
fn listed_box<F: Float, I: Int>(
    boxes: &Tensor<F>,
    batch_indices: &Tensor<I>,
    row: usize,
    tile: &Tile,
    #[comptime] format: BoxFormat,
) -> BoxRow {
    read_box(boxes, batch_indices, row, tile.image + 1, format)
}

/// Looks at a region for the row or column of this unit.
#[cube]
fn look_at_region<F: Float>(
    gradient: &Tensor<F>,
    weights: &mut Weights,
    rules: &Rules,
    region: &BoxRow,
    tile: &Tile,
    #[comptime] channel_map: ChannelMap,
) {
    let (rows, columns) = (gradient.shape(2) as u32, gradient.shape(3) as u32);
    let unit = UNIT_POS as usize;
    let place = (unit % SIDE) as u32;
    if unit < UNITS / 2 {
        let along = along(region, tile, tile.first_y + place, rows, columns, true, channel_map);
        look(weights, rules, &along, true);
    } else {
        let along = along(region, tile, tile.first_x + place, rows, columns, false, channel_map);
        look(weights, rules, &along, false);
    }
}

/// Adds what a region gives the pixel of this unit. `number` is the region's among those looked at together.
#[cube]
#[allow(clippy::too_many_arguments)]
fn add_region<F: Float, R: Float, I: Int>(
    gradient: &Tensor<F>,
    boxes: &Tensor<R>,
    batch_indices: &Tensor<I>,
    rules: &Rules,
    weights: &Weights,
    number: u32,
    row: usize,
    tile: &Tile,
    end: usize,
    sums: &mut Sequence<Array<f32>>,
    #[comptime] compiled: Compiled,
) {
    let (looker_y, looker_x) = (looker_y(number), looker_x(number));
    let (reach_y, reach_x) = (elements_at(weights, looker_y), elements_at(weights, looker_x));
    for p in reach_y.first..reach_y.end {
        let weight_y = weight_of_element(
            gradient,
            boxes,
            batch_indices,
            rules,
            weights,
            looker_y,
            reach_y.first,
            row,
            p,
            tile,
            true,
            compiled,
        );
        if weight_y > 0.0 {
            for q in reach_x.first..reach_x.end {
                let weight_x = weight_of_element(
                    gradient,
                    boxes,
                    batch_indices,
                    rules,
                    weights,
                    looker_x,
                    reach_x.first,
                    row,
                    q,
                    tile,
                    false,
                    compiled,
                );
                if weight_x > 0.0 {
                    add_weighted(gradient, row, p, q, weight_y * weight_x, tile, end, sums);
                }
            }
        }
    }
}

/// The weight of this unit's row or column in an element of a region: that which `looker` has kept, or computed.
/// `first` is the first element that reads the row or column.
#[cube]
#[allow(clippy::too_many_arguments)]
fn weight_of_element<F: Float, R: Float, I: Int>(
    gradient: &Tensor<F>,
    boxes: &Tensor<R>,
    batch_indices: &Tensor<I>,
    rules: &Rules,
    weights: &Weights,
    looker: usize,
    first: u32,
    row: usize,
    element: u32,
    tile: &Tile,
    #[comptime] is_y: bool,
    #[comptime] compiled: Compiled,
) -> f32 {
    let number = element - first;
    let mut of_element = 0.0f32;
    if is_kept(number) {
        of_element = kept_weight(weights, looker, number);
    }
    if !is_kept(number) {
        let (rows, columns) = (gradient.shape(2) as u32, gradient.shape(3) as u32);
        let region = listed_box(boxes, batch_indices, row, tile, compiled.box_format);
        let pixel = if comptime!(is_y) { tile.y } else { tile.x };
        let along = along(&region, tile, pixel, rows, columns, is_y, compiled.channel_map);
        of_element = weight(rules, &along, element, is_y);
    }
    of_element
}

/// Adds the weighted gradient of an element in all channels of the cube, up to `end`.
#[cube]
#[allow(clippy::too_many_arguments)]
fn add_weighted<F: Float>(
    gradient: &Tensor<F>,
    row: usize,
    p: u32,
    q: u32,
    weight: f32,
    tile: &Tile,
    end: usize,
    sums: &mut Sequence<Array<f32>>,
) {
    #[unroll]
    for block in 0..TOGETHER {
        let first = tile.channel + block * CHANNELS;
        if first < end {
            add_element(gradient, row, p, q, first, weight, &mut sums[block]);
        }
    }
}

/// Adds the weighted gradient of an element in a block of channels.
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
