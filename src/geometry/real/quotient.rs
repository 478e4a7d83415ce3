//! Division in f32 that rounds as IEEE 754 does, on devices that do not.

#[cfg(feature = "cube")]
use cubecl::prelude::*;

/// The larger of two divisors' halves that [`quotient`] can check: a 12-bit half of a quotient
/// times a divisor below this is exact in 24 bits.
const EXACT_DIVISOR: f32 = 4096.0;

/// `dividend / divisor`, rounded as IEEE 754 rounds it, for a whole divisor below 4096.
///
/// Vulkan and WebGPU allow a division to be wrong by 2.5 units in the last place, and 14 / 7 that
/// comes out as 2.0000002 has one sample more. So the quotient that the device gives is checked
/// against the remainder, which is exact since the quotient is split in halves of 12 bits, and
/// moved to the nearest. Where division is exact already, as on the host and with CUDA, nothing
/// moves, and the check is cheaper than the division. By a power of two nothing is divided: that is the
/// usual number of samples, and a division in the innermost loop.
#[cfg_attr(feature = "cube", cube)]
pub fn quotient(dividend: f32, divisor: f32) -> f32 {
    let bits = divisor.to_bits();
    if (bits & 0x007F_FFFFu32) == 0u32 {
        // The reciprocal of 2^n is 2^-n; an exponent of 2^0 is 127.
        dividend * f32::from_bits(0x7F00_0000u32 - bits)
    } else {
        nearest_quotient(dividend, divisor)
    }
}

/// The same, by a division.
#[cfg_attr(feature = "cube", cube)]
fn nearest_quotient(dividend: f32, divisor: f32) -> f32 {
    let mut result = dividend / divisor;
    if divisor < EXACT_DIVISOR && misses(dividend, divisor, result) {
        // Twice, since the first step may cross a power of two, where the spacing changes.
        let once = nearer_quotient(dividend, divisor, result);
        result = nearer_quotient(dividend, divisor, once);
    }
    result
}

/// Whether a quotient is not the nearest one.
#[cfg_attr(feature = "cube", cube)]
fn misses(dividend: f32, divisor: f32, approximate: f32) -> bool {
    let magnitude = approximate.abs();
    let mut result = false;
    // Below this the spacing of floats is subnormal, and above it the products overflow.
    if magnitude > 1e-30f32 && magnitude < 1e30f32 {
        let remainder = remainder(dividend, divisor, approximate);
        // It is never just a half: an odd divisor times an odd number of half units has more than 24 bits.
        let unit = spacing(approximate, remainder) * divisor;
        result = (remainder + remainder).abs() > unit;
    }
    result
}

/// The exact remainder, if the quotient is off by a few units in the last place.
///
/// Device compilers can't look through the clamp. Without it Mesa 22.3 replaces both products by one with the whole
/// quotient, which is rounded: 1024 / 47 came out one unit too large.
#[cfg_attr(feature = "cube", cube)]
fn remainder(dividend: f32, divisor: f32, quotient: f32) -> f32 {
    let high = f32::from_bits(quotient.to_bits() & 0xFFFF_F000u32);
    let low = quotient - high;
    (dividend - high * divisor).clamp(-f32::MAX, f32::MAX) - low * divisor
}

/// The distance of a quotient to the next number on the side of the remainder: at a power of two, it is
/// half as far towards zero.
#[cfg_attr(feature = "cube", cube)]
fn spacing(quotient: f32, remainder: f32) -> f32 {
    let mut neighbour = quotient.to_bits() - 1u32;
    // As `==` of two comparisons, CubeCL 0.11 does not compile this for Vulkan.
    let mut is_away_from_zero = remainder > 0.0f32;
    if quotient <= 0.0f32 {
        is_away_from_zero = remainder <= 0.0f32;
    }
    if is_away_from_zero {
        neighbour += 2u32;
    }
    (f32::from_bits(neighbour) - quotient).abs()
}

/// One step from an approximate quotient towards the nearest one.
#[cfg_attr(feature = "cube", cube)]
fn nearer_quotient(dividend: f32, divisor: f32, approximate: f32) -> f32 {
    let remainder = remainder(dividend, divisor, approximate);
    let spacing = spacing(approximate, remainder);
    approximate + (remainder / (spacing * divisor) + 0.5f32).floor() * spacing
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Dividends whose quotients lie anywhere, and around powers of two.
    fn dividends_and_divisors() -> impl Strategy<Value = (f32, f32)> {
        let anywhere = prop_oneof![-1e6f32..1e6, (-4000i32..4000).prop_map(|number| number as f32 / 4.0)];
        let divisors = 1u32..4096;
        prop_oneof![
            (anywhere, divisors.clone()).prop_map(|(dividend, divisor)| (dividend, divisor as f32)),
            (-20i32..20, -3i32..=3, any::<bool>(), divisors).prop_map(|(power, units, negative, divisor)| {
                let near = f32::from_bits(2.0f32.powi(power).to_bits().wrapping_add_signed(units));
                let sign = if negative { -1.0 } else { 1.0 };
                (sign * near * divisor as f32, divisor as f32)
            }),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10_000))]
        #[test]
        fn a_quotient_that_is_off_by_some_units_is_moved_to_the_nearest(
            (dividend, divisor) in dividends_and_divisors(),
            units in -3i32..=3,
        ) {
            let exact = dividend / divisor;
            prop_assume!(exact.abs() > 1e-29);
            let off = f32::from_bits(exact.to_bits().wrapping_add_signed(units));
            let once = nearer_quotient(dividend, divisor, off);
            prop_assert_eq!(nearer_quotient(dividend, divisor, once), exact);
            prop_assert_eq!(misses(dividend, divisor, off), off != exact);
            prop_assert_eq!(quotient(dividend, divisor), exact);
        }
    }
}
