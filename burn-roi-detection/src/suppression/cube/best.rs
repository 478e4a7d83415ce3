//! The largest values of groups, such as the anchors of each level of each image.
//!
//! [`select_best`] lists those of a group, in the order of their rows. [`sort_best`] sorts them by decreasing value.

use cubecl::prelude::*;

use super::layout::UNITS;
use super::rank::key;

/// A group is these integers: its first row, how many rows it has, how many of them are taken, and where the first of
/// these is written.
pub const GROUP: usize = 4;

/// The bits of a key that are found in a round, and how many values they can have besides 0.
const BITS: usize = 2;
const DIGITS: usize = (1 << BITS) - 1;

#[derive(CubeType)]
struct Group {
    first: usize,
    size: usize,
    taken: usize,
    place: usize,
}

#[cube]
fn group<I: Int>(groups: &Tensor<I>, index: usize) -> Group {
    Group {
        first: usize::cast_from(groups[index * GROUP]),
        size: usize::cast_from(groups[index * GROUP + 1]),
        taken: usize::cast_from(groups[index * GROUP + 2]),
        place: usize::cast_from(groups[index * GROUP + 3]),
    }
}

/// Lists the rows of a cube's group that are taken, and their keys. Of equal values the first rows are taken.
#[cube(launch)]
pub fn select_best<S: Float, I: Int>(
    values: &Tensor<S>,
    groups: &Tensor<I>,
    rows: &mut Tensor<u32>,
    keys: &mut Tensor<u32>,
    #[define(S, I)] _dtypes: [cubecl::ir::ElemType; 2],
) {
    let group = group(groups, CUBE_POS);
    let mut shared = Shared::<[u32]>::new_slice(UNITS * DIGITS);
    let least = least_taken(values, &group, &mut shared);
    // Neighbouring rows belong to one unit, so that what it lists follows what the units before it list.
    let unit = UNIT_POS as usize;
    let share = group.size.div_ceil(UNITS);
    let start = (unit * share).min(group.size);
    let end = (start + share).min(group.size);
    let mut above = 0u32;
    let mut equal = 0u32;
    for row in start..end {
        let key = key(values, group.first + row, values.shape(0));
        if key > least {
            above += 1u32;
        } else if key == least {
            equal += 1u32;
        }
    }
    sync_cube();
    shared[unit] = above;
    shared[UNITS + unit] = equal;
    sync_cube();
    let mut place = 0u32;
    let mut place_of_equal = 0u32;
    for other in 0..UNITS {
        if other < unit {
            place += shared[other];
            place_of_equal += shared[UNITS + other];
        }
        // Rows of the least value follow all others.
        place_of_equal += shared[other];
    }
    for row in start..end {
        let row = group.first + row;
        let key = key(values, row, values.shape(0));
        if key >= least {
            let mut own = place as usize;
            if key == least {
                own = place_of_equal as usize;
                place_of_equal += 1u32;
            } else {
                place += 1u32;
            }
            if own < group.taken {
                rows[group.place + own] = row as u32;
                keys[group.place + own] = key;
            }
        }
    }
}

/// The key of the last value that is taken. It is the largest number for which at least `taken` keys are as large or
/// larger. Its bits are found from the highest on.
#[cube]
fn least_taken<S: Float>(values: &Tensor<S>, group: &Group, shared: &mut Shared<[u32]>) -> u32 {
    let unit = UNIT_POS as usize;
    let mut least = 0u32;
    let mut shift = comptime!(32 - BITS as u32).runtime();
    for _ in 0..32 / BITS {
        let step = 1u32 << shift;
        let mut of_digits = Array::<u32>::new(DIGITS);
        #[unroll]
        for digit in 0..DIGITS {
            of_digits[digit] = 0u32;
        }
        let mut row = unit;
        while row < group.size {
            let key = key(values, group.first + row, values.shape(0));
            #[unroll]
            for digit in 0..DIGITS {
                if key >= least + comptime!(digit as u32 + 1) * step {
                    of_digits[digit] += 1u32;
                }
            }
            row += UNITS;
        }
        // What was shared before is read by now.
        sync_cube();
        #[unroll]
        for digit in 0..DIGITS {
            shared[digit * UNITS + unit] = of_digits[digit];
        }
        sync_cube();
        let mut half = comptime!(UNITS / 2).runtime();
        while half > 0 {
            if unit < half {
                #[unroll]
                for digit in 0..DIGITS {
                    let other = shared[digit * UNITS + unit + half];
                    shared[digit * UNITS + unit] += other;
                }
            }
            sync_cube();
            half /= 2;
        }
        let mut found = 0u32;
        #[unroll]
        for digit in 0..DIGITS {
            if shared[digit * UNITS] as usize >= group.taken {
                found = comptime!(digit as u32 + 1).runtime();
            }
        }
        least += found * step;
        if shift > 0u32 {
            shift -= comptime!(BITS as u32);
        }
    }
    least
}

/// Writes the listed rows of a group to their ranks. Of equal values the lower row comes first.
#[cube(launch)]
pub fn sort_best<I: Int>(
    groups: &Tensor<I>,
    rows: &Tensor<u32>,
    keys: &Tensor<u32>,
    sorted: &mut Tensor<I>,
    #[define(I)] _dtype: cubecl::ir::ElemType,
) {
    let group = group(groups, CUBE_POS_Y as usize);
    let own = CUBE_POS_X as usize * UNITS + UNIT_POS as usize;
    if own < group.taken {
        let key = keys[group.place + own];
        let mut rank = 0usize.runtime();
        for other in 0..group.taken {
            let other_key = keys[group.place + other];
            if other_key > key || (other_key == key && other < own) {
                rank += 1;
            }
        }
        sorted[group.place + rank] = I::cast_from(rows[group.place + own]);
    }
}
