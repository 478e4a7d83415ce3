//! The pixels that the samples of an element read along an axis, two neighbours at a time.
//!
//! Samples that lie close together share pixels. Three adaptive samples read four pixels, which are two pairs. With
//! those of the other axis these are 16 pixels, where sample by sample reads 36.

use cubecl::prelude::*;

use crate::geometry::real::single::samples::{Axis, BILINEAR, SampleRule, position, taps};

/// A walk along the samples of an element, and the two pixels where it stands.
#[derive(CubeType)]
pub struct Pairs {
    /// The first sample that no pair has counted.
    sample: u32,
    /// The pixels that it reads, if they are known.
    is_known: bool,
    next_low: u32,
    next_high: u32,
    next_fraction: f32,
    /// Whether counted samples also read a pixel beyond the pair, which one, and its weight.
    reads_later: bool,
    later: u32,
    later_weight: f32,
    /// True for a trailing single pixel.
    is_left_over: bool,
    /// The weight that the previous pair has left for it.
    shared_weight: f32,
    /// The pair: its pixels and their weights.
    pub low: u32,
    pub high: u32,
    pub low_weight: f32,
    pub high_weight: f32,
}

/// A walk that starts before sample `first` of an element.
#[cube]
pub fn pairs(first: u32) -> Pairs {
    Pairs {
        sample: first,
        is_known: false,
        next_low: 0u32,
        next_high: 0u32,
        next_fraction: 0.0,
        reads_later: false,
        later: 0u32,
        later_weight: 0.0,
        is_left_over: false,
        shared_weight: 0.0,
        low: 0u32,
        high: 0u32,
        low_weight: 0.0,
        high_weight: 0.0,
    }
}

/// Whether pixels are left before sample `end`.
#[cube]
pub fn are_left(pairs: &Pairs, end: u32) -> bool {
    pairs.sample < end || pairs.reads_later
}

/// Goes on to the next pair. Samples are joined where they are summed: a maximum takes them one by one.
#[cube]
pub fn advance(
    pairs: &mut Pairs,
    rule: &SampleRule,
    axis: &Axis,
    element: u32,
    size: u32,
    end: u32,
    #[comptime] joined: bool,
) {
    let mut is_placed = pairs.reads_later;
    pairs.low = pairs.later;
    pairs.high = pairs.later;
    pairs.low_weight = pairs.later_weight;
    pairs.high_weight = 0.0;
    pairs.reads_later = false;
    pairs.later_weight = 0.0;

    // A bilinear sample belongs to the pair if it begins at the first pixel or at the second. A nearest sample reads
    // one pixel, which must be the first.
    let mut reach = 1u32;
    if rule.interpolation == BILINEAR {
        reach = 2u32;
    }
    let mut is_counted = false;
    let mut goes_on = pairs.sample < end;
    while goes_on {
        if !pairs.is_known {
            let next = taps(rule, position(rule, axis, element, pairs.sample), size);
            pairs.next_low = next.low;
            pairs.next_high = next.high;
            pairs.next_fraction = next.fraction;
            pairs.is_known = true;
        }
        if !is_placed {
            pairs.low = pairs.next_low;
            is_placed = true;
        }
        // The pixels of an inverted region run backwards. One before `low` is far beyond it in a u32.
        goes_on = pairs.next_low - pairs.low < reach;
        if goes_on {
            count(pairs);
            is_counted = true;
            goes_on = comptime!(joined) && pairs.sample < end;
        }
    }
    pairs.is_left_over = !is_counted;
}

/// Makes a pair of a pixel that is left over: the pixel before it, which the pair before reads too, and itself. So both
/// are read from one address, as neighbours are.
///
/// The pixel that both pairs read has half of its weight in each. A weight of 0 would make an infinite pixel NaN.
#[cube]
pub fn share_a_pixel(pairs: &mut Pairs, end: u32) {
    if pairs.is_left_over {
        pairs.low -= 1u32;
        pairs.high_weight = pairs.low_weight;
        pairs.low_weight = pairs.shared_weight;
    } else if pairs.reads_later && (pairs.sample == end || pairs.next_low - pairs.later >= 2u32) {
        pairs.high_weight *= 0.5;
        pairs.shared_weight = pairs.high_weight;
    }
}

#[cube]
fn count(pairs: &mut Pairs) {
    let rest = 1.0 - pairs.next_fraction;
    if pairs.next_low == pairs.low {
        pairs.low_weight += rest;
        pairs.high = pairs.next_high;
        pairs.high_weight += pairs.next_fraction;
    } else {
        pairs.high = pairs.next_low;
        pairs.high_weight += rest;
        if pairs.next_high == pairs.next_low {
            pairs.high_weight += pairs.next_fraction;
        } else {
            pairs.reads_later = true;
            pairs.later = pairs.next_high;
            pairs.later_weight += pairs.next_fraction;
        }
    }
    pairs.sample += 1u32;
    pairs.is_known = false;
}
