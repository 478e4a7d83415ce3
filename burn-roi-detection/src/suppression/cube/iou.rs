//! Whether the intersection over union of two boxes is above a threshold, with the host's result in every case.
//!
//! Three things differ between a device and the host, and none of them matters here:
//!
//! - A device's division need not be correctly rounded: WGSL allows an error of 2.5 units in the last place. The
//!   quotient is compared without being computed, by a product of integers: see [`is_above`].
//! - A device's compiler may join a product and a sum, and round once instead of twice, or multiply in another order.
//!   Areas and volumes are computed by another kernel, and [`opaque`] hides each product.
//! - A device may flush subnormal floats to 0, and may assume that no float is infinite or NaN. With coordinates that
//!   [`is_usual`] accepts, none of them arises.

use cubecl::prelude::*;

use crate::boxes::ends;

/// A threshold in f32, from 0 to 1. It is represented by the midpoint of it and the next f32: a quotient is rounded to
/// an f32 above the threshold if it is above the midpoint.
///
/// The midpoint is `(4096 * high + low) / 2^fall`, whose numerator is at least 2^24 and below 2^25.
#[derive(CubeType, CubeLaunch, Debug, Clone, Copy)]
pub struct Midpoint {
    pub high: u32,
    pub low: u32,
    pub fall: u32,
    /// 0, which the compiler of a kernel does not know.
    pub zero: u32,
}

impl Midpoint {
    /// None for a threshold that is not from 0 to 1, or is subnormal.
    ///
    /// A quotient that is equal to the midpoint would be rounded to the even one of both. There is none: the midpoint
    /// of normal thresholds has 25 significant bits, and its product with a union has more than the 24 of an
    /// intersection. A quotient that is equal to the midpoint of 0 and the next f32 is
    /// rounded to 0, so it is not above.
    pub fn new(threshold: f32) -> Option<Self> {
        if !(threshold == 0.0 || threshold.is_normal() && (0.0..=1.0).contains(&threshold)) {
            return None;
        }
        let threshold = threshold.abs();
        let midpoint = (f64::from(threshold) + f64::from(threshold.next_up())) / 2.0;
        let exponent = (midpoint.to_bits() >> 52) as i32 - 1023;
        let significand = ((midpoint.to_bits() >> 28) as u32 & 0xFF_FFFF) | 1 << 24;
        Some(Self {
            high: significand >> 12,
            low: significand & 0xFFF,
            fall: (24 - exponent) as u32,
            zero: 0,
        })
    }
}

/// The exponents of the least and the largest magnitude of a [usual](is_usual) coordinate of a box of so many axes.
///
/// Coordinates above the largest could make the sum of two areas or volumes infinite.
///
/// Of two axes: a coordinate of at least 2^-28 is a multiple of 2^-51, and so is a difference of two. A product of two
/// differences is 0 or at least 2^-102, so it is a multiple of 2^-125, as is a sum of two products. The least normal
/// f32 is 2^-126.
///
/// Of three axes: a coordinate of at least 2^-100 is a multiple of 2^-123, and so is a difference of two. The product
/// of two differences may be subnormal. The third is at most 2^42, so the intersection is below 2^-84 then. The volumes
/// of both boxes are at least [`LEAST_VOLUME`], so such an intersection does not change their rounded sum, and the IoU
/// is below 2^-28, which is not above [`LEAST_THRESHOLD_3D`]. Any larger intersection is a multiple of 2^-107, as is
/// the union.
const fn exponents(axes: usize) -> [u32; 2] {
    match axes {
        2 => [127 - 28, 127 + 62],
        _ => [127 - 100, 127 + 41],
    }
}

/// The least volume of a box whose three sides are above 0. A box with another side suppresses none.
pub const LEAST_VOLUME: f32 = 1.0 / (1u64 << 56) as f32;

/// The least threshold for boxes of three axes.
pub const LEAST_THRESHOLD_3D: f32 = 1.0 / (1u64 << 26) as f32;

/// Whether this coordinate allows [`is_suppressed`] to have the host's result: all its operations are normal, or 0, or
/// make no difference. See [`exponents`].
#[cube]
pub fn is_usual(coordinate: f32, #[comptime] axes: usize) -> bool {
    let [least, largest] = comptime!(exponents(axes));
    let magnitude = coordinate.to_bits() & 0x7FFF_FFFFu32;
    let (is_large, is_small) = (
        magnitude >= comptime!(least << 23),
        magnitude <= comptime!(largest << 23),
    );
    magnitude == 0u32 || (is_large && is_small)
}

/// A box of two or three axes, and its area or volume.
#[derive(CubeType)]
pub struct BoxValues {
    pub corners: Sequence<f32>,
    pub measure: f32,
}

/// The values of a box, which are `step` elements apart.
#[cube]
pub fn read_box(values: &[f32], index: usize, step: usize, #[comptime] axes: usize) -> BoxValues {
    let mut corners = Sequence::<f32>::new();
    #[unroll]
    for column in 0..comptime!(2 * axes) {
        let corner = values[index + column * step];
        corners.push(corner);
    }
    BoxValues {
        corners,
        measure: values[index + comptime!(2 * axes) * step],
    }
}

/// The product of the lengths along all axes, each product rounded.
#[cube]
pub fn product(lengths: &Sequence<f32>, midpoint: &Midpoint) -> f32 {
    let area = opaque(lengths[0] * lengths[1], midpoint);
    if comptime!(lengths.len() == 3) {
        opaque(area * lengths[2], midpoint)
    } else {
        area
    }
}

/// Whether the IoU of two boxes is above the threshold. The order of operations is torchvision's.
#[cube]
pub fn is_suppressed(candidate: &BoxValues, kept: &BoxValues, midpoint: &Midpoint, #[comptime] axes: usize) -> bool {
    let mut lengths = Sequence::<f32>::new();
    let mut overlap = true;
    #[unroll]
    for axis in 0..axes {
        let [start, end] = comptime!(ends(axis));
        let length = kept.corners[end].min(candidate.corners[end]) - kept.corners[start].max(candidate.corners[start]);
        overlap = overlap && length > 0.0f32;
        lengths.push(length);
    }
    let mut suppressed = false;
    if overlap {
        let intersection = product(&lengths, midpoint);
        let union = opaque(kept.measure + candidate.measure, midpoint) - intersection;
        // Boxes whose corners are swapped can have a negative union.
        if union >= 0.0f32 {
            suppressed = is_above(intersection.to_bits(), union.to_bits(), midpoint);
        }
    }
    suppressed
}

/// The same value, which the compiler of a kernel can't join with the operation that it comes from.
#[cube]
fn opaque(value: f32, midpoint: &Midpoint) -> f32 {
    f32::from_bits(value.to_bits() ^ midpoint.zero)
}

/// Whether a quotient, rounded to f32, is above the threshold: whether the dividend is above the product of the divisor
/// and the midpoint. Both are given by their bits. The dividend is normal and positive, and the divisor too, or 0.
#[cube]
fn is_above(dividend: u32, divisor: u32, midpoint: &Midpoint) -> bool {
    let exponent = (dividend >> 23u32) + midpoint.fall;
    let of_product = (divisor >> 23u32) + 24u32;
    // The dividend's significand has 24 bits, the product of the others' 48 or 49.
    let mut above = exponent > of_product + 1u32;
    if exponent == of_product || exponent == of_product + 1u32 {
        let significand = ((dividend & 0x7F_FFFFu32) | 0x80_0000u32) << (exponent - of_product);
        let divisor = (divisor & 0x7F_FFFFu32) | 0x80_0000u32;
        let (high, low) = (divisor >> 12u32, divisor & 0xFFFu32);
        let middle = high * midpoint.low + low * midpoint.high;
        let carry = (((middle & 0xFFFu32) << 12u32) + low * midpoint.low) >> 24u32;
        // Without the lower 24 bits: those of the dividend are 0.
        let product = high * midpoint.high + (middle >> 12u32) + carry;
        above = significand > product;
    }
    above
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    /// Divisors and dividends whose quotients are next to the threshold, and any others.
    #[test]
    fn a_quotient_is_compared_as_if_it_were_rounded() {
        let mut random = SplitMix64::new(1);
        let mut random = move || (random.next() >> 32) as u32;
        let mut above = 0;
        for round in 0..2_000_000 {
            let threshold = match round % 8 {
                0 => 0.5,
                1 => 1.0 / 3.0,
                2 => 0.7,
                3 => 1.0,
                4 => 0.0,
                5 => f32::MIN_POSITIVE,
                _ => f32::from_bits(random() % 1.0f32.to_bits()).max(f32::MIN_POSITIVE),
            };
            // From 2^-102 to 2^127, as areas are.
            let area = |bits: u32| f32::from_bits((25 << 23) + bits % (229 << 23));
            let divisor = area(random());
            let dividend = match round % 3 {
                0 => area(random()),
                _ => {
                    let nearest = (f64::from(threshold) * f64::from(divisor)) as f32;
                    f32::from_bits(nearest.to_bits().wrapping_add(random() % 5).wrapping_sub(2))
                }
            };
            if !(dividend.is_normal() && dividend > 0.0) {
                continue;
            }
            let expected = dividend / divisor > threshold;
            let midpoint = Midpoint::new(threshold).unwrap();
            let found = is_above(dividend.to_bits(), divisor.to_bits(), &midpoint);
            assert_eq!(found, expected, "{dividend:e} / {divisor:e} > {threshold:e}");
            above += u32::from(expected);
        }
        assert!((500_000..1_500_000).contains(&above), "{above} are above");
        let one = Midpoint::new(1.0).unwrap();
        assert!(is_above(2.0f32.powi(-102).to_bits(), 0, &one), "infinite");
    }

    #[test]
    fn only_thresholds_from_0_to_1_have_a_midpoint() {
        for threshold in [-0.5, 1.5, 1e-40, f32::INFINITY, f32::NEG_INFINITY, f32::NAN] {
            assert!(Midpoint::new(threshold).is_none(), "{threshold}");
        }
        for threshold in [-0.0, 0.0, 0.5, 1.0] {
            assert!(Midpoint::new(threshold).is_some(), "{threshold}");
        }
    }
}
