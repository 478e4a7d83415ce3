//! Memory of outputs and gradients.

use std::ops::Range;

use burn::tensor::{Bytes, DType};

use super::kept_outputs::{self, Unit};
use crate::backend::flex::drive::run_tasks;

pub struct Memory {
    pub bytes: Bytes,
    /// Whether all of it is zero. Otherwise its contents are unspecified.
    pub is_zero: bool,
}

impl Memory {
    /// Memory for `count` elements: the memory of a dropped output, or [`zeros`].
    pub fn new(dtype: DType, count: usize, parallel: bool) -> Self {
        match dtype.size() {
            2 => Self::in_units::<u16>(count, parallel),
            4 => Self::in_units::<u32>(count, parallel),
            _ => Self::in_units::<u64>(count, parallel),
        }
    }

    fn in_units<U: Unit>(count: usize, parallel: bool) -> Self {
        if !kept_outputs::keeps::<U>(count) {
            let bytes = Bytes::from_elems(zeros::<U>(count, parallel));
            return Self { bytes, is_zero: true };
        }
        let kept = kept_outputs::take::<U>(count);
        let is_zero = kept.is_none();
        let block = kept.unwrap_or_else(|| zeros::<U>(count, parallel));
        let bytes = kept_outputs::bytes(block, count);
        Self { bytes, is_zero }
    }
}

/// Zeros whose pages have not been touched yet, huge pages if they are many and the system has them.
///
/// An output is written once, soon after: with pages of 4 KiB the system spends 18 ms on the 50 MB of
/// 1000 regions in 256 channels of 7 x 7, with huge ones 5 ms.
///
/// With `parallel`, threads touch the pages first, each its own. If two tasks touched a page at once, both would clear
/// it, and one copy would be thrown away.
fn zeros<U: bytemuck::Pod>(count: usize, parallel: bool) -> Vec<U> {
    let mut memory: Vec<U> = bytemuck::zeroed_vec(count);
    advise_huge_pages(&mut memory);
    if parallel {
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut memory);
        run_tasks(bytes.chunks_mut(HUGE_PAGE).collect(), true, |page| {
            page[page.len() / 2] = 0
        });
    }
    memory
}

const HUGE_PAGE: usize = 1 << 21;

#[cfg(all(target_os = "linux", not(miri)))]
#[allow(unsafe_code)]
fn advise_huge_pages<E>(memory: &mut [E]) {
    let range = memory.as_mut_ptr_range();
    let Some(pages) = whole_pages(range.start as usize..range.end as usize) else {
        return;
    };
    let start = memory
        .as_mut_ptr()
        .cast::<u8>()
        .wrapping_add(pages.start - range.start as usize);
    // SAFETY: `pages` lies within `memory`, which is borrowed for the call. The advice changes how the
    // system backs these pages, not what they hold, and failing it is harmless.
    unsafe {
        libc::madvise(start.cast(), pages.len(), libc::MADV_HUGEPAGE);
    }
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn advise_huge_pages<E>(_memory: &mut [E]) {}

/// The whole pages within a range of addresses, if they are worth a call. Pages are at most 64 KiB.
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
fn whole_pages(addresses: Range<usize>) -> Option<Range<usize>> {
    const PAGE: usize = 1 << 16;
    let start = addresses.start.checked_next_multiple_of(PAGE)?;
    let end = addresses.end - addresses.end % PAGE;
    (end >= start && end - start >= HUGE_PAGE).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pages_lie_within_their_range(start in any::<usize>(), length in 0usize..1 << 24) {
            let end = start.saturating_add(length);
            if let Some(pages) = whole_pages(start..end) {
                prop_assert!(start <= pages.start && pages.end <= end);
                prop_assert!(pages.len() >= 1 << 21);
                prop_assert!(pages.start % (1 << 16) == 0 && pages.end % (1 << 16) == 0);
            }
        }
    }

    #[test]
    fn large_and_small_outputs_are_zeros() {
        for count in [0, 1, 1000, 3_000_000] {
            let mut memory = zeros::<f32>(count, count > 1000);
            assert!(memory.len() == count && memory.iter().all(|&number| number == 0.0));
            memory.fill(1.0);
            assert!(memory.iter().all(|&number| number == 1.0));
        }
    }
}
