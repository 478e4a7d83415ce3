//! Elements on their way to the output.

use pulp::Simd;

use super::scratch::WriteScratch;
use crate::backend::flex::dtype::{Sum, TensorSliceMut};
use crate::backend::flex::memory::AlignedPixels;
use crate::backend::flex::simd::{Stream, deinterleave};

/// Writes all elements of a region to its output: past the caches if there is a stream.
#[inline(always)]
pub fn write_region<'a, S: Sum, const L: usize>(
    simd: impl Simd,
    elements: &[[S; L]],
    scratch: &mut WriteScratch<S>,
    mut output: TensorSliceMut<'a, S>,
    stream: &mut Option<Stream<'a>>,
) {
    match stream {
        Some(stream) => stream_elements(simd, elements, scratch, stream, output),
        None => write_elements(simd, elements, &mut scratch.lanes, 0, elements.len(), &mut output),
    }
}

/// Writes all elements of a region past the caches.
#[inline(always)]
fn stream_elements<'a, S: Sum, const L: usize>(
    simd: impl Simd,
    elements: &[[S; L]],
    scratch: &mut WriteScratch<S>,
    stream: &mut Stream<'a>,
    output: TensorSliceMut<'a, S>,
) {
    // It is compiled once for all kernels, since `pulp` gets it separately.
    simd.vectorize(
        #[inline(always)]
        move || {
            let WriteScratch { lanes, rounded } = scratch;
            let lanes = in_channels(simd, elements, output.len() / elements.len(), lanes);
            match output {
                TensorSliceMut::Sums(output) => stream.copy(lanes, output),
                TensorSliceMut::Halves(half, output) => {
                    rounded.resize(lanes.len(), 0);
                    S::narrow(simd, half, lanes, rounded);
                    stream.copy(rounded, output);
                }
            }
        },
    );
}

/// Writes the elements of a region from index `first` on to its output of `channel_elements` a channel.
#[inline(always)]
pub fn write_elements<S: Sum, const L: usize>(
    simd: impl Simd,
    elements: &[[S; L]],
    lanes: &mut AlignedPixels<S, 1>,
    first: usize,
    channel_elements: usize,
    output: &mut TensorSliceMut<'_, S>,
) {
    // It is compiled once for all kernels, since `pulp` gets it separately.
    simd.vectorize(
        #[inline(always)]
        move || {
            let count = elements.len();
            let lanes = in_channels(simd, elements, output.len() / channel_elements, lanes);
            if count == channel_elements {
                output.write(simd, lanes);
                return;
            }
            for (channel, lane) in lanes.chunks_exact(count).enumerate() {
                let first = channel * channel_elements + first;
                output.get(first..first + count).write(simd, lane);
            }
        },
    );
}

/// Copies elements to `lanes`, one channel after another. They go to the output by way of this copy in the nearest
/// cache: if each pixel wrote its lanes to the output, every cache line there would wait for the next pixels.
#[inline(always)]
fn in_channels<'a, S: Sum, const L: usize>(
    simd: impl Simd,
    elements: &[[S; L]],
    channels: usize,
    lanes: &'a mut AlignedPixels<S, 1>,
) -> &'a [S] {
    lanes.resize(channels * elements.len());
    let lanes = lanes.get_mut().as_flattened_mut();
    deinterleave(simd, elements, lanes);
    lanes
}
