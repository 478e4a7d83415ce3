//! The gradient of features of an average: a unit gathers that of one pixel in up to 16 channels.

use cubecl::prelude::*;

use super::Compiled;
use super::tile::{Elements, FLAGS, Tile, UNITS, list_regions, places, tile, write_pixel};
use crate::backend::cube::blocks::TOGETHER;
use crate::backend::cube::unit::{BoxRow, CHANNELS, read_box};
use crate::geometry::operator::ChannelMap;
use crate::geometry::real::single::area::AreaRule;
use crate::geometry::real::single::between::Reach;
use crate::geometry::real::single::bins::extent;
use crate::geometry::real::single::integrals;
use crate::geometry::real::single::make::{Rules, RulesExpand};
use crate::geometry::real::single::reach::{
    elements_of_bins, elements_of_integrals, elements_of_samples, weight_of_bin, weight_of_integral, weight_of_samples,
};
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
    blocks_of_cube: usize,
    cubes: usize,
    #[comptime] compiled: Compiled,
    #[define(F)] _dtype: cubecl::ir::ElemType,
    #[define(I)] _index_dtype: cubecl::ir::ElemType,
) {
    if CUBE_POS >= cubes {
        terminate!();
    }
    let tile = tile(gradient, output, places(gradient, compiled.channel_map), blocks_of_cube);
    let end = (tile.channel + blocks_of_cube * CHANNELS).min(gradient.shape(1));
    let batch = output.shape(0);
    let mut flags = Shared::<[u32]>::new_slice(FLAGS);
    let mut list = Shared::<[u32]>::new_slice(UNITS + 1);
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
        if tile.on_map {
            for place in 0..count {
                let row = list[place as usize] as usize;
                let region = read_box(boxes, batch_indices, row, batch, compiled.box_format);
                add_region(
                    gradient,
                    rules,
                    &region,
                    row,
                    &tile,
                    end,
                    &mut sums,
                    compiled.channel_map,
                );
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

/// Adds what a region gives the pixel of this unit.
#[cube]
#[allow(clippy::too_many_arguments)]
fn add_region<F: Float>(
    gradient: &Tensor<F>,
    rules: &Rules,
    region: &BoxRow,
    row: usize,
    tile: &Tile,
    end: usize,
    sums: &mut Sequence<Array<f32>>,
    #[comptime] channel_map: ChannelMap,
) {
    let (rows, columns) = (gradient.shape(2) as u32, gradient.shape(3) as u32);
    match rules {
        Rules::Samples(y, x) => {
            let axis_y = axis(y, region.y1, region.y2, rows);
            let axis_x = axis(x, region.x1, region.x2, columns);
            let reach_y = elements_of_samples(y, &axis_y, rows, tile.y, tile.y);
            let reach_x = elements_of_samples(x, &axis_x, columns, tile.x, tile.x);
            let elements = of_place(reach_y, reach_x, tile, columns, channel_map);
            for p in elements.rows.first..elements.rows.end {
                let weight_y = weight_of_samples(y, &axis_y, p, tile.y, tile.height) / axis_y.samples as f32;
                if weight_y > 0.0 {
                    for q in elements.columns.first..elements.columns.end {
                        let weight_x = weight_of_samples(x, &axis_x, q, tile.x, tile.width) / axis_x.samples as f32;
                        add_weighted(gradient, row, p, q, weight_y, weight_x, tile, end, sums);
                    }
                }
            }
        }
        Rules::Bins(y, x) => {
            let extent_y = extent(y, region.y1, region.y2, rows);
            let extent_x = extent(x, region.x1, region.x2, columns);
            let reach_y = elements_of_bins(&extent_y, rows, tile.y, tile.y);
            let reach_x = elements_of_bins(&extent_x, columns, tile.x, tile.x);
            let elements = of_place(reach_y, reach_x, tile, columns, channel_map);
            for p in elements.rows.first..elements.rows.end {
                let weight_y = weight_of_bin(y, &extent_y, p, rows, tile.y, tile.height);
                if weight_y > 0.0 {
                    for q in elements.columns.first..elements.columns.end {
                        let weight_x = weight_of_bin(x, &extent_x, q, columns, tile.x, tile.width);
                        add_weighted(gradient, row, p, q, weight_y, weight_x, tile, end, sums);
                    }
                }
            }
        }
        Rules::Integrals(y, x) => {
            let extent_y = integrals::extent(y, region.y1, region.y2, rows);
            let extent_x = integrals::extent(x, region.x1, region.x2, columns);
            let reach_y = elements_of_integrals(&extent_y, rows, tile.y, tile.y);
            let reach_x = elements_of_integrals(&extent_x, columns, tile.x, tile.x);
            let elements = of_place(reach_y, reach_x, tile, columns, channel_map);
            for p in elements.rows.first..elements.rows.end {
                let weight_y = weight_of_integral(&extent_y, p, tile.y, tile.height);
                if weight_y > 0.0 {
                    for q in elements.columns.first..elements.columns.end {
                        let weight_x = weight_of_integral(&extent_x, q, tile.x, tile.width);
                        add_weighted(gradient, row, p, q, weight_y, weight_x, tile, end, sums);
                    }
                }
            }
        }
    }
}

/// Those of some elements that read the tile's group of channels.
#[cube]
fn of_place(
    reach_y: Reach,
    reach_x: Reach,
    tile: &Tile,
    columns: u32,
    #[comptime] channel_map: ChannelMap,
) -> Elements {
    let mut rows = reach_y;
    let mut of_columns = reach_x;
    if comptime!(channel_map == ChannelMap::PositionSensitive) {
        let row = tile.place as u32 / columns;
        let column = tile.place as u32 % columns;
        rows.first = rows.first.max(row);
        rows.end = rows.end.min(row + 1u32);
        of_columns.first = of_columns.first.max(column);
        of_columns.end = of_columns.end.min(column + 1u32);
    }
    Elements {
        rows,
        columns: of_columns,
    }
}

/// Adds the weighted gradient of an element in all channels of the cube, up to `end`.
#[cube]
#[allow(clippy::too_many_arguments)]
fn add_weighted<F: Float>(
    gradient: &Tensor<F>,
    row: usize,
    p: u32,
    q: u32,
    weight_y: f32,
    weight_x: f32,
    tile: &Tile,
    end: usize,
    sums: &mut Sequence<Array<f32>>,
) {
    if weight_x > 0.0 {
        #[unroll]
        for block in 0..TOGETHER {
            let first = tile.channel + block * CHANNELS;
            if first < end {
                add_element(gradient, row, p, q, first, weight_y * weight_x, &mut sums[block]);
            }
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
