//! Bilinear interpolation of bytes as Pillow computes it: a triangle as wide as the output pixel, in integers.

use std::borrow::Cow;

use rayon::prelude::*;

/// The bits of a weight behind the point: Pillow keeps 8 bits for the pixel and 2 for sums in 32 bits.
const FRACTION: u32 = 32 - 8 - 2;
const CHANNELS: usize = 3;

/// Resizes a picture, each pixel three bytes, row by row: first along rows, then along columns, with bytes between.
///
/// Pillow 13.0 goes along columns first for some sizes, such as 64 x 48 to 33 x 77. There a byte can differ by 1.
pub fn resize(bytes: &[u8], [height, width]: [usize; 2], [rows, columns]: [usize; 2]) -> Cow<'_, [u8]> {
    // Pillow skips an axis that keeps its length, which changes no byte.
    let wide = if width == columns {
        Cow::Borrowed(bytes)
    } else {
        let windows = windows(width, columns);
        let mut output = vec![0; height * columns * CHANNELS];
        let lines = output.par_chunks_exact_mut(columns * CHANNELS);
        lines
            .zip(bytes.par_chunks_exact(width * CHANNELS))
            .for_each(|(line, input)| along_row(input, &windows, line));
        Cow::Owned(output)
    };
    if height == rows {
        return wide;
    }
    let windows = windows(height, rows);
    let mut output = vec![0; rows * columns * CHANNELS];
    let lines = output.par_chunks_exact_mut(columns * CHANNELS);
    lines
        .zip(&windows)
        .for_each(|(line, window)| along_columns(&wide, window, line));
    Cow::Owned(output)
}

fn along_row(input: &[u8], windows: &[Window], output: &mut [u8]) {
    let (pixels, _) = input.as_chunks::<CHANNELS>();
    for (window, output) in windows.iter().zip(output.as_chunks_mut::<CHANNELS>().0) {
        let mut sums = [HALF; CHANNELS];
        for (pixel, weight) in pixels[window.first..].iter().zip(&window.weights) {
            for (sum, &byte) in sums.iter_mut().zip(pixel) {
                *sum += i32::from(byte) * weight;
            }
        }
        *output = sums.map(byte);
    }
}

fn along_columns(input: &[u8], window: &Window, output: &mut [u8]) {
    let length = output.len();
    let mut sums = vec![HALF; length];
    for (row, weight) in input.chunks_exact(length).skip(window.first).zip(&window.weights) {
        for (sum, &byte) in sums.iter_mut().zip(row) {
            *sum += i32::from(byte) * weight;
        }
    }
    for (output, sum) in output.iter_mut().zip(sums) {
        *output = byte(sum);
    }
}

/// What rounds a sum to the nearest byte.
const HALF: i32 = 1 << (FRACTION - 1);

fn byte(sum: i32) -> u8 {
    (sum >> FRACTION).clamp(0, 255) as u8
}

/// The pixels of an axis that an output pixel is made of, from `first` on.
struct Window {
    first: usize,
    weights: Vec<i32>,
}

fn windows(input: usize, output: usize) -> Vec<Window> {
    let scale = input as f64 / output as f64;
    let radius = scale.max(1.0);
    let of_pixel = |index: usize| {
        let centre = (index as f64 + 0.5) * scale;
        // The casts turn negative values into 0.
        let first = (centre - radius + 0.5) as usize;
        let end = ((centre + radius + 0.5) as usize).min(input);
        let triangle = |pixel: usize| {
            let distance = (pixel as f64 - centre + 0.5) * (1.0 / radius);
            (1.0 - distance.abs()).max(0.0)
        };
        let weights: Vec<f64> = (first..end).map(triangle).collect();
        let sum: f64 = weights.iter().sum();
        let fixed = |weight: f64| (0.5 + weight / sum * f64::from(1 << FRACTION)) as i32;
        Window {
            first,
            weights: weights.into_iter().map(fixed).collect(),
        }
    };
    (0..output).map(of_pixel).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed by Pillow 13.0: `Image.resize(size, Image.Resampling.BILINEAR)` of bytes that follow from their index.
    #[test]
    fn bytes_are_pillows() {
        let cases: [([usize; 2], [usize; 2], u64); 8] = [
            ([7, 9], [3, 4], 84_435),
            ([7, 9], [20, 31], 221_064_352),
            ([40, 30], [9, 30], 39_409_471),
            ([40, 30], [40, 11], 104_387_445),
            ([1, 1], [5, 3], 3_915),
            ([50, 3], [1, 1], 717),
            ([64, 48], [30, 25], 303_945_032),
            ([33, 44], [33, 44], 1_137_576_399),
        ];
        for (size, resized, expected) in cases {
            let bytes: Vec<u8> = (0..size[0] * size[1] * CHANNELS)
                .map(|index| (index * index % 251 + index * 7 % 5) as u8)
                .collect();
            let output = resize(&bytes, size, resized);
            assert_eq!(output.len(), resized[0] * resized[1] * CHANNELS);
            // A sum in which each byte has a weight of its own.
            let sum = output
                .iter()
                .zip(1..)
                .map(|(&byte, place)| u64::from(byte) * place)
                .sum::<u64>();
            assert_eq!(sum, expected, "{size:?} to {resized:?}");
        }
    }
}
