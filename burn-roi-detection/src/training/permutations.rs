//! [`random_permutations`]: the order in which a sampler takes its candidates.

/// Random orders of 0 to n - 1 for a given n: what the functions that sample take as `permutation`.
///
/// The same seed gives the same orders on every platform. They are not those of torch's generator. To repeat a run of
/// torchvision, give the function a closure that returns what `torch.randperm` returned there.
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
    let mut random = SplitMix64(seed);
    move |count| {
        let mut order: Vec<usize> = (0..count).collect();
        // Fisher and Yates: each position from the last one down gets one of the elements that are left.
        for last in (1..count).rev() {
            order.swap(last, random.below(last + 1));
        }
        order
    }
}

/// The generator of Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
#[derive(Clone)]
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to `limit` - 1. Some are more probable than others, by at most `limit` / 2⁶⁴.
    fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.next()) * limit as u128) >> 64) as usize
    }
}
