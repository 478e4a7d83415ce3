//! Random numbers from a seed, the same on every platform.

use std::f32::consts::TAU;

/// The generator of Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// A generator for each list of numbers, such as the seed of a run and the index of a picture.
    pub fn new(numbers: &[u64]) -> Self {
        let mut random = Self(0);
        for &number in numbers {
            random.0 = random.next() ^ number;
        }
        random
    }

    /// 64 random bits.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A whole number from `low` to `high`, both included.
    pub fn whole(&mut self, low: usize, high: usize) -> usize {
        let numbers = (high - low + 1) as u128;
        low + ((u128::from(self.next()) * numbers) >> 64) as usize
    }

    /// A number from `low` to `high`.
    pub fn uniform(&mut self, low: f32, high: f32) -> f32 {
        // An f32 has 24 bits.
        low + (high - low) * ((self.next() >> 40) as f32 / (1 << 24) as f32)
    }

    /// An angle in radians.
    pub fn angle(&mut self) -> f32 {
        self.uniform(0.0, TAU)
    }

    /// A number of the normal distribution with mean 0 and standard deviation 1, by Box and Muller.
    pub fn normal(&mut self) -> f32 {
        // The logarithm of 0 is infinite.
        let radius = (-2.0 * self.uniform(0.0, 1.0).max(1e-7).ln()).sqrt();
        radius * self.angle().cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_list_of_numbers_has_its_own_sequence() {
        let first = Random::new(&[1, 2]).next();
        assert_eq!(Random::new(&[1, 2]).next(), first);
        for other in [&[1, 3][..], &[2, 2], &[2, 1], &[1], &[1, 2, 0]] {
            assert_ne!(Random::new(other).next(), first, "of {other:?}");
        }
    }

    #[test]
    fn numbers_are_in_their_ranges() {
        let mut random = Random::new(&[0]);
        let wholes: Vec<usize> = (0..200).map(|_| random.whole(3, 5)).collect();
        assert!((3..=5).all(|number| wholes.contains(&number)));
        assert!(wholes.iter().all(|number| (3..=5).contains(number)));
        let normals: Vec<f32> = (0..4000).map(|_| random.normal()).collect();
        let mean = normals.iter().sum::<f32>() / 4000.0;
        let variance = normals.iter().map(|value| value * value).sum::<f32>() / 4000.0;
        assert!(mean.abs() < 0.1 && (variance - 1.0).abs() < 0.1, "{mean} {variance}");
    }
}
