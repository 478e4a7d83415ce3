//! How the output is divided among units, and the output element of a unit.

use cubecl::prelude::*;
use cubecl::std::FastDivmod;

use super::channels::{BLOCKS, Layout};

/// Enough units to fill a large GPU twice. An H200 has 8,650,752 registers, and a unit takes 128 (by `ptxas` for
/// `sm_90a`), so it holds 67,584 units. Where there would be more, a unit computes up to [`BLOCKS`] channel blocks,
/// since finding its region's axes takes as long as half a block.
const ENOUGH_UNITS: usize = 1 << 17;

/// How the output is divided among units.
#[derive(CubeType, CubeLaunch)]
pub struct Units {
    /// Four sizes: K, the units that share the channels of a pass, P, and Q.
    sizes: Sequence<FastDivmod<usize>>,
    /// The second of these sizes.
    sharing: usize,
    /// How many blocks of channels a unit computes.
    blocks: usize,
    pub total: usize,
    #[cube(comptime)]
    layout: Layout,
}

/// How the elements of an output `[K, channels, P, Q]` are divided among units, and how many units there are.
pub fn units([regions, channels, rows, columns]: [usize; 4], layout: Layout) -> (UnitsLaunch, usize) {
    let elements = regions * rows * columns;
    let blocks = channels.div_ceil(layout.of_block);
    let of_a_unit = (elements * blocks / ENOUGH_UNITS).clamp(1, layout.blocks.min(blocks));
    let sharing = blocks.div_ceil(of_a_unit);
    let rounds = sharing.div_ceil(BLOCKS / of_a_unit);
    let sharing = sharing.div_ceil(rounds);
    let total = rounds * elements * sharing;
    let mut sizes = SequenceArg::new();
    for size in [regions, sharing, rows, columns] {
        sizes.push(size);
    }
    (UnitsLaunch::new(sizes, sharing, of_a_unit, total, layout), total)
}

/// The output element of a unit, and its channel blocks.
#[derive(CubeType)]
pub struct Element {
    pub region: usize,
    pub block: usize,
    pub row: usize,
    pub column: usize,
    /// How many blocks the unit computes.
    pub blocks: usize,
    #[cube(comptime)]
    pub layout: Layout,
}

/// The output element of this unit. From the fastest index to the slowest: column, row, unit among those that share the
/// channels of a pass, region, pass.
#[cube]
pub fn element(units: &Units) -> Element {
    let (rest, column) = units.sizes[3].div_mod(ABSOLUTE_POS);
    let (rest, row) = units.sizes[2].div_mod(rest);
    let (rest, share) = units.sizes[1].div_mod(rest);
    let (round, region) = units.sizes[0].div_mod(rest);
    Element {
        region,
        // Beyond the last block in the last round, where rounds are not full.
        block: (round * units.sharing + share) * units.blocks,
        row,
        column,
        blocks: units.blocks,
        layout: comptime!(units.layout),
    }
}

#[derive(CubeType)]
pub struct Sizes {
    pub channels: usize,
    pub rows: usize,
    pub columns: usize,
}

#[cube]
pub fn sizes<F: Float>(output: &mut Tensor<F>) -> Sizes {
    Sizes {
        channels: output.shape(1),
        rows: output.shape(2),
        columns: output.shape(3),
    }
}
