//! The sums of a tile's pixels, and how they are written.
//!
//! A unit owns a channel of its tile, or some columns of it where channels are few. No other unit adds to its sums. So
//! they need no atomics, and the same call returns the same bits.
//!
//! Averages add to whole rows of pixels, so their sums are in registers. Maxima and points add at single pixels, which
//! are computed. Registers have no computed index, so these sums are in shared memory.

use cubecl::prelude::*;

use super::tile::{SIDE, Tile, Tiles, UNITS, columns_of_unit};

/// The distance of the sums of two pixels. With one word more than units, units that read one channel of neighbouring
/// pixels read other banks of the memory.
pub const STEP: usize = UNITS + 1;

/// How many rows of pixels are in shared memory while they are written, where units keep their sums in registers.
const STAGED: usize = SIDE / 2;

/// The sums of a cube's pixels and channels.
#[derive(CubeType)]
pub struct Sums {
    /// Those of all pixels, or of [`STAGED`] rows.
    pub values: Shared<[f32]>,
    /// Where a unit keeps its sums in registers, those of its columns, row after row. Every index must be compiled in.
    pub own: Array<f32>,
    #[cube(comptime)]
    in_registers: bool,
}

/// Sums of 0, which are in shared memory unless `in_registers`.
#[cube]
pub fn sums(#[comptime] sharing: usize, #[comptime] in_registers: bool) -> Sums {
    let rows = comptime!(if in_registers { STAGED } else { SIDE + 1 });
    let length = comptime!(rows * (SIDE + 1) * STEP);
    let mut values = Shared::<[f32]>::new_slice(length);
    let count = comptime!(if in_registers {
        SIDE * columns_of_unit(sharing)
    } else {
        1
    });
    let mut own = Array::<f32>::new(count);
    if comptime!(in_registers) {
        #[unroll]
        for sum in 0..count {
            own[sum] = 0.0;
        }
    } else {
        let mut place = UNIT_POS as usize;
        while place < length {
            values[place] = 0.0;
            place += UNITS;
        }
        sync_cube();
    }
    Sums {
        values,
        own,
        in_registers,
    }
}

/// Where the sum of a pixel of the tile lies, in this unit's channel.
///
/// The bound changes nothing. But LLVM has to know that no index wraps before it reads several sums from one address.
#[cube]
pub fn sum_place(tile: &Tile, row: u32, column: u32) -> usize {
    let place = (row * comptime!(SIDE as u32 + 1) + column) * comptime!(STEP as u32) + tile.lane as u32;
    place.min(comptime!(((SIDE + 1) * (SIDE + 1) * STEP - 1) as u32)) as usize
}

/// Writes the sums of a tile, or adds them to what is there.
#[cube]
pub fn write_tile<F: Float>(output: &mut Tensor<F>, tiles: &Tiles, tile: &Tile, sums: &mut Sums, adds: bool) {
    if comptime!(sums.in_registers) {
        let width = comptime!(columns_of_unit(tile.sharing));
        let first = tile.share * comptime!(width as u32);
        #[unroll]
        for stage in 0..SIDE / STAGED {
            // The rows before have been written by now.
            sync_cube();
            #[unroll]
            for row in 0..STAGED {
                let place = sum_place(tile, row as u32, first);
                #[unroll]
                for column in 0..width {
                    sums.values[place + comptime!(column * STEP)] =
                        sums.own[comptime!((stage * STAGED + row) * width + column)];
                }
            }
            write_rows(
                output,
                tiles,
                tile,
                &sums.values,
                comptime!(stage * STAGED),
                STAGED,
                adds,
            );
        }
    } else {
        write_rows(output, tiles, tile, &sums.values, comptime!(0usize), SIDE, adds);
    }
}

/// Writes rows of a tile from `first_row` on, or adds them to what is there. Neighbouring units write neighbouring
/// pixels.
#[cube]
fn write_rows<F: Float>(
    output: &mut Tensor<F>,
    tiles: &Tiles,
    tile: &Tile,
    values: &Shared<[f32]>,
    #[comptime] first_row: usize,
    #[comptime] rows: usize,
    adds: bool,
) {
    let (height, width) = (output.shape(2), output.shape(3));
    let (row_step, column_step) = (output.stride(2), output.stride(3));
    let distance = tiles.channel_step * output.stride(1);
    let first = tile.place.image * output.stride(0)
        + tile.group * tiles.group_step * output.stride(1)
        + tile.first_channel * distance;
    sync_cube();
    let lanes = comptime!(UNITS / tile.sharing);
    let pixels = comptime!(rows * SIDE);
    let mut item = UNIT_POS as usize;
    while item < comptime!(pixels * lanes) {
        let (lane, pixel) = (item / pixels, item % pixels);
        let (row, column) = (pixel / SIDE, pixel % SIDE);
        let (y, x) = (tile.place.y as usize + first_row + row, tile.place.x as usize + column);
        if y < height && x < width && tile.first_channel + lane < tiles.channels {
            let place = first + lane * distance + y * row_step + x * column_step;
            let mut sum = values[(row * (SIDE + 1) + column) * STEP + lane];
            if adds {
                sum += f32::cast_from(output[place]);
            }
            output[place] = F::cast_from(sum);
        }
        item += UNITS;
    }
}
