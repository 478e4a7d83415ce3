//! The boxes of each block compared with each other.

use cubecl::prelude::*;

use super::iou::{Midpoint, is_suppressed, read_box};
use super::layout::{BLOCK, UNITS, WORDS, values_of};

/// How many boxes a word has a bit for.
const BITS: usize = 32;

/// Writes a word: for a box of each unit, which of 32 later boxes of its block it suppresses.
#[cube(launch)]
pub fn overlaps_in_blocks<I: Int>(
    values: &Tensor<f32>,
    classes: &Tensor<I>,
    overlaps: &mut Tensor<u32>,
    midpoint: &Midpoint,
    #[comptime] axes: usize,
    #[define(I)] _dtype: cubecl::ir::ElemType,
) {
    let count = classes.shape(0);
    let unit = UNIT_POS as usize;
    let first_row = CUBE_POS_X as usize * UNITS;
    let word = CUBE_POS_Y as usize;
    let first = first_row / BLOCK * BLOCK + word * BITS;
    if first + BITS <= first_row || first >= count {
        terminate!();
    }
    let mut later = Shared::<[f32]>::new_slice(comptime!(values_of(axes) * BITS));
    let mut later_classes = Shared::<[I]>::new_slice(BITS);
    if unit < BITS && first + unit < count {
        let column = first + unit;
        #[unroll]
        for value in 0..comptime!(values_of(axes)) {
            later[value * BITS + unit] = values[value * count + column];
        }
        later_classes[unit] = classes[column];
    }
    sync_cube();
    let row = first_row + unit;
    if row < count {
        let kept = read_box(values, row, count, axes);
        let class = classes[row];
        let mut bits = 0u32;
        for bit in 0..BITS {
            let column = first + bit;
            if column > row && column < count && later_classes[bit] == class {
                let candidate = read_box(&later, bit, BITS, axes);
                if is_suppressed(&candidate, &kept, midpoint, axes) {
                    bits |= 1u32 << bit as u32;
                }
            }
        }
        overlaps[row * WORDS + word] = bits;
    }
}
