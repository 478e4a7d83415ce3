//! Sorting by score, by counting: the rank of a box is the number of boxes that come before it.

use cubecl::prelude::*;

use super::iou::{LEAST_VOLUME, Midpoint, is_usual, product};
use super::layout::{SUPPRESSED, UNITS, UNUSUAL};
use crate::boxes::ends;

/// How many scores a unit compares in a round of its loop: Mesa's llvmpipe ends all loops after 65,535 rounds together.
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
    midpoint: &Midpoint,
    #[comptime] axes: usize,
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
        let columns = comptime!(2 * axes);
        let mut sides = Sequence::<f32>::new();
        let mut is_small = false;
        let mut usual = true;
        let mut sides_are_positive = true;
        #[unroll]
        for axis in 0..axes {
            let [start, end] = comptime!(ends(axis));
            let first = f32::cast_from(boxes[columns * index + start]);
            let last = f32::cast_from(boxes[columns * index + end]);
            values[rank + start * count] = first;
            values[rank + end * count] = last;
            let side = last - first;
            // As the boxes' dtype has it: of halves, rounding twice gives what rounding once does.
            is_small = is_small || f32::cast_from(B::cast_from(side)) < least.side;
            usual = usual && is_usual(first, axes) && is_usual(last, axes);
            sides_are_positive = sides_are_positive && side > 0.0f32;
            sides.push(side);
        }
        let measure = product(&sides, midpoint);
        values[rank + columns * count] = measure;
        if comptime!(axes == 3) && sides_are_positive && measure < LEAST_VOLUME {
            usual = false;
        }
        sorted_classes[rank] = classes[index];
        let mut entry = index as u32;
        if own == 0u32 || is_small || f32::cast_from(scores[index]) < least.score {
            entry |= SUPPRESSED;
        } else if !usual {
            entry |= UNUSUAL;
        }
        entries[rank] = entry;
    }
}

/// An integer for each score, in the order of the scores; 0 for NaN and beyond the last score. Both zeros are equal.
#[cube]
pub fn key<S: Float>(scores: &Tensor<S>, index: usize, count: usize) -> u32 {
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
