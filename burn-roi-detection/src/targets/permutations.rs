//! [`random_permutations`]: the order in which a sampler takes its candidates.

use crate::random::SplitMix64;

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
