//! The gradient of features of axis plans: each element adds its gradient at the pixels that it has read.

use cubecl::prelude::*;

use super::marks::{OF_WORD, marks, marks_of_tile};
use super::maximum::{PLANES, add_winner};
use super::spans::{Spans, TOGETHER, look, pixels_of, reaching, spans, weight_place};
use super::tile::{STEP, Sums, Tile, Tiles, columns_of_unit, sum_place, sums, tile, write_tile};
use crate::backend::cube::plan::layout::PlanLayout;
use crate::backend::cube::unit::region::is_finite;
use crate::geometry::operator::ChannelMap;
use crate::geometry::real::single::between::Reach;

/// What is gathered. It is compiled in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Gathered {
    /// The gradient of an average.
    Average,
    /// The winners of a maximum, which lie on pixels.
    WinnersOnPixels,
    /// The winners of a maximum, which lie between pixels.
    WinnersBetweenPixels,
}

/// The planned regions, and what is compiled in.
#[derive(CubeType, CubeLaunch)]
pub struct GatherSizes {
    /// The row of the first region of the plan, and how many it has.
    pub first: usize,
    pub regions: usize,
    #[cube(comptime)]
    pub channel_map: ChannelMap,
    #[cube(comptime)]
    pub gathered: Gathered,
}

/// What the units of a cube gather from.
#[derive(CubeType)]
struct Gather<'a, F: Float> {
    gradient: &'a Tensor<F>,
    plans: &'a Tensor<u32>,
    layout: &'a PlanLayout,
    tile: &'a Tile,
    /// The distance from one plane of winners to the next.
    plane: usize,
    #[cube(comptime)]
    gathered: Gathered,
}

/// Gathers from the planned regions. After the first part of the regions, it adds to what the parts before have given.
#[cube(launch, address_type = "dynamic")]
pub fn gather_axes<F: Float, O: Float>(
    gradient: &Tensor<F>,
    plans: &Tensor<u32>,
    marks_of_tiles: &Tensor<u32>,
    output: &mut Tensor<O>,
    sizes: &GatherSizes,
    tiles: &Tiles,
    layout: &PlanLayout,
    #[define(F, O)] _dtypes: [cubecl::ir::ElemType; 2],
) {
    if CUBE_POS >= tiles.cubes {
        terminate!();
    }
    let tile = tile(tiles);
    let gather = gather(gradient, plans, layout, &tile, comptime!(sizes.gathered));
    let channel_map = comptime!(sizes.channel_map);
    let columns = layout.x.elements;
    let elements_y = of_channels(tile.group as u32 / columns, layout.y.elements, channel_map);
    let elements_x = of_channels(tile.group as u32 % columns, columns, channel_map);
    let mut sums = sums();
    let mut spans = spans();
    let mut marks = marks();
    for word in 0..sizes.regions.div_ceil(OF_WORD) {
        let mut bits = marks_of_tile(marks_of_tiles, word, tiles, &tile, &mut marks);
        while bits != 0u32 {
            let number = word * OF_WORD + bits.trailing_zeros() as usize;
            bits &= bits - 1u32;
            add_region(
                &gather,
                sizes.first,
                number,
                &elements_y,
                &elements_x,
                &mut spans,
                &mut sums,
            );
        }
    }
    write_tile(output, tiles, &tile, &sums, sizes.first > 0);
}

#[cube]
fn gather<'a, F: Float>(
    gradient: &'a Tensor<F>,
    plans: &'a Tensor<u32>,
    layout: &'a PlanLayout,
    tile: &'a Tile,
    #[comptime] gathered: Gathered,
) -> Gather<'a, F> {
    Gather::<'a, F> {
        gradient,
        plans,
        layout,
        tile,
        plane: gradient.shape(0) / comptime!(PLANES) * gradient.stride(0),
        gathered,
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

/// Adds what a region gives the tile. `number` is its number in the plan, whose first region is row `first`.
#[cube]
fn add_region<F: Float>(
    gather: &Gather<'_, F>,
    first: usize,
    number: usize,
    elements_y: &Reach,
    elements_x: &Reach,
    spans: &mut Spans,
    sums: &mut Sums,
) {
    let together = comptime!(TOGETHER as u32);
    let layout = gather.layout;
    let start = number * layout.words;
    let place = (first + number) * gather.gradient.stride(0) + gather.tile.channel * gather.gradient.stride(1);
    let mut p = elements_y.first;
    while p < elements_y.end {
        let mut q = elements_x.first;
        while q < elements_x.end {
            // What was looked at before has been read by now.
            sync_cube();
            let ends = (elements_y.end, elements_x.end);
            look(spans, gather.plans, start, layout, &gather.tile.place, (p, q), ends);
            sync_cube();
            add_elements(gather, place, p, q, elements_y.end, elements_x.end, &*spans, sums);
            q += together;
        }
        p += together;
    }
}

/// Adds what was looked at together: elements from row `p` and column `q` on.
#[cube]
fn add_elements<F: Float>(
    gather: &Gather<'_, F>,
    place: usize,
    p: u32,
    q: u32,
    end_p: u32,
    end_q: u32,
    spans: &Spans,
    sums: &mut Sums,
) {
    let together = comptime!(TOGETHER as u32);
    let width = comptime!(columns_of_unit(gather.tile.sharing));
    let (row_step, column_step) = (gather.gradient.stride(2), gather.gradient.stride(3));
    let rows = reaching(spans, 0u32, together.min(end_p - p));
    let columns = reaching(spans, together, together.min(end_q - q));
    let mut of_row = Array::<f32>::new(width);
    for row in rows.first..rows.end {
        let of_elements = place + (p + row) as usize * row_step + q as usize * column_step;
        if comptime!(gather.gathered == Gathered::Average) {
            sum_along_x(gather, of_elements, &columns, spans, &mut of_row);
            add_row(gather.tile, row, &of_row, spans, sums);
        } else {
            for column in columns.first..columns.end {
                let element = of_elements + column as usize * column_step;
                let between_pixels = comptime!(gather.gathered == Gathered::WinnersBetweenPixels);
                add_winner(
                    gather.gradient,
                    element,
                    gather.plane,
                    gather.tile,
                    sums,
                    between_pixels,
                );
            }
        }
    }
}

/// Sums a row of elements into what each of the unit's columns gets of it. `place` is where the first element lies that
/// was looked at.
#[cube]
fn sum_along_x<F: Float>(
    gather: &Gather<'_, F>,
    place: usize,
    columns: &Reach,
    spans: &Spans,
    of_row: &mut Array<f32>,
) {
    let sharing = comptime!(gather.tile.sharing);
    let width = comptime!(columns_of_unit(sharing));
    let first = gather.tile.share * comptime!(width as u32);
    #[unroll]
    for pixel in 0..width {
        of_row[pixel] = 0.0;
    }
    for column in columns.first..columns.end {
        let gradient = f32::cast_from(gather.gradient[place + column as usize * gather.gradient.stride(3)]);
        let weight = weight_place(comptime!(TOGETHER as u32) + column, first);
        if is_finite(gradient) {
            #[unroll]
            for pixel in 0..width {
                of_row[pixel] += spans.weights[weight + pixel] * gradient;
            }
        } else {
            // A pixel that is not read gets nothing, and not 0 times infinity.
            #[unroll]
            for pixel in 0..width {
                let weight = spans.weights[weight + pixel];
                of_row[pixel] += select(weight > 0.0, weight * gradient, 0.0);
            }
        }
    }
}

/// Adds what the unit's columns get of a row of elements to the rows of pixels that it reads.
#[cube]
fn add_row(tile: &Tile, row: u32, of_row: &Array<f32>, spans: &Spans, sums: &mut Sums) {
    let sharing = comptime!(tile.sharing);
    let width = comptime!(columns_of_unit(sharing));
    let first = tile.share * comptime!(width as u32);
    let pixels = pixels_of(spans, row);
    for pixel in pixels.first..pixels.end {
        let weight = spans.weights[weight_place(row, pixel)];
        if weight > 0.0 {
            let place = sum_place(tile, pixel, first);
            #[unroll]
            for column in 0..width {
                sums.values[place + comptime!(column * STEP)] += weight * of_row[column];
            }
        }
    }
}
