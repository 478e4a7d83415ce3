//! Outputs that are written past the caches.
//!
//! Before an element is written to a cache, its line is read from memory, and another line leaves the cache. On an AMD
//! EPYC with 32 MiB of L3 and two threads, c4-adaptive takes 26 ms by way of the caches and 17 past them. vgg-roi-pool
//! takes 3.9 and 3.1, and in f16, where its output has 15 MB, 3.3 and 2.9.

use super::instructions::last_cache;

/// Whether an output of so many bytes is written past the caches. In a build for fuzzing, whose calls are small, it is
/// so at any size.
pub fn pays_to_stream(bytes: usize) -> bool {
    cfg!(fuzzing) || last_cache().is_some_and(|size| bytes > room(size))
}

/// The bytes of the largest output that is written by way of a last cache of `size` bytes. Features need room there,
/// too.
///
/// A third was measured with 32 MiB. A virtual machine that was told of 480 MiB shared them with its neighbours: there
/// outputs of 20 to 241 MB took 3 to 34 % less past the caches. With 35.8 MiB it changed the time by a tenth at most,
/// up or down, from 2 to 241 MB, whether the caller read the output at once or not (`throughput --read`).
fn room(size: usize) -> usize {
    (size / 3).min(12 << 20)
}

#[cfg(test)]
mod tests {
    use pulp::{Arch, WithSimd};

    use crate::backend::flex::simd::Stream;

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
}
