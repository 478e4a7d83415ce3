//! The orders that samples are drawn in.

use burn::tensor::{Int, Tensor};
use burn_roi_detection::{BalancedPositiveNegativeSampler, random_permutations};

use super::read_ints;
use crate::backends::backends;

#[test]
fn random_permutations_have_each_index_once() {
    let mut permutation = random_permutations(3);
    for count in [0, 1, 2, 3, 10, 1000] {
        let mut order = permutation(count);
        order.sort_unstable();
        assert_eq!(order, (0..count).collect::<Vec<_>>());
    }
}

#[test]
fn a_seed_decides_the_permutations() {
    let orders = |seed| {
        let mut permutation = random_permutations(seed);
        [permutation(20), permutation(20)]
    };
    assert_eq!(orders(1), orders(1));
    assert_ne!(orders(1), orders(2));
    assert_ne!(orders(1)[0], orders(1)[1]);
    // The same on every platform and in every version.
    assert_eq!(random_permutations(0)(8), [1, 2, 6, 5, 4, 0, 3, 7]);
}

#[test]
fn each_order_is_as_frequent_as_any_other() {
    let mut permutation = random_permutations(11);
    let mut counts = std::collections::BTreeMap::new();
    for _ in 0..24_000 {
        *counts.entry(permutation(4)).or_insert(0) += 1;
    }
    // 24 orders, each 1000 times; the standard deviation is 31.
    assert_eq!(counts.len(), 24);
    assert!(counts.values().all(|&count| (850..1150).contains(&count)), "{counts:?}");
}

#[test]
fn samples_are_the_first_of_the_order() {
    for backend in backends() {
        let labels = vec![
            Tensor::<1, Int>::from_ints([1, 0, 3, -1, 0, 2, 0], &backend.device),
            Tensor::<1, Int>::from_ints([0, 0, -1], &backend.device),
        ];
        let mut calls = Vec::new();
        let mut backwards = |count: usize| {
            calls.push(count);
            (0..count).rev().collect()
        };
        let sampler = BalancedPositiveNegativeSampler::new(4, 0.5);
        let (positive, negative) = sampler.forward(&labels, &mut backwards);
        assert_eq!(read_ints(&positive[0]), [2, 5]);
        assert_eq!(read_ints(&negative[0]), [4, 6]);
        assert_eq!(read_ints(&positive[1]), [0; 0]);
        assert_eq!(read_ints(&negative[1]), [0, 1]);
        // Positive before negative labels, image by image.
        assert_eq!(calls, [3, 3, 0, 2]);
    }
}
