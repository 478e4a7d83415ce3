//! Masks sampled at the centres of a picture's pixels, as `grid_sample` does without aligned corners.

use crate::RunLengths;

/// Pastes a mask, `side * side` probabilities row by row, into its box `[x1, y1, x2, y2]` of a picture of
/// `[height, width]` pixels. A pixel is set if it reaches the threshold.
///
/// The positions are computed in f32, in detectron2's order.
pub fn paste(mask: &[f64], side: usize, corners: [f32; 4], size: [usize; 2], threshold: f64) -> RunLengths {
    let [x1, y1, x2, y2] = corners;
    let [columns, rows] = [axis(x1, x2, size[1], side), axis(y1, y2, size[0], side)];
    let at = |x: isize, y: isize| {
        let is_inside = |place: isize| place >= 0 && (place as usize) < side;
        if is_inside(x) && is_inside(y) {
            mask[y as usize * side + x as usize] as f32
        } else {
            0.0
        }
    };
    let is_set = |x: usize, y: usize| {
        let ([left, right], column) = columns.taps(x);
        let ([top, bottom], row) = rows.taps(y);
        let [upper, lower] = [top, bottom].map(|y| column[0] * at(left, y) + column[1] * at(right, y));
        f64::from(row[0] * upper + row[1] * lower) >= threshold
    };
    // Around the window every pixel is 0. A threshold of 0 sets all of them, as in detectron2.
    let whole = [0, 0, size[1], size[0]];
    let window = [columns.first, rows.first, columns.end, rows.end];
    let window = if threshold > 0.0 { window } else { whole };
    RunLengths::of_window(size, window, is_set)
}

/// An axis of a picture, and the mask along it.
struct Axis {
    low: f32,
    length: f32,
    side: usize,
    /// The pixels that the mask can reach.
    first: usize,
    end: usize,
}

fn axis(low: f32, high: f32, pixels: usize, side: usize) -> Axis {
    // Half a pixel of the mask around the box is not 0.
    let margin = ((high - low) / side as f32).max(0.0) + 1.0;
    // The casts turn negative values and NaN into 0.
    let first = ((low - margin).floor() as usize).min(pixels);
    let end = ((high + margin).ceil() as usize).min(pixels);
    Axis {
        low,
        length: high - low,
        side,
        first,
        end: end.max(first),
    }
}

impl Axis {
    /// The two pixels of the mask that the centre of a pixel lies between, and their weights.
    fn taps(&self, pixel: usize) -> ([isize; 2], [f32; 2]) {
        let position = (pixel as f32 + 0.5 - self.low) / self.length * 2.0 - 1.0;
        let position = ((position + 1.0) * self.side as f32 - 1.0) / 2.0;
        let first = position.floor();
        let weight = position - first;
        // A box without a side has no position: the weights are NaN, and no pixel is set.
        (
            [first as isize, (first as isize).saturating_add(1)],
            [1.0 - weight, weight],
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pixels that torch 2.15 sets: `grid_sample` of the mask at pixel centres, and `>= 0.5`.
    #[test]
    fn pixels_are_those_of_grid_sample() {
        let mask = [0.9, 0.2, 0.7, 0.1, 0.8, 0.6, 0.95, 0.4, 0.55];
        let cases: [([f32; 4], &str); 4] = [
            (
                [1.3, 0.6, 7.9, 6.2],
                "........./.###..#../....###../....###../..#####../..##...../.........",
            ),
            (
                [-2.5, -1.0, 4.0, 5.5],
                "..#....../###....../###....../###....../..#....../........./.........",
            ),
            (
                [0.2, 0.1, 8.9, 7.0],
                ".#......./.##...##./...#####./...#####./..######./.###..##./.##......",
            ),
            (
                [6.2, 3.1, 15.0, 12.0],
                "........./........./........./.......#./......###/.......##/.........",
            ),
        ];
        for (corners, expected) in cases {
            let pasted = paste(&mask, 3, corners, [7, 9], 0.5);
            let rows = pasted.decode();
            let rows = rows
                .chunks(9)
                .map(|row| row.iter().map(|&set| if set { '#' } else { '.' }).collect::<String>());
            assert_eq!(rows.collect::<Vec<_>>().join("/"), expected, "of {corners:?}");
            assert_eq!(pasted.counts().iter().sum::<u32>(), 63);
            assert!(
                pasted.counts().iter().skip(1).all(|&count| count > 0),
                "{:?}",
                pasted.counts()
            );
        }
    }

    #[test]
    fn a_box_without_a_side_has_no_pixels() {
        for corners in [[3.0, 3.0, 3.0, 6.0], [f32::NAN; 4], [90.0, 90.0, 99.0, 99.0]] {
            assert_eq!(paste(&[1.0; 9], 3, corners, [7, 9], 0.5).counts(), [63]);
        }
    }
}
