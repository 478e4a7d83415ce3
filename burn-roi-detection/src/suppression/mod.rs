//! The best boxes of groups, and the greedy suppression of boxes: on the host, and also on the device where boxes are
//! axis-aligned.

mod axis_aligned;
mod best;
mod choice;
#[cfg(feature = "cube")]
mod cube;
#[cfg(feature = "cube")]
mod on_device;

use std::collections::BTreeMap;

use rayon::prelude::*;

pub(crate) use axis_aligned::greedy_nms;
pub(crate) use best::best_of_groups;
pub(crate) use choice::{Candidates, Choice};
#[cfg(feature = "cube")]
pub(crate) use on_device::kept_on_device;

/// The boxes of one class that NMS has kept, in the order in which they were kept.
pub(crate) trait KeptBoxes: Default + Sync {
    type Candidate;

    fn len(&self) -> usize;

    /// Whether one of the kept boxes suppresses `candidate`, skipping the first `first` boxes.
    fn suppress(&self, candidate: &Self::Candidate, first: usize) -> bool;

    fn push(&mut self, candidate: Self::Candidate);
}

/// The number of candidates that several threads compare at once.
const CHUNK: usize = 256;

/// With at least this many comparisons in a chunk, several threads share them. One thread makes this many in about 50
/// microseconds, the time that it takes to wake another.
const SHARED_COMPARISONS: usize = 1 << 17;

/// NMS within each class, of candidates by decreasing score. Gives the first `limit` candidates that no kept box of
/// their class suppresses.
///
/// Each candidate is compared with the kept boxes of its class only, so the memory is linear. If there are many kept
/// boxes, several threads compare the candidates of a chunk with the boxes that were kept before the chunk. One thread
/// then compares the remaining candidates, in order, with the boxes that the chunk itself has kept.
pub(crate) fn suppressed_greedily<K: KeptBoxes, C: Ord + Sync>(
    by_score: &[usize],
    candidate: impl Fn(usize) -> K::Candidate + Sync,
    class_of: impl Fn(usize) -> C + Sync,
    limit: usize,
) -> Vec<usize> {
    let mut kept = Vec::new();
    let mut kept_by_class = BTreeMap::<C, K>::new();
    for chunk in by_score.chunks(CHUNK) {
        let comparisons = chunk.len() * kept.len() / kept_by_class.len().max(1);
        let left = if comparisons < SHARED_COMPARISONS {
            chunk.iter().map(|&index| (index, 0)).collect()
        } else {
            not_yet_suppressed(chunk, &kept_by_class, &candidate, &class_of)
        };
        for (index, compared) in left {
            if kept.len() == limit {
                return kept;
            }
            let of_class = kept_by_class.entry(class_of(index)).or_default();
            let candidate = candidate(index);
            if !of_class.suppress(&candidate, compared) {
                of_class.push(candidate);
                kept.push(index);
            }
        }
    }
    kept
}

/// The candidates of `chunk` that no kept box suppresses, each with the number of boxes that it was compared with.
fn not_yet_suppressed<K: KeptBoxes, C: Ord + Sync>(
    chunk: &[usize],
    kept_by_class: &BTreeMap<C, K>,
    candidate: &(impl Fn(usize) -> K::Candidate + Sync),
    class_of: &(impl Fn(usize) -> C + Sync),
) -> Vec<(usize, usize)> {
    let compared = |&index: &usize| match kept_by_class.get(&class_of(index)) {
        Some(kept) => (!kept.suppress(&candidate(index), 0)).then(|| (index, kept.len())),
        None => Some((index, 0)),
    };
    chunk.par_iter().filter_map(compared).collect()
}
