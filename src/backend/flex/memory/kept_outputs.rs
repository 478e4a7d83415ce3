//! Memory of outputs that were dropped, kept for the next ones.
//!
//! The system clears every page that it maps: of the 70 ms that 240 MB of output took, it spent 19 on that. A server
//! that asks for the same shapes again and again gets the same memory each time, and the system has nothing to do.

use std::mem::{ManuallyDrop, MaybeUninit};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use burn::tensor::{AllocationProperty, Bytes};
use cubecl_environment::bytes::{AccessError, AccessPolicy, AllocationController};

/// Smaller outputs are left to the allocator, which keeps them itself, but clears them.
const SMALLEST: usize = 1 << 17;

/// The most blocks of an alignment that are kept, and the most bytes in them together.
const MOST_BLOCKS: usize = 16;
const MOST_BYTES: usize = 256 << 20;

/// The most bytes that are kept, of all alignments together, and how many bytes are kept now.
static LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);
static KEPT: AtomicUsize = AtomicUsize::new(0);

pub fn kept_bytes() -> usize {
    KEPT.load(Ordering::Relaxed)
}

pub fn release() {
    release_units::<u16>();
    release_units::<u32>();
    release_units::<u64>();
}

fn release_units<U: Unit>() {
    let blocks = std::mem::take(&mut *U::kept());
    KEPT.fetch_sub(blocks.iter().map(|block| bytes_of(block)).sum(), Ordering::Relaxed);
}

/// Keeps at most so many bytes from now on.
pub fn limit(bytes: usize) {
    LIMIT.store(bytes, Ordering::Relaxed);
    if kept_bytes() > bytes {
        release();
    }
}

fn bytes_of<U>(block: &[U]) -> usize {
    size_of_val(block)
}

/// A type that memory is made of, by its alignment.
pub trait Unit: bytemuck::Pod + Send + Sync {
    /// Blocks of this alignment, the newest at the end.
    fn kept() -> MutexGuard<'static, Vec<Vec<Self>>>;
}

macro_rules! unit {
    ($type:ty) => {
        impl Unit for $type {
            fn kept() -> MutexGuard<'static, Vec<Vec<Self>>> {
                static KEPT: Mutex<Vec<Vec<$type>>> = Mutex::new(Vec::new());
                // A panic between two statements leaves whole blocks.
                KEPT.lock().unwrap_or_else(PoisonError::into_inner)
            }
        }
    };
}

unit!(u16);
unit!(u32);
unit!(u64);

/// Whether blocks of `count` units are kept. What it gains was measured on Linux.
pub fn keeps<U: Unit>(count: usize) -> bool {
    cfg!(all(target_os = "linux", not(miri))) && (SMALLEST..=MOST_BYTES).contains(&(size_of::<U>() * count))
}

/// A block of at least `count` units and at most twice as many, if one is kept. Its contents are unspecified.
pub fn take<U: Unit>(count: usize) -> Option<Vec<U>> {
    let mut kept = U::kept();
    let fits = |block: &Vec<U>| (count..=2 * count).contains(&block.len());
    let best = (0..kept.len())
        .filter(|&block| fits(&kept[block]))
        .min_by_key(|&block| kept[block].len());
    best.map(|block| {
        let block = kept.remove(block);
        KEPT.fetch_sub(bytes_of(&block), Ordering::Relaxed);
        block
    })
}

/// Keeps a block, and drops the oldest ones while there are too many.
fn keep<U: Unit>(block: Vec<U>) {
    if !keeps::<U>(block.len()) {
        return;
    }
    let mut kept = U::kept();
    KEPT.fetch_add(bytes_of(&block), Ordering::Relaxed);
    kept.push(block);
    let limit = LIMIT.load(Ordering::Relaxed);
    let too_many = |kept: &Vec<Vec<U>>| {
        let bytes: usize = kept.iter().map(|block| bytes_of(block)).sum();
        kept.len() > MOST_BLOCKS || bytes > MOST_BYTES || kept_bytes() > limit
    };
    // Blocks of other alignments may hold more than the limit by themselves.
    while !kept.is_empty() && too_many(&kept) {
        let dropped = kept.remove(0);
        KEPT.fetch_sub(bytes_of(&dropped), Ordering::Relaxed);
    }
}

/// The first `count` units of a block as the memory of a tensor, which keeps the block when it is dropped.
#[allow(unsafe_code)]
pub fn bytes<U: Unit>(block: Vec<U>, count: usize) -> Bytes {
    assert!(
        count <= block.len(),
        "a block of {} units holds no {count}",
        block.len()
    );
    let block = Block { units: block };
    // SAFETY: the block holds at least as many bytes, all of them initialized.
    unsafe { Bytes::from_controller(Box::new(block), size_of::<U>() * count) }
}

/// The memory of a tensor.
struct Block<U: Unit> {
    units: Vec<U>,
}

impl<U: Unit> Drop for Block<U> {
    fn drop(&mut self) {
        keep(std::mem::take(&mut self.units));
    }
}

#[allow(unsafe_code)]
impl<U: Unit> AllocationController for Block<U> {
    fn alloc_align(&self) -> usize {
        align_of::<U>()
    }

    fn property(&self) -> AllocationProperty {
        AllocationProperty::Native
    }

    unsafe fn memory_mut(&mut self, _policy: AccessPolicy) -> Result<&mut [MaybeUninit<u8>], AccessError> {
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut self.units);
        // SAFETY: both types have one byte, and the caller writes initialized ones only.
        Ok(unsafe { &mut *(std::ptr::from_mut(bytes) as *mut [MaybeUninit<u8>]) })
    }

    fn memory(&self, _policy: AccessPolicy) -> Result<&[MaybeUninit<u8>], AccessError> {
        let bytes: &[u8] = bytemuck::cast_slice(&self.units);
        // SAFETY: both types have one byte, and initialized ones may be read as any.
        Ok(unsafe { &*(std::ptr::from_ref(bytes) as *const [MaybeUninit<u8>]) })
    }

    /// Hands out the memory, which the global allocator frees: a `Vec` of the tensor's elements takes no copy.
    fn try_detach(&mut self) -> Option<NonNull<u8>> {
        let mut units = ManuallyDrop::new(std::mem::take(&mut self.units).into_boxed_slice());
        NonNull::new(units.as_mut_ptr().cast())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One test, since blocks are kept for the whole process.
    #[cfg(all(target_os = "linux", not(miri)))]
    #[test]
    fn blocks_are_kept_within_bounds_and_found_again() {
        const COUNT: usize = SMALLEST / size_of::<u64>();
        assert!(take::<u64>(COUNT).is_none());
        let first = bytes(vec![1u64; COUNT], COUNT - 3);
        assert_eq!(first.len(), 8 * (COUNT - 3));
        let address = first.as_ptr();
        drop(first);
        assert!(take::<u64>(COUNT + 1).is_none() && take::<u64>(COUNT / 2 - 1).is_none());
        let again = bytes(take::<u64>(COUNT).expect("the block that was dropped"), COUNT);
        assert_eq!(again.as_ptr(), address);

        // A vector of its elements is the same memory, and is not kept.
        let numbers = again.try_into_vec::<u64>().expect("memory of the global allocator");
        assert!(numbers.as_ptr().cast() == address && numbers.len() == COUNT);
        drop(numbers);
        assert!(take::<u64>(COUNT).is_none());

        for blocks in 1..10 {
            drop(bytes(vec![0u64; COUNT], COUNT));
            assert_eq!(u64::kept().len(), blocks.min(MOST_BLOCKS));
        }
        drop(bytes(vec![0u64; MOST_BYTES / 8], 1));
        assert_eq!(u64::kept().len(), 1);
        drop(bytes(vec![0u64; MOST_BYTES / 8 + 1], 1));
        drop(bytes(vec![0u64; COUNT - 1], 1));
        assert_eq!(u64::kept().len(), 1);
        assert_eq!(kept_bytes(), MOST_BYTES);
        assert!(take::<u64>(MOST_BYTES / 8).is_some());
        assert_eq!(kept_bytes(), 0);

        limit(3 * SMALLEST);
        for blocks in 1..6 {
            drop(bytes(vec![0u64; COUNT], COUNT));
            drop(bytes(vec![0u32; 2 * COUNT], COUNT));
            assert!(kept_bytes() <= 3 * SMALLEST && kept_bytes() >= SMALLEST * blocks.min(2));
        }
        release();
        assert_eq!(kept_bytes(), 0);
        limit(usize::MAX);
    }
}
