//! The gradient of features of axis plans: each element adds its gradient at the pixels that it has read.

use cubecl::prelude::*;
use cubecl::std::FastDivmod;

use super::marks::{OF_WORD, marks_of_tile};
use super::maximum::{PLANES, add_at_pixel, add_at_sample};
use super::spans::{Spans, TOGETHER, look, own_weights, reaching, spans};
use super::sums::{Sums, sums, write_tile};
use super::tile::{SIDE, Tile, Tiles, columns_of_unit, tile};
use crate::backend::cube::plan::layout::PlanLayout;
use crate::backend::cube::unit::region::is_finite;
use crate::geometry::operator::ChannelMap;
use crate::geometry::real::single::between::Reach;

/// What is gathered. It is compiled in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Gathered {
    /// The gradient of an average.
    Average,
    /// That of a maximum of pixels, of which each element has the position.
    Pixels,
    /// That of a maximum of samples.
    Samples,
}

/// The planned regions, and what is compiled in.
#[derive(CubeType, CubeLaunch)]
pub struct GatherSizes {
    /// The row of the first region of the plan, and how many it has.
    pub first: usize,
    pub regions: usize,
    /// The width of the map, by which the positions of pixels are counted.
    width: FastDivmod<u32>,
    #[cube(comptime)]
    pub channel_map: ChannelMap,
    #[cube(comptime)]
    pub gathered: Gathered,
}

/// What the units of a cube gather from.
#[derive(CubeType)]
struct Gather<'a, F: Float> {
    gradient: &'a Tensor<F>,
    winners: &'a Tensor<u32>,
    plans: &'a Tensor<u32>,
    sizes: &'a GatherSizes,
    layout: &'a PlanLayout,
    tile: &'a Tile,
    /// The elements that read the channels of the tile.
    rows: Reach,
    columns: Reach,
}

/// Gathers from the planned regions. After the first part of the regions, it adds to what the parts before have given.
/// `winners` say where each maximum was read; they are not read for an average.
#[cube(launch, address_type = "dynamic")]
pub fn gather_axes<F: Float, O: Float>(
    gradient: &Tensor<F>,
    winners: &Tensor<u32>,
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
    let gather = gather(gradient, winners, plans, sizes, layout, &tile);
    let mut sums = sums(tiles.sharing, comptime!(sizes.gathered == Gathered::Average));
    let mut spans = spans();
    let mut marks = Shared::<[u32]>::new_slice(1usize);
    for word in 0..sizes.regions.div_ceil(OF_WORD) {
        let mut bits = marks_of_tile(marks_of_tiles, word, tiles, &tile, &mut marks);
        while bits != 0u32 {
            let number = word * OF_WORD + bits.trailing_zeros() as usize;
            bits &= bits - 1u32;
            add_region(&gather, number, &mut spans, &mut sums);
        }
    }
    write_tile(output, tiles, &tile, &mut sums, sizes.first > 0);
}

#[cube]
fn gather<'a, F: Float>(
    gradient: &'a Tensor<F>,
    winners: &'a Tensor<u32>,
    plans: &'a Tensor<u32>,
    sizes: &'a GatherSizes,
    layout: &'a PlanLayout,
    tile: &'a Tile,
) -> Gather<'a, F> {
    let channel_map = comptime!(sizes.channel_map);
    let columns = layout.x.elements;
    Gather::<'a, F> {
        gradient,
        winners,
        plans,
        sizes,
        layout,
        tile,
        rows: of_channels(tile.group as u32 / columns, layout.y.elements, channel_map),
        columns: of_channels(tile.group as u32 % columns, columns, channel_map),
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

/// Adds what a region gives the tile. `number` is its number in the plan.
#[cube]
fn add_region<F: Float>(gather: &Gather<'_, F>, number: usize, spans: &mut Spans, sums: &mut Sums) {
    let mut p = gather.rows.first;
    while p < gather.rows.end {
        let mut q = gather.columns.first;
        while q < gather.columns.end {
            // What was looked at before has been read by now.
            sync_cube();
            let ends = (gather.rows.end, gather.columns.end);
            let start = number * gather.layout.words;
            look(
                spans,
                gather.plans,
                start,
                gather.layout,
                &gather.tile.place,
                (p, q),
                ends,
            );
            sync_cube();
            add_elements(gather, gather.sizes.first + number, p, q, &*spans, sums);
            q += comptime!(TOGETHER as u32);
        }
        p += comptime!(TOGETHER as u32);
    }
}

/// Adds what was looked at together: elements of a region from row `p` and column `q` on.
#[cube]
fn add_elements<F: Float>(gather: &Gather<'_, F>, region: usize, p: u32, q: u32, spans: &Spans, sums: &mut Sums) {
    let together = comptime!(TOGETHER as u32);
    let rows = reaching(spans, 0u32, together.min(gather.rows.end - p));
    let columns = reaching(spans, together, together.min(gather.columns.end - q));
    let mut of_row = Array::<f32>::new(comptime!(columns_of_unit(gather.tile.sharing)));
    for row in rows.first..rows.end {
        let place = place_of_element(gather.gradient, gather.tile, region, p + row, q);
        if comptime!(gather.sizes.gathered == Gathered::Average) {
            sum_along_x(gather, place, &columns, spans, &mut of_row, true);
            // A gradient that is not finite makes every sum so, since 0 times infinity is NaN. On a device where it is
            // 0, the sums are right as they are.
            if !is_finite(of_row[0]) {
                sum_along_x(gather, place, &columns, spans, &mut of_row, false);
            }
            add_row(gather.tile, row, &of_row, spans, sums);
        } else {
            let winner = place_of_element(gather.winners, gather.tile, region, p + row, q);
            for column in columns.first..columns.end {
                let column = column as usize;
                let place = place + column * gather.gradient.stride(3);
                add_maximum(gather, place, winner + column * gather.winners.stride(3), sums);
            }
        }
    }
}

/// Where an element of a region lies in the unit's channel.
#[cube]
fn place_of_element<N: Numeric>(tensor: &Tensor<N>, tile: &Tile, region: usize, p: u32, q: u32) -> usize {
    region * tensor.stride(0)
        + tile.channel * tensor.stride(1)
        + p as usize * tensor.stride(2)
        + q as usize * tensor.stride(3)
}

/// Adds the gradient of a maximum where it was read.
#[cube]
fn add_maximum<F: Float>(gather: &Gather<'_, F>, place: usize, winner: usize, sums: &mut Sums) {
    let winners = gather.winners;
    if comptime!(gather.sizes.gathered == Gathered::Pixels) {
        let position = winners[winner];
        add_at_pixel(gather.gradient, place, position, &gather.sizes.width, gather.tile, sums);
    } else {
        let plane = winners.shape(0) / comptime!(PLANES) * winners.stride(0);
        add_at_sample(gather.gradient, place, winners, winner, plane, gather.tile, sums);
    }
}

/// Sums a row of elements into what each of the unit's columns gets of it. `place` is where the first element lies that
/// was looked at. Unless all are finite, a pixel that an element does not read gets nothing of it.
#[cube]
fn sum_along_x<F: Float>(
    gather: &Gather<'_, F>,
    place: usize,
    columns: &Reach,
    spans: &Spans,
    of_row: &mut Array<f32>,
    #[comptime] all_finite: bool,
) {
    let sharing = comptime!(gather.tile.sharing);
    let width = comptime!(columns_of_unit(sharing));
    let mut weights = Array::<f32>::new(width);
    #[unroll]
    for pixel in 0..width {
        of_row[pixel] = 0.0;
        weights[pixel] = 0.0;
    }
    for column in columns.first..columns.end {
        let gradient = f32::cast_from(gather.gradient[place + column as usize * gather.gradient.stride(3)]);
        let unit = comptime!(TOGETHER as u32) + column;
        own_weights(spans, unit, gather.tile.share, &mut weights, sharing);
        #[unroll]
        for pixel in 0..width {
            let weight = weights[pixel];
            if comptime!(all_finite) {
                of_row[pixel] += weight * gradient;
            } else {
                of_row[pixel] += select(weight > 0.0, weight * gradient, 0.0);
            }
        }
    }
}

/// Adds what the unit's columns get of a row of elements to the rows of pixels that it reads.
#[cube]
fn add_row(tile: &Tile, row: u32, of_row: &Array<f32>, spans: &Spans, sums: &mut Sums) {
    let width = comptime!(columns_of_unit(tile.sharing));
    let mut weights = Array::<f32>::new(SIDE);
    // Units that share a channel share its rows.
    own_weights(spans, row, 0u32, &mut weights, 1usize);
    #[unroll]
    for pixel in 0..SIDE {
        let weight = weights[pixel];
        // The weight is the same for all units of the cube.
        if weight > 0.0 {
            #[unroll]
            for column in 0..width {
                sums.own[comptime!(pixel * width + column)] += weight * of_row[column];
            }
        }
    }
}
