//! Interleaves channels, and deinterleaves them: squares of eight pixels in eight channels, transposed.

use pulp::Simd;

use super::{SimdOps, Widen};

/// Interleaves lanes: a pixel has an element of each.
#[inline(always)]
pub fn interleave<E: Widen<N>, N: SimdOps, V: Simd, const L: usize>(simd: V, lanes: [&[E]; L], pixels: &mut [[N; L]]) {
    let (eights, _) = lanes.as_chunks::<8>();
    if pixels.len() < 8 || eights.is_empty() {
        for (index, lane) in lanes.iter().enumerate() {
            for (pixel, element) in pixels.iter_mut().zip(*lane) {
                pixel[index] = element.widen();
            }
        }
        return;
    }
    for (eight, lanes) in eights.iter().enumerate() {
        interleave_eight(simd, lanes, 8 * eight, pixels);
    }
}

/// Interleaves eight lanes, as those of at least eight pixels from `first` on.
#[inline(always)]
fn interleave_eight<E: Widen<N>, N: SimdOps, V: Simd, const L: usize>(
    simd: V,
    lanes: &[&[E]; 8],
    first: usize,
    pixels: &mut [[N; L]],
) {
    for start in (0..pixels.len()).step_by(8) {
        // The last square ends at the last pixel, and may repeat some pixels.
        let start = start.min(pixels.len() - 8);
        let mut square = [[N::default(); 8]; 8];
        for (row, lane) in square.iter_mut().zip(lanes) {
            for (number, element) in row.iter_mut().zip(&lane[start..start + 8]) {
                *number = element.widen();
            }
        }
        for (pixel, lanes) in pixels[start..start + 8].iter_mut().zip(N::transpose(simd, square)) {
            pixel[first..first + 8].copy_from_slice(&lanes);
        }
    }
}

/// Deinterleaves at least one pixel: `output` gets one lane after another, as many as it has room for.
#[inline(always)]
pub fn deinterleave<N: SimdOps, V: Simd, const L: usize>(simd: V, pixels: &[[N; L]], output: &mut [N]) {
    let count = pixels.len();
    if count < 8 || L < 8 {
        for (lane, output) in output.chunks_exact_mut(count).enumerate().take(L) {
            for (pixel, output) in pixels.iter().zip(output) {
                *output = pixel[lane];
            }
        }
        return;
    }
    for (eight, output) in output.chunks_mut(8 * count).enumerate().take(L / 8) {
        deinterleave_eight(simd, pixels, 8 * eight, output);
    }
}

/// Deinterleaves eight lanes of at least eight pixels, those from `first` on.
#[inline(always)]
fn deinterleave_eight<N: SimdOps, V: Simd, const L: usize>(simd: V, pixels: &[[N; L]], first: usize, output: &mut [N]) {
    for start in (0..pixels.len()).step_by(8) {
        let start = start.min(pixels.len() - 8);
        let mut square = [[N::default(); 8]; 8];
        for (row, pixel) in square.iter_mut().zip(&pixels[start..start + 8]) {
            row.copy_from_slice(&pixel[first..first + 8]);
        }
        let lanes = N::transpose(simd, square);
        for (output, lane) in output.chunks_exact_mut(pixels.len()).zip(&lanes) {
            output[start..start + 8].copy_from_slice(lane);
        }
    }
}

#[cfg(test)]
mod tests {
    use pulp::WithSimd;

    use super::*;
    use crate::backend::flex::simd::archs;

    /// Lanes of all lengths, there and back.
    struct RoundTrip<F, const L: usize>(F);

    impl<N, F, const L: usize> WithSimd for RoundTrip<F, L>
    where
        N: SimdOps + PartialEq + std::fmt::Debug,
        F: Fn(usize) -> N,
    {
        type Output = ();

        fn with_simd<V: Simd>(self, simd: V) {
            let Self(number) = self;
            for count in 1..40 {
                let lanes: [Vec<N>; L] = std::array::from_fn(|lane| {
                    let elements = lane * count..(lane + 1) * count;
                    elements.map(&number).collect()
                });
                let mut pixels = vec![[N::default(); L]; count];
                interleave(simd, lanes.each_ref().map(Vec::as_slice), &mut pixels);
                for (index, pixel) in pixels.iter().enumerate() {
                    for (lane, &value) in pixel.iter().enumerate() {
                        assert_eq!(value, number(lane * count + index));
                    }
                }
                for kept in 1..=L {
                    let mut output = vec![N::default(); kept * count];
                    deinterleave(simd, &pixels, &mut output);
                    assert_eq!(output, lanes[..kept].concat());
                }
            }
        }
    }

    #[test]
    fn lanes_are_interleaved_and_deinterleaved() {
        for arch in archs() {
            arch.dispatch(RoundTrip::<_, 8>(|number| number as f32));
            arch.dispatch(RoundTrip::<_, 16>(|number| number as f32));
            arch.dispatch(RoundTrip::<_, 8>(|number| number as f64));
            arch.dispatch(RoundTrip::<_, 1>(|number| number as f32));
        }
    }
}
