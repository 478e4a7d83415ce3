//! Random numbers from a seed, the same on every platform.

/// The generator of Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
#[derive(Debug, Clone)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A generator for each list of numbers, such as the seed of a run and the index of a picture.
    #[cfg(feature = "train")]
    pub fn of(numbers: &[u64]) -> Self {
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

    /// A number from 0 to `limit` - 1. Some are more probable than others, by at most `limit` / 2⁶⁴.
    pub fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.next()) * limit as u128) >> 64) as usize
    }
}

/// Random orders of 0 to n - 1 for a given n, for the argument `permutation` of functions that sample.
///
/// The same seed returns the same orders on every platform. They differ from torch's generator. To repeat a run of
/// torchvision, pass a closure that returns what `torch.randperm` returned there.
///
/// ```
/// use burn_roi_detection::random_permutations;
///
/// let mut permutation = random_permutations(7);
/// let order = permutation(5);
/// assert_eq!(random_permutations(7)(5), order);
///
/// let mut sorted = order;
/// sorted.sort();
/// assert_eq!(sorted, [0, 1, 2, 3, 4]);
/// ```
pub fn random_permutations(seed: u64) -> impl FnMut(usize) -> Vec<usize> + Clone + Send {
    let mut random = SplitMix64::new(seed);
    move |count| {
        let mut order: Vec<usize> = (0..count).collect();
        // Fisher and Yates: each position from the last one down gets one of the elements that are left.
        for last in (1..count).rev() {
            order.swap(last, random.below(last + 1));
        }
        order
    }
}

#[cfg(all(test, feature = "train"))]
mod tests {
    use super::*;

    #[test]
    fn each_list_of_numbers_has_its_own_sequence() {
        let first = SplitMix64::of(&[1, 2]).next();
        assert_eq!(SplitMix64::of(&[1, 2]).next(), first);
        for other in [&[1, 3][..], &[2, 2], &[2, 1], &[1], &[1, 2, 0]] {
            assert_ne!(SplitMix64::of(other).next(), first, "of {other:?}");
        }
    }
}
