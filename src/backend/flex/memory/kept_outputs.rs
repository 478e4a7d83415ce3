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

/// The blocks that are kept, by their alignment; the newest are at the end.
#[derive(Default)]
pub struct Blocks {
    two_bytes: Vec<Vec<u16>>,
    four_bytes: Vec<Vec<u32>>,
    eight_bytes: Vec<Vec<u64>>,
}

impl Blocks {
    fn bytes(&self) -> usize {
        bytes_of(&self.two_bytes) + bytes_of(&self.four_bytes) + bytes_of(&self.eight_bytes)
    }
}

fn bytes_of<U>(blocks: &[Vec<U>]) -> usize {
    blocks.iter().map(|block| size_of::<U>() * block.len()).sum()
}

/// The most bytes that are kept, of all alignments together.
static LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);

fn kept() -> MutexGuard<'static, Blocks> {
    static KEPT: Mutex<Blocks> = Mutex::new(Blocks {
        two_bytes: Vec::new(),
        four_bytes: Vec::new(),
        eight_bytes: Vec::new(),
    });
    // A panic between two statements leaves whole blocks.
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many bytes of dropped outputs are kept.
pub fn kept_bytes() -> usize {
    kept().bytes()
}

/// Frees all kept memory. Calls on other threads may keep memory again at once.
pub fn release() {
    *kept() = Blocks::default();
}

/// Limits the kept memory to `bytes` from now on, 0 for none. If more is kept now, all kept memory is freed.
pub fn limit(bytes: usize) {
    LIMIT.store(bytes, Ordering::Relaxed);
    if kept_bytes() > bytes {
        release();
    }
}

/// A type that memory is made of, by its alignment.
pub trait Unit: bytemuck::Pod + Send + Sync {
    fn of(blocks: &mut Blocks) -> &mut Vec<Vec<Self>>;
}

macro_rules! unit {
    ($type:ty, $blocks:ident) => {
        impl Unit for $type {
            fn of(blocks: &mut Blocks) -> &mut Vec<Vec<Self>> {
                &mut blocks.$blocks
            }
        }
    };
}

unit!(u16, two_bytes);
unit!(u32, four_bytes);
unit!(u64, eight_bytes);

/// Whether blocks of `count` units are kept. What it gains was measured on Linux.
pub fn keeps<U: Unit>(count: usize) -> bool {
    cfg!(all(target_os = "linux", not(miri))) && (SMALLEST..=MOST_BYTES).contains(&(size_of::<U>() * count))
}

/// A block of at least `count` units and at most twice as many, if one is kept. Its contents are unspecified.
pub fn take<U: Unit>(count: usize) -> Option<Vec<U>> {
    let mut kept = kept();
    let blocks = U::of(&mut kept);
    let fits = |block: &Vec<U>| (count..=2 * count).contains(&block.len());
    let best = (0..blocks.len())
        .filter(|&block| fits(&blocks[block]))
        .min_by_key(|&block| blocks[block].len());
    best.map(|block| blocks.remove(block))
}

/// Keeps a block, and drops the oldest ones while there are too many.
fn keep<U: Unit>(block: Vec<U>) {
    if !keeps::<U>(block.len()) {
        return;
    }
    let mut kept = kept();
    U::of(&mut kept).push(block);
    // Blocks of other alignments may hold more than the limit by themselves.
    loop {
        let is_over_limit = kept.bytes() > LIMIT.load(Ordering::Relaxed);
        let blocks = U::of(&mut kept);
        let too_many = blocks.len() > MOST_BLOCKS || bytes_of(blocks) > MOST_BYTES || is_over_limit;
        if blocks.is_empty() || !too_many {
            return;
        }
        blocks.remove(0);
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
            assert_eq!(u64::of(&mut kept()).len(), blocks.min(MOST_BLOCKS));
        }
        drop(bytes(vec![0u64; MOST_BYTES / 8], 1));
        assert_eq!(u64::of(&mut kept()).len(), 1);
        drop(bytes(vec![0u64; MOST_BYTES / 8 + 1], 1));
        drop(bytes(vec![0u64; COUNT - 1], 1));
        assert_eq!(u64::of(&mut kept()).len(), 1);
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
