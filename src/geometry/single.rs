//! The geometry in f32: for features of f32, f16 and bf16, on the host and inside kernels.

/// The type of coordinates, weights and sums.
pub type Real = f32;

#[path = "area.rs"]
pub mod area;
#[path = "axis.rs"]
pub mod axis;
#[path = "bins.rs"]
pub mod bins;
#[path = "planning.rs"]
mod planning;

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
/// moved to the nearest. Where division is exact already, as on the host, nothing moves.
#[cfg_attr(feature = "cube", cube)]
pub fn quotient(dividend: Real, divisor: Real) -> Real {
    let approximate = dividend / divisor;
    let mut result = approximate;
    if divisor < EXACT_DIVISOR {
        // Twice, since the first step may cross a power of two, where the spacing changes.
        result = nearer_quotient(
            dividend,
            divisor,
            nearer_quotient(dividend, divisor, approximate),
        );
    }
    result
}

/// One step from an approximate quotient towards the nearest one.
#[cfg_attr(feature = "cube", cube)]
fn nearer_quotient(dividend: Real, divisor: Real, approximate: Real) -> Real {
    let bits = approximate.to_bits();
    let high = f32::from_bits(bits & 0xFFFF_F000u32);
    let low = approximate - high;
    let remainder = (dividend - high * divisor) - low * divisor;
    let mut result = approximate;
    // Below this the spacing of floats is subnormal, and above it the products overflow.
    let magnitude = approximate.abs();
    if magnitude > 1e-30f32 && magnitude < 1e30f32 {
        let spacing = approximate - f32::from_bits(bits - 1u32);
        result = approximate + (remainder / (spacing * divisor) + 0.5f32).floor() * spacing;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_quotient_that_is_off_by_some_units_is_moved_to_the_nearest(
            dividend in prop_oneof![-1e6f32..1e6, (-4000i32..4000).prop_map(|n| n as f32 / 4.0)],
            divisor in 1u32..4096,
            units in -3i32..=3,
        ) {
            let divisor = divisor as f32;
            let exact = dividend / divisor;
            prop_assume!(exact.abs() > 1e-29);
            let off = f32::from_bits(exact.to_bits().wrapping_add_signed(units));
            let once = nearer_quotient(dividend, divisor, off);
            prop_assert_eq!(nearer_quotient(dividend, divisor, once), exact);
            prop_assert_eq!(quotient(dividend, divisor), exact);
        }
    }
}
