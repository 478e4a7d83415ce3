//! The pyramid: a picture at several scales, so that faces of all sizes become as large as the proposal network's cell.

use rayon::prelude::*;

use crate::networks::CELL;

/// The side of the smallest faces that are looked for if nothing else is asked for.
pub const LEAST_FACE: f64 = 20.0;
/// The scale of a level relative to the level before.
const SCALE_FACTOR: f64 = 0.709;

/// The scales of the levels for a picture of `[height, width]`; none if it is too small for a face.
///
/// The package takes the number of levels from the picture's size alone, as is right for its default of 20 pixels. For
/// more than 22 its last levels are smaller than a cell. Its network refuses them, and it returns no face at all. For
/// less than 20 it looks for no large faces. Here the last level is as large as it is for 20 pixels.
pub fn scales([height, width]: [usize; 2], least_face: f64) -> Vec<f64> {
    let shorter = height.min(width) as f64 * LEAST_FACE / least_face;
    let count = -((shorter / CELL as f64).ln() / SCALE_FACTOR.ln() + 1.0);
    let first = CELL as f64 / least_face;
    (0..count.round_ties_even().max(0.0) as u32)
        .map(|level| first * SCALE_FACTOR.powf(level.into()))
        .collect()
}

/// A picture's pixels, row by row: red, green and blue of each.
#[derive(Clone, Copy)]
pub struct Pixels<'a> {
    pub bytes: &'a [u8],
    pub height: usize,
    pub width: usize,
}

/// Writes a picture `[3, height, width]`, normalized to -1 to 1, in another size.
///
/// An output pixel is the mean of the area that it covers, as `tf.image.resize` computes it with `AREA`.
pub fn resize(pixels: Pixels<'_>, [height, width]: [usize; 2], output: &mut [f32]) {
    let rows = Areas::of_axis(pixels.height, height);
    let columns = Areas::of_axis(pixels.width, width);
    let mut lines: Vec<Vec<&mut [f32]>> = (0..height).map(|_| Vec::with_capacity(3)).collect();
    for plane in output.chunks_exact_mut(height * width) {
        for (line, row) in lines.iter_mut().zip(plane.chunks_exact_mut(width)) {
            line.push(row);
        }
    }
    lines.into_par_iter().enumerate().for_each_init(
        || vec![0.0; 3 * pixels.width],
        |sums, (y, line)| {
            sum_rows(pixels, rows.of(y), sums);
            sum_columns(sums, &columns, line);
        },
    );
}

/// The weighted sums of the normalized values of some rows.
fn sum_rows(pixels: Pixels<'_>, (first, weights): (usize, &[f32]), sums: &mut [f32]) {
    let total: f32 = weights.iter().sum();
    sums.fill(-127.5 / 128.0 * total);
    for (row, weight) in (first..).zip(weights) {
        let weight = weight / 128.0;
        let bytes = &pixels.bytes[row * 3 * pixels.width..][..3 * pixels.width];
        for (sum, &byte) in sums.iter_mut().zip(bytes) {
            *sum += weight * f32::from(byte);
        }
    }
}

/// A line of the output, of each channel, from the sums of its rows.
fn sum_columns(sums: &[f32], columns: &Areas, mut line: Vec<&mut [f32]>) {
    for x in 0..line[0].len() {
        let (first, weights) = columns.of(x);
        let mut pixel = [0.0; 3];
        for (values, weight) in sums[3 * first..].chunks_exact(3).zip(weights) {
            for (sum, value) in pixel.iter_mut().zip(values) {
                *sum += weight * value;
            }
        }
        for (row, value) in line.iter_mut().zip(pixel) {
            row[x] = value;
        }
    }
}

/// The pixels of an axis that each output pixel covers, with their shares of its area.
struct Areas {
    /// The first pixel, and the range of the weights.
    places: Vec<(usize, usize, usize)>,
    weights: Vec<f32>,
}

impl Areas {
    /// Positions and shares in f32, as in TensorFlow.
    fn of_axis(input: usize, output: usize) -> Self {
        let scale = input as f32 / output as f32;
        let mut areas = Self {
            places: Vec::with_capacity(output),
            weights: Vec::new(),
        };
        for index in 0..output {
            let [start, end] = [index as f32 * scale, (index + 1) as f32 * scale];
            let first = (start as usize).min(input - 1);
            let from = areas.weights.len();
            // By rounding, the last area can end a little beyond the axis.
            for pixel in first..(end.ceil() as usize).clamp(first + 1, input) {
                let share = end.min((pixel + 1) as f32) - start.max(pixel as f32);
                areas.weights.push(share / scale);
            }
            areas.places.push((first, from, areas.weights.len()));
        }
        areas
    }

    fn of(&self, index: usize) -> (usize, &[f32]) {
        let (first, from, to) = self.places[index];
        (first, &self.weights[from..to])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_levels_are_the_packages() {
        // Computed by `build_scale_pyramid`.
        let scales_of_512 = scales([512, 640], 20.0);
        assert_eq!(scales_of_512.len(), 10);
        assert_eq!(scales_of_512[..2], [0.6, 0.6 * 0.709]);
        assert_eq!(scales([256, 256], 20.0).len(), 8);
        assert_eq!(scales([40, 300], 20.0).len(), 3);
        for size in [[1, 1], [1, 8000], [20, 20]] {
            assert!(scales(size, 20.0).is_empty(), "of {size:?}");
        }
    }

    #[test]
    fn the_last_level_has_a_cell_and_finds_the_largest_faces() {
        for least_face in [12.0, 20.0, 33.3, 60.0, 500.0] {
            for shorter in (1..3000).step_by(7) {
                let levels = scales([shorter, 3000], least_face);
                let Some(last) = levels.last() else {
                    assert!(shorter as f64 <= 1.5 * least_face, "{shorter} for {least_face}");
                    continue;
                };
                let side = shorter as f64 * last;
                assert!((12.0..=17.1).contains(&side), "{side} of {shorter} for {least_face}");
            }
        }
    }

    #[test]
    fn a_level_is_the_mean_of_areas() {
        // Red 0, 30, 60; green and blue 255 and 0.
        let bytes = [0, 255, 0, 30, 255, 0, 60, 255, 0];
        let pixels = Pixels {
            bytes: &bytes,
            height: 1,
            width: 3,
        };
        let mut output = [0.0; 6];
        resize(pixels, [1, 2], &mut output);
        let bytes = output.map(|value| value * 128.0 + 127.5);
        let expected = [10.0, 50.0, 255.0, 255.0, 0.0, 0.0];
        let differs = |(left, right): (&f32, &f32)| (left - right).abs() > 1e-4;
        assert!(!bytes.iter().zip(&expected).any(differs), "{bytes:?}");
    }
}
