//! Sorting by score, by counting: the rank of a box is the number of boxes that come before it.

use cubecl::prelude::*;

use super::iou::is_usual;
use super::{SUPPRESSED, UNITS, UNUSUAL};

/// How many scores a unit compares in a round of its loop: Mesa's llvmpipe ends every loop after 65,535 rounds.
const TOGETHER: usize = 8;

/// A box with a side or a score below these is left out.
#[derive(CubeType, CubeLaunch, Debug, Clone, Copy)]
pub struct Least {
    /// A value of the boxes' dtype.
    pub side: f32,
    /// A value of the scores' dtype.
    pub score: f32,
}

impl Least {
    /// No number is below.
    pub const NOTHING: Self = Self {
        side: f32::NEG_INFINITY,
        score: f32::NEG_INFINITY,
    };
}

/// Writes the values, class and entry of each box to its rank. Of equal scores the lower index comes first.
#[cube(launch)]
pub fn rank_boxes<B: Float, S: Float, I: Int>(
    boxes: &Tensor<B>,
    scores: &Tensor<S>,
    classes: &Tensor<I>,
    values: &mut Tensor<f32>,
    sorted_classes: &mut Tensor<I>,
    entries: &mut Tensor<u32>,
    least: &Least,
    #[define(B, S, I)] _dtypes: [cubecl::ir::ElemType; 3],
) {
    let count = scores.shape(0);
    let unit = UNIT_POS as usize;
    let index = CUBE_POS * UNITS + unit;
    let own = key(scores, index, count);
    let mut keys = Shared::<[u32]>::new_slice(UNITS);
    let mut rank = 0u32;
    let mut first = 0usize.runtime();
    while first < count {
        // The keys before are read by now.
        sync_cube();
        keys[unit] = key(scores, first + unit, count);
        sync_cube();
        for group in 0..UNITS / TOGETHER {
            #[unroll]
            for of_group in 0..TOGETHER {
                let place = group * TOGETHER + of_group;
                let other = keys[place];
                if other > own || (other == own && first + place < index) {
                    rank += 1u32;
                }
            }
        }
        first += UNITS;
    }
    if index < count {
        let rank = rank as usize;
        let (x1, y1) = (f32::cast_from(boxes[4 * index]), f32::cast_from(boxes[4 * index + 1]));
        let (x2, y2) = (
            f32::cast_from(boxes[4 * index + 2]),
            f32::cast_from(boxes[4 * index + 3]),
        );
        values[rank] = x1;
        values[rank + count] = y1;
        values[rank + 2 * count] = x2;
        values[rank + 3 * count] = y2;
        values[rank + 4 * count] = (x2 - x1) * (y2 - y1);
        sorted_classes[rank] = classes[index];
        let mut entry = index as u32;
        // A side as the boxes' dtype has it: of halves, rounding twice gives what rounding once does.
        let width = f32::cast_from(B::cast_from(x2 - x1));
        let height = f32::cast_from(B::cast_from(y2 - y1));
        let is_small = width < least.side || height < least.side;
        if own == 0u32 || is_small || f32::cast_from(scores[index]) < least.score {
            entry |= SUPPRESSED;
        } else if !(is_usual(x1) && is_usual(y1) && is_usual(x2) && is_usual(y2)) {
            entry |= UNUSUAL;
        }
        entries[rank] = entry;
    }
}

/// An integer for each score, in the order of the scores; 0 for NaN and beyond the last score. Both zeros are equal.
#[cube]
fn key<S: Float>(scores: &Tensor<S>, index: usize, count: usize) -> u32 {
    let mut key = 0u32;
    if index < count {
        let bits = f32::cast_from(scores[index]).to_bits();
        let magnitude = bits & 0x7FFF_FFFFu32;
        if magnitude <= 0x7F80_0000u32 {
            if bits == magnitude || magnitude == 0u32 {
                key = magnitude | 0x8000_0000u32;
            } else {
                key = !bits;
            }
        }
    }
    key
}
