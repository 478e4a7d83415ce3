//! Which boxes of a block are kept: one cube goes through them, by decreasing score.

use cubecl::prelude::*;

use super::layout::{BLOCK, SUPPRESSED, UNITS, UNUSUAL, WORDS};

const BITS: usize = 32;

/// How many units share the boxes of a word, for each word that these suppress boxes of.
const SHARES: usize = UNITS / WORDS;

/// What the units of the cube share.
#[derive(CubeType)]
struct Block {
    /// A bit for each box that is not kept.
    gone: Shared<[u32]>,
    /// For each box, which boxes of its own word it suppresses.
    own: Shared<[u32]>,
    /// For each unit, which boxes of its word are suppressed.
    found: Shared<[u32]>,
    /// The number of boxes that are kept before each word, and in all.
    starts: Shared<[u32]>,
    /// For each word, whether a box is [`UNUSUAL`].
    unusual: Shared<[u32]>,
}

/// Lists the kept boxes of the block that begins at box `first`, with their number behind them, and appends their
/// indices to the output.
#[cube(launch)]
pub fn keep_in_block<O: Int>(
    entries: &Tensor<u32>,
    overlaps: &Tensor<u32>,
    kept: &mut Tensor<u32>,
    output: &mut Tensor<O>,
    first: usize,
    #[define(O)] _dtype: cubecl::ir::ElemType,
) {
    let unit = UNIT_POS as usize;
    let count = entries.shape(0);
    let mut block = Block {
        gone: Shared::<[u32]>::new_slice(WORDS),
        own: Shared::<[u32]>::new_slice(BLOCK),
        found: Shared::<[u32]>::new_slice(UNITS),
        starts: Shared::<[u32]>::new_slice(WORDS + 1),
        unusual: Shared::<[u32]>::new_slice(WORDS),
    };
    load(entries, overlaps, first, &mut block);
    sync_cube();
    for word in 0..WORDS {
        resolve_word(overlaps, first, word, &mut block);
    }
    let mut unusual = 0u32;
    let mut start = 0u32;
    for word in 0..WORDS {
        unusual |= block.unusual[word];
        if word < unit {
            start += (!block.gone[word]).count_ones();
        }
    }
    if unit <= WORDS {
        block.starts[unit] = start;
    }
    let mut before = 0u32;
    if first > 0 {
        before = u32::cast_from(output[0]);
    }
    // All units have read the number that the last lines overwrite.
    sync_cube();
    let total = block.starts[WORDS];
    for round in 0..BLOCK / UNITS {
        let row = round * UNITS + unit;
        let (word, bit) = (row / BITS, (row % BITS) as u32);
        let stays = !block.gone[word];
        if (stays >> bit) & 1u32 == 1u32 && before as usize <= count {
            let place = block.starts[word] + (stays & ((1u32 << bit) - 1u32)).count_ones();
            kept[place as usize] = (first + row) as u32;
            output[(1u32 + before + place) as usize] = O::cast_from(entries[first + row] & !(SUPPRESSED | UNUSUAL));
        }
    }
    if unit == 0 {
        kept[BLOCK] = total;
        let mut all = before + total;
        if unusual != 0u32 || before as usize > count {
            all = count as u32 + 1u32;
        }
        output[0] = O::cast_from(all);
    }
}

/// What is known of a block before its boxes are compared with each other.
#[cube]
fn load(entries: &Tensor<u32>, overlaps: &Tensor<u32>, first: usize, block: &mut Block) {
    let unit = UNIT_POS as usize;
    let count = entries.shape(0);
    if unit < WORDS {
        let mut gone = 0u32;
        let mut unusual = 0u32;
        for bit in 0..BITS {
            let place = first + unit * BITS + bit;
            let mut entry = comptime!(SUPPRESSED).runtime();
            if place < count {
                entry = entries[place];
            }
            if entry & SUPPRESSED != 0u32 {
                gone |= 1u32 << bit as u32;
            }
            unusual |= entry & UNUSUAL;
        }
        block.gone[unit] = gone;
        block.unusual[unit] = unusual;
    }
    for round in 0..BLOCK / UNITS {
        let row = round * UNITS + unit;
        let mut own = 0u32;
        if first + row < count {
            own = overlaps[(first + row) * WORDS + row / BITS];
        }
        block.own[row] = own;
    }
}

/// Finds which boxes of a word are kept, and which boxes of later words these suppress.
#[cube]
fn resolve_word(overlaps: &Tensor<u32>, first: usize, word: usize, block: &mut Block) {
    let unit = UNIT_POS as usize;
    // Each unit does the same here, which takes no longer than one that tells the others.
    let mut gone = block.gone[word];
    #[unroll]
    for bit in 0..BITS {
        let suppresses = block.own[word * BITS + bit];
        if (gone >> bit as u32) & 1u32 == 0u32 {
            gone |= suppresses;
        }
    }
    let (of_unit, share) = (unit % WORDS, unit / WORDS);
    let mut found = 0u32;
    if of_unit > word {
        #[unroll]
        for of_share in 0..BITS / SHARES {
            let bit = share * (BITS / SHARES) + of_share;
            if (gone >> bit as u32) & 1u32 == 0u32 {
                found |= overlaps[(first + word * BITS + bit) * WORDS + of_unit];
            }
        }
    }
    block.found[unit] = found;
    sync_cube();
    if unit == word {
        block.gone[unit] = gone;
    }
    if unit > word && unit < WORDS {
        let mut gone = block.gone[unit];
        #[unroll]
        for share in 0..SHARES {
            gone |= block.found[share * WORDS + unit];
        }
        block.gone[unit] = gone;
    }
    sync_cube();
}
