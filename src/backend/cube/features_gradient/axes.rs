//! The gradient of features of axis plans: each element adds its gradient at the pixels that it has read.

use cubecl::prelude::*;

use super::marks::{OF_WORD, marks, marks_of_tile};
use super::maximum::{PLANES, add_winner};
use super::spans::{Spans, TOGETHER, look, reaching, spans, taps_of, word_of};
use super::tile::{BEYOND, Sums, Tile, Tiles, own_column, sum_place, sums, tile, write_tile};
use crate::backend::cube::plan::layout::{PlanLayout, weight_of_tap};
use crate::geometry::operator::ChannelMap;
use crate::geometry::real::single::between::Reach;

/// How many taps along x are added at a time, so that a unit waits once for their sums.
const AT_ONCE: usize = 4;

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
            if UNIT_POS < together {
                let elements = Reach {
                    first: p,
                    end: elements_y.end,
                };
                look(spans, gather.plans, start, &layout.y, &elements, gather.tile.place.y);
            } else {
                let elements = Reach {
                    first: q,
                    end: elements_x.end,
                };
                look(spans, gather.plans, start, &layout.x, &elements, gather.tile.place.x);
            }
            sync_cube();
            let rows = reaching(&*spans, 0u32, together.min(elements_y.end - p));
            let columns = reaching(&*spans, together, together.min(elements_x.end - q));
            for column in columns.first..columns.end {
                let of_column = place + (q + column - together) as usize * gather.gradient.stride(3);
                if comptime!(gather.gathered == Gathered::Average) {
                    add_column(gather, of_column, p, &rows, column, &*spans, sums);
                } else {
                    for row in rows.first..rows.end {
                        let of_element = of_column + (p + row) as usize * gather.gradient.stride(2);
                        let between_pixels = comptime!(gather.gathered == Gathered::WinnersBetweenPixels);
                        add_winner(
                            gather.gradient,
                            of_element,
                            gather.plane,
                            gather.tile,
                            sums,
                            between_pixels,
                        );
                    }
                }
            }
            q += together;
        }
        p += together;
    }
}

/// Adds the gradient of a column of elements. It begins at `place`, and row `first` is the first that was looked at.
#[cube]
fn add_column<F: Float>(
    gather: &Gather<'_, F>,
    place: usize,
    first: u32,
    rows: &Reach,
    column: u32,
    spans: &Spans,
    sums: &mut Sums,
) {
    let mut columns = Array::<u32>::new(AT_ONCE);
    let mut weights = Array::<f32>::new(AT_ONCE);
    let taps = taps_of(spans, column);
    let mut tap = 0u32;
    while tap < taps {
        #[unroll]
        for number in 0..AT_ONCE {
            let number_of_tap = (tap + comptime!(number as u32)).min(taps - 1u32);
            let word = word_of(spans, column) + 2usize * number_of_tap as usize;
            let weight = weight_of_tap(gather.plans, word);
            let is_read = tap + comptime!(number as u32) < taps && weight > 0.0;
            let pixel = own_column(gather.tile, gather.plans[word] - gather.tile.place.x);
            columns[number] = select(is_read, pixel, comptime!(BEYOND));
            weights[number] = weight;
        }
        for row in rows.first..rows.end {
            let gradient = gather.gradient[place + (first + row) as usize * gather.gradient.stride(2)];
            add_element(gather, f32::cast_from(gradient), row, &columns, &weights, spans, sums);
        }
        tap += comptime!(AT_ONCE as u32);
    }
}

/// Adds the gradient of an element at some columns of pixels.
#[cube]
fn add_element<F: Float>(
    gather: &Gather<'_, F>,
    gradient: f32,
    row: u32,
    columns: &Array<u32>,
    weights: &Array<f32>,
    spans: &Spans,
    sums: &mut Sums,
) {
    let mut of_columns = Array::<f32>::new(AT_ONCE);
    for tap in 0..taps_of(spans, row) {
        let word = word_of(spans, row) + 2usize * tap as usize;
        let weight = weight_of_tap(gather.plans, word);
        if weight > 0.0 {
            let of_row = weight * gradient;
            let pixel = gather.plans[word] - gather.tile.place.y;
            #[unroll]
            for number in 0..AT_ONCE {
                of_columns[number] = sums.values[sum_place(gather.tile, pixel, columns[number])];
            }
            #[unroll]
            for number in 0..AT_ONCE {
                let place = sum_place(gather.tile, pixel, columns[number]);
                sums.values[place] = of_columns[number] + weights[number] * of_row;
            }
        }
    }
}
