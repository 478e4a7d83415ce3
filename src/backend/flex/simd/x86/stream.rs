//! Stores past the caches, and how large the last cache is.

use std::arch::x86_64::{__m256, __m512};
use std::marker::PhantomData;
use std::sync::LazyLock;

use bytemuck::Pod;
use pulp::Simd;
use pulp::core_arch::x86::{Avx, Sse};

use super::{avx, has_avx};

/// Writes past the caches. It borrows what it writes until it is dropped, so that nobody reads that before.
pub struct Stream<'a> {
    sse: Sse,
    avx: Avx,
    written: PhantomData<&'a mut ()>,
}

impl<'a> Stream<'a> {
    /// `None` if the processor has no such instructions.
    #[inline(always)]
    pub fn new<V: Simd>(simd: V) -> Option<Self> {
        if const { !has_avx::<V>() } {
            return None;
        }
        Some(Self {
            sse: Sse::try_new()?,
            avx: avx(simd),
            written: PhantomData,
        })
    }

    /// Copies elements. The first and the last ones go by way of the caches if they do not fill a line.
    #[allow(unsafe_code)]
    #[inline(always)]
    pub fn copy<N: Pod>(&mut self, from: &[N], to: &'a mut [N]) {
        let from: &[u8] = bytemuck::cast_slice(from);
        assert_eq!(from.len(), size_of_val(to));
        let (head, lines, tail) = bytemuck::pod_align_to_mut::<N, __m512>(to);
        let (head, tail): (&mut [u8], &mut [u8]) = (bytemuck::cast_slice_mut(head), bytemuck::cast_slice_mut(tail));
        let (from_head, from) = from.split_at(head.len());
        let (from_lines, from_tail) = from.split_at(size_of_val(lines));
        head.copy_from_slice(from_head);
        tail.copy_from_slice(from_tail);
        for (line, from) in lines
            .iter_mut()
            .zip(from_lines.as_chunks::<{ size_of::<__m512>() }>().0)
        {
            let halves: [__m256; 2] = bytemuck::cast(*from);
            let line = std::ptr::from_mut(line).cast::<[f32; 8]>();
            // SAFETY: both halves lie in `line`, which is borrowed, and aligned to 64 bytes. Until
            // the fence in `drop`, nobody reads or writes them, since they are borrowed for `'a`.
            unsafe {
                self.avx._mm256_stream_ps(line.cast(), halves[0]);
                self.avx._mm256_stream_ps(line.add(1).cast(), halves[1]);
            }
        }
    }
}

impl Drop for Stream<'_> {
    fn drop(&mut self) {
        self.sse._mm_sfence();
    }
}

/// The size of the processor's last cache in bytes, if it tells.
pub fn last_cache() -> Option<usize> {
    static SIZE: LazyLock<Option<usize>> = LazyLock::new(|| {
        let caches = raw_cpuid::CpuId::new().get_cache_parameters()?;
        let last = caches.max_by_key(|cache| cache.level())?;
        Some(last.sets() * last.associativity() * last.physical_line_partitions() * last.coherency_line_size())
    });
    // Miri has no such instruction.
    if cfg!(miri) { None } else { *SIZE }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_cache_has_a_size() {
        // From a small core to the largest server, if the processor tells.
        if let Some(size) = last_cache() {
            assert!((1 << 18..1 << 32).contains(&size), "{size} bytes");
        }
    }
}
