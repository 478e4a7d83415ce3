//! Elements on their way to the output.

use pulp::{Simd, WithSimd};

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
    if let Some(stream) = stream {
        simd.vectorize(StreamElements {
            elements,
            scratch,
            stream,
            output,
        });
        return;
    }
    simd.vectorize(WriteElements {
        elements,
        lanes: &mut scratch.lanes,
        first: 0,
        channel_elements: elements.len(),
        output: &mut output,
    });
}

/// All elements of a region on their way past the caches. Like [`WriteElements`], it is compiled once for all kernels,
/// since `pulp` gets it separately.
struct StreamElements<'a, 'b, S: Sum, const L: usize> {
    elements: &'b [[S; L]],
    scratch: &'b mut WriteScratch<S>,
    stream: &'b mut Stream<'a>,
    output: TensorSliceMut<'a, S>,
}

impl<S: Sum, const L: usize> WithSimd for StreamElements<'_, '_, S, L> {
    type Output = ();

    #[inline(always)]
    fn with_simd<V: Simd>(self, simd: V) {
        let WriteScratch { lanes, rounded } = self.scratch;
        let channels = self.output.len() / self.elements.len();
        let lanes = in_channels(simd, self.elements, channels, lanes);
        match self.output {
            TensorSliceMut::Sums(output) => self.stream.copy(lanes, output),
            TensorSliceMut::Halves(half, output) => {
                rounded.resize(lanes.len(), 0);
                S::narrow(simd, half, lanes, rounded);
                self.stream.copy(rounded, output);
            }
        }
    }
}

/// The elements of a region from index `first` on, which are written to its output of `channel_elements` a channel.
pub struct WriteElements<'a, 'b, S: Sum, const L: usize> {
    pub elements: &'a [[S; L]],
    pub lanes: &'a mut AlignedPixels<S, 1>,
    pub first: usize,
    pub channel_elements: usize,
    pub output: &'a mut TensorSliceMut<'b, S>,
}

impl<S: Sum, const L: usize> WithSimd for WriteElements<'_, '_, S, L> {
    type Output = ();

    #[inline(always)]
    fn with_simd<V: Simd>(self, simd: V) {
        let Self {
            elements,
            lanes,
            first,
            channel_elements,
            output,
        } = self;
        let count = elements.len();
        let channels = output.len() / channel_elements;
        let lanes = in_channels(simd, elements, channels, lanes);
        if count == channel_elements {
            output.write(simd, lanes);
            return;
        }
        for (channel, lane) in lanes.chunks_exact(count).enumerate() {
            let first = channel * channel_elements + first;
            output.get(first..first + count).write(simd, lane);
        }
    }
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
