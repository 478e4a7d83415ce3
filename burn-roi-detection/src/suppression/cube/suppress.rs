//! The boxes of later blocks compared with the kept boxes of a block.

use cubecl::prelude::*;

use super::iou::{Midpoint, is_suppressed, read_box};
use super::layout::{BLOCK, SUPPRESSED, UNITS, values_of};

/// The length of shared arrays. Mesa's llvmpipe performs the loads of one round of a loop more than there are.
const SHARED: usize = UNITS + 1;

/// Marks the boxes from `first` on that a box of `kept` suppresses. Each unit has one.
#[cube(launch)]
pub fn suppress_later<I: Int>(
    values: &Tensor<f32>,
    classes: &Tensor<I>,
    entries: &mut Tensor<u32>,
    kept: &Tensor<u32>,
    first: usize,
    midpoint: &Midpoint,
    #[comptime] axes: usize,
    #[define(I)] _dtype: cubecl::ir::ElemType,
) {
    let count = classes.shape(0);
    let unit = UNIT_POS as usize;
    let place = first + CUBE_POS * UNITS + unit;
    // Units beyond the last box load the kept boxes for the others.
    let own = place.min(count - 1);
    let candidate = read_box(values, own, count, axes);
    let class = classes[own];
    let mut remains = entries[own] & SUPPRESSED == 0u32;
    let mut suppressed = false;
    let number = kept[BLOCK] as usize;
    let mut loaded = Shared::<[f32]>::new_slice(comptime!(values_of(axes) * SHARED));
    let mut loaded_classes = Shared::<[I]>::new_slice(SHARED);
    for round in 0..BLOCK / UNITS {
        let start = round * UNITS;
        // The boxes before are read by now.
        sync_cube();
        if start + unit < number {
            let other = kept[start + unit] as usize;
            #[unroll]
            for value in 0..comptime!(values_of(axes)) {
                loaded[value * SHARED + unit] = values[value * count + other];
            }
            loaded_classes[unit] = classes[other];
        }
        sync_cube();
        let mut other = 0usize.runtime();
        while remains && other < UNITS && start + other < number {
            if loaded_classes[other] == class {
                let kept = read_box(&loaded, other, SHARED, axes);
                if is_suppressed(&candidate, &kept, midpoint, axes) {
                    remains = false;
                    suppressed = true;
                }
            }
            other += 1;
        }
    }
    if suppressed && place < count {
        entries[place] |= SUPPRESSED;
    }
}
