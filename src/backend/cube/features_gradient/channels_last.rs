//! What is read of each element of the output, with its channels next to each other, where there are many: the
//! gradient, and the positions of maxima. Neighbouring units read neighbouring channels.

use cubecl::prelude::*;
use cubecl::std::FastDivmod;

/// How many units a cube has, and how many elements and channels it copies.
pub const UNITS: usize = 64;
pub const SIDE: usize = 32;

/// How many rows of [`SIDE`] units there are.
const ROWS: usize = UNITS / SIDE;

/// The sizes of a tensor `[K, C, P, Q]`.
#[derive(CubeType, CubeLaunch)]
pub struct OutputSizes {
    pub elements: usize,
    of_region: FastDivmod<usize>,
    columns: FastDivmod<usize>,
    channels: usize,
    /// How many blocks of [`SIDE`] channels there are.
    blocks: FastDivmod<usize>,
    pub cubes: usize,
}

/// The sizes of a tensor, and how many cubes copy it.
pub fn sizes([regions, channels, rows, columns]: [usize; 4]) -> (OutputSizesLaunch, usize) {
    let elements = regions * rows * columns;
    let blocks = channels.div_ceil(SIDE);
    let cubes = elements.div_ceil(SIDE) * blocks;
    (
        OutputSizesLaunch::new(elements, rows * columns, columns, channels, blocks, cubes),
        cubes,
    )
}

/// Copies `[K, C, P, Q]` to `[K, P, Q, C]`.
#[cube(launch, address_type = "dynamic")]
pub fn move_channels_last<N: Numeric>(
    input: &Tensor<N>,
    output: &mut Tensor<N>,
    sizes: &OutputSizes,
    #[define(N)] _dtype: cubecl::ir::ElemType,
) {
    if CUBE_POS >= sizes.cubes {
        terminate!();
    }
    let (rest, block) = sizes.blocks.div_mod(CUBE_POS);
    let (element, channel) = (rest * SIDE, block * SIDE);
    let mut kept = Shared::<[N]>::new_slice(comptime!(SIDE * (SIDE + 1)));
    // Where all elements and channels of a cube exist, its units need not compare each.
    let is_full = element + SIDE <= sizes.elements && channel + SIDE <= sizes.channels;
    if is_full {
        keep(input, sizes, element, channel, &mut kept, true);
    } else {
        keep(input, sizes, element, channel, &mut kept, false);
    }
    sync_cube();
    if is_full {
        write(output, sizes, element, channel, &kept, true);
    } else {
        write(output, sizes, element, channel, &kept, false);
    }
}

/// Keeps numbers from an element and a channel on. Neighbouring units read neighbouring elements.
#[cube]
fn keep<N: Numeric>(
    input: &Tensor<N>,
    sizes: &OutputSizes,
    first_element: usize,
    first_channel: usize,
    kept: &mut Shared<[N]>,
    #[comptime] is_full: bool,
) {
    let (row, column) = (UNIT_POS as usize / SIDE, UNIT_POS as usize % SIDE);
    let element = first_element + column;
    if comptime!(is_full) || element < sizes.elements {
        let (region, rest) = sizes.of_region.div_mod(element);
        let (p, q) = sizes.columns.div_mod(rest);
        let mut channel = first_channel + row;
        let mut place =
            region * input.stride(0) + p * input.stride(2) + q * input.stride(3) + channel * input.stride(1);
        #[unroll]
        for round in 0..comptime!(SIDE / ROWS) {
            if comptime!(is_full) || channel < sizes.channels {
                kept[kept_place(row, column) + comptime!(round * ROWS * (SIDE + 1))] = input[place];
            }
            channel += ROWS;
            place += ROWS * input.stride(1);
        }
    }
}

/// Writes what was kept. Neighbouring units write neighbouring channels.
#[cube]
fn write<N: Numeric>(
    output: &mut Tensor<N>,
    sizes: &OutputSizes,
    first_element: usize,
    first_channel: usize,
    kept: &Shared<[N]>,
    #[comptime] is_full: bool,
) {
    let (row, column) = (UNIT_POS as usize / SIDE, UNIT_POS as usize % SIDE);
    let channel = first_channel + column;
    if comptime!(is_full) || channel < sizes.channels {
        let mut element = first_element + row;
        let mut place = element * sizes.channels + channel;
        #[unroll]
        for round in 0..comptime!(SIDE / ROWS) {
            if comptime!(is_full) || element < sizes.elements {
                output[place] = kept[kept_place(column, row) + comptime!(round * ROWS)];
            }
            element += ROWS;
            place += ROWS * sizes.channels;
        }
    }
}

/// Where a channel of an element is kept. With one word more a channel, units that read the channels of an element read
/// other banks of the memory.
///
/// The bound changes nothing. But LLVM has to know that no index wraps before it writes several from one address.
#[cube]
fn kept_place(channel: usize, element: usize) -> usize {
    (channel * comptime!(SIDE + 1) + element).min(comptime!(SIDE * (SIDE + 1) - 1))
}
