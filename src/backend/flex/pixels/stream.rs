//! Outputs that are written past the caches.
//!
//! Before a number is written to a cache, its line is read from memory, and another line leaves the cache. On an AMD
//! EPYC with 32 MiB of L3 and two threads, c4-adaptive takes 26 ms by way of the caches and 17 past them. vgg-roi-pool
//! takes 3.9 and 3.1, and in f16, where its output has 15 MB, 3.3 and 2.9.

#[cfg(not(target_arch = "x86_64"))]
pub use nowhere::Stream;
#[cfg(target_arch = "x86_64")]
pub use x86::Stream;

/// Whether an output of so many bytes is written past the caches. In a build for fuzzing, whose calls are small, it is
/// so at any size.
pub fn pays_to_stream(bytes: usize) -> bool {
    cfg!(fuzzing) || last_cache().is_some_and(|size| bytes > room(size))
}

/// The bytes of the largest output that is written by way of a last cache of `size` bytes. Features need room there,
/// too.
///
/// A third was measured with 32 MiB. On Intel, with 480 MiB, the largest output that was timed has 241 MB, below half.
fn room(size: usize) -> usize {
    if size <= 64 << 20 { size / 3 } else { size / 2 }
}

/// The size of the processor's last cache in bytes, if it tells.
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn last_cache() -> Option<usize> {
    use std::sync::LazyLock;

    static SIZE: LazyLock<Option<usize>> = LazyLock::new(|| {
        let caches = raw_cpuid::CpuId::new().get_cache_parameters()?;
        let last = caches.max_by_key(|cache| cache.level())?;
        Some(last.sets() * last.associativity() * last.physical_line_partitions() * last.coherency_line_size())
    });
    *SIZE
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
fn last_cache() -> Option<usize> {
    None
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{__m256, __m512};
    use std::marker::PhantomData;

    use bytemuck::Pod;
    use pulp::Simd;
    use pulp::core_arch::x86::{Avx, Sse};

    use crate::backend::flex::numbers::{avx, has_avx};

    /// Writes past the caches. It borrows what it writes until it is dropped, so that nobody reads that before.
    pub struct Stream<'a> {
        sse: Sse,
        avx: Avx,
        written: PhantomData<&'a mut ()>,
    }

    impl<'a> Stream<'a> {
        /// None where the processor has no instructions for it.
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

        /// Copies numbers. The first and the last of them go by way of the caches where they don't fill a line.
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
                // SAFETY: both halves lie in `line`, which is borrowed, and whose alignment is that of 64 bytes. Until
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
}

#[cfg(not(target_arch = "x86_64"))]
mod nowhere {
    use std::convert::Infallible;
    use std::marker::PhantomData;

    use pulp::Simd;

    /// What other processors don't have.
    pub struct Stream<'a>(Infallible, PhantomData<&'a mut ()>);

    impl<'a> Stream<'a> {
        #[inline(always)]
        pub fn new(_simd: impl Simd) -> Option<Self> {
            None
        }

        #[inline(always)]
        pub fn copy<N>(&mut self, _from: &[N], _to: &'a mut [N]) {
            match self.0 {}
        }
    }
}

#[cfg(test)]
mod tests {
    use pulp::{Arch, WithSimd};

    use super::*;

    /// Numbers, copied to all offsets of a line and beyond.
    struct Copies;

    impl WithSimd for Copies {
        type Output = ();

        fn with_simd<S: pulp::Simd>(self, simd: S) {
            for (offset, count) in (0..40).flat_map(|offset| (0..70).map(move |count| (offset, count))) {
                let from: Vec<u16> = (1..=count).collect();
                let mut to = vec![0_u16; 120];
                let end = offset + from.len();
                let Some(mut stream) = Stream::new(simd) else { return };
                stream.copy(&from, &mut to[offset..end]);
                drop(stream);
                assert_eq!(to[offset..end], from);
                assert!(to[..offset].iter().chain(&to[end..]).all(|&number| number == 0));
            }
        }
    }

    #[test]
    fn numbers_are_copied_and_no_others() {
        Arch::new().dispatch(Copies);
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn the_last_cache_has_a_size() {
        // From that of a small core to that of the largest server, where the processor tells.
        if let Some(size) = last_cache() {
            assert!((1 << 18..1 << 32).contains(&size), "{size} bytes");
        }
    }
}
