//! Keys: an f64 holds a pixel of f32 and its position, so that the first of the largest pixels has the largest key.
//!
//! An f32 has 23 fraction bits and an f64 has 52. The other 29 bits hold the pixel's position. Of two equal pixels the
//! one at the lower position has the larger key, whether they are positive or negative.

/// The bits of an f64 that an f32 leaves 0.
const LEFT: u64 = (1 << 29) - 1;

/// Positions are below this.
const POSITIONS: usize = LEFT as usize;

/// Whether the pixels of a map have keys: positions fit into 29 bits, and the type leaves these bits.
pub fn has_keys<S>([rows, columns]: [usize; 2]) -> bool {
    size_of::<S>() < size_of::<f64>() && rows.saturating_mul(columns) <= POSITIONS
}

/// Larger than every f32, since an infinite f64 has no bits left.
const ABOVE: f64 = 2.0 * f32::MAX as f64;

/// The key of a pixel at a position. The key of NaN and -infinity has no position, and is below all others.
#[inline(always)]
pub fn key(pixel: f64, position: usize) -> f64 {
    numbered(pixel, position as u64 + 1)
}

/// A key without a position, above the keys of all pixels up to `start` and below all others.
#[inline(always)]
pub fn start_key(start: f64) -> f64 {
    numbered(start, 0)
}

#[inline(always)]
fn numbered(pixel: f64, number: u64) -> f64 {
    // 0 has no bits left either.
    let magnitude = pixel.abs().clamp(f64::MIN_POSITIVE, ABOVE).to_bits();
    let bits = match pixel < 0.0 {
        true => 1 << 63 | magnitude | number,
        false => magnitude | (LEFT ^ number),
    };
    if pixel > f64::NEG_INFINITY {
        f64::from_bits(bits)
    } else {
        f64::NEG_INFINITY
    }
}

/// The position of a key, or -1.
#[inline(always)]
pub fn position(key: f64) -> i32 {
    // All ones if the key is negative. A branch would compile to more instructions.
    let sign = key.to_bits().cast_signed() >> 63;
    ((key.to_bits() ^ !sign.cast_unsigned()) & LEFT) as i32 - 1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pixels() -> impl Strategy<Value = f32> {
        let special = [
            0.0,
            -0.0,
            f32::MIN_POSITIVE,
            -f32::MIN_POSITIVE,
            1e-45,
            -1e-45,
            f32::MAX,
            f32::MIN,
            f32::INFINITY,
            f32::NEG_INFINITY,
            f32::NAN,
        ];
        prop_oneof![
            any::<u32>().prop_map(f32::from_bits),
            (-3i8..3).prop_map(f32::from),
            proptest::sample::select(special.to_vec()),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100_000))]
        #[test]
        fn keys_are_in_the_order_of_pixels_and_then_of_positions(
            pixels in [pixels(), pixels()],
            positions in [0..POSITIONS, 0..POSITIONS],
        ) {
            prop_assume!(positions[0] != positions[1]);
            let keys = [0, 1].map(|which| key(pixels[which].into(), positions[which]));
            let counts = pixels.map(|pixel| pixel > f32::NEG_INFINITY);
            for which in 0..2 {
                let expected = if counts[which] { positions[which] as i32 } else { -1 };
                prop_assert_eq!(position(keys[which]), expected);
            }
            if counts == [true; 2] {
                let first_wins = pixels[0] > pixels[1] || pixels[0] == pixels[1] && positions[0] < positions[1];
                prop_assert_eq!(keys[0] > keys[1], first_wins);
            } else {
                prop_assert_eq!(keys[0] > keys[1], counts == [true, false]);
            }
        }
    }
}
