//! Bicubic interpolation on the host, and where its largest value lies.

/// torch's coefficient of the cubic convolution.
const A: f32 = -0.75;

/// How an axis is resized: the four pixels that each new pixel reads, and their weights. Pixels beyond an end are the
/// one at the end.
pub struct CubicTaps {
    given: usize,
    taps: Vec<([usize; 4], [f32; 4])>,
}

impl CubicTaps {
    /// An axis of `given` pixels, resized to `asked`. The arithmetic is torch's, without aligned corners.
    pub fn of(given: usize, asked: usize) -> Self {
        let scale = given as f32 / asked as f32;
        let taps = (0..asked).map(|pixel| {
            let position = scale * (pixel as f32 + 0.5) - 0.5;
            let before = position.floor();
            let at = |offset: isize| (before as isize + offset).clamp(0, given as isize - 1) as usize;
            ([at(-1), at(0), at(1), at(2)], weights(position - before))
        });
        Self {
            given,
            taps: taps.collect(),
        }
    }

    /// The four pixels of each new pixel, and their weights.
    #[cfg(feature = "models")]
    pub fn taps(&self) -> impl ExactSizeIterator<Item = ([usize; 4], [f32; 4])> {
        self.taps.iter().copied()
    }
}

/// The weights of the four pixels about a position that is `part` of a pixel behind the second one.
fn weights(part: f32) -> [f32; 4] {
    let near = |x: f32| ((A + 2.0) * x - (A + 3.0)) * x * x + 1.0;
    let far = |x: f32| ((A * x - 5.0 * A) * x + 8.0 * A) * x - 4.0 * A;
    let rest = 1.0 - part;
    [far(part + 1.0), near(part), near(rest), far(rest + 1.0)]
}

/// The largest pixel of a resized map.
pub struct Peak {
    pub x: usize,
    pub y: usize,
    pub value: f32,
}

impl Peak {
    /// Whether a pixel takes the place of this one. NaN counts as the largest.
    fn is_below(&self, pixel: f32) -> bool {
        pixel > self.value || (pixel.is_nan() && !self.value.is_nan())
    }
}

/// The largest pixel of a map whose columns and rows are resized. Of equal pixels it is the first one, row by row.
///
/// The resized map can have a million pixels, so it is computed row by row and not kept.
pub fn peak(map: &[f32], columns: &CubicTaps, rows: &CubicTaps) -> Peak {
    let width = columns.taps.len();
    let widen = |row: &[f32]| -> Vec<f32> {
        let pixel = |(at, weights): &([usize; 4], [f32; 4])| sum(at.map(|at| row[at]), weights);
        columns.taps.iter().map(pixel).collect()
    };
    let widened: Vec<f32> = map.chunks(columns.given).flat_map(widen).collect();
    let mut peak = Peak {
        x: 0,
        y: 0,
        value: f32::NEG_INFINITY,
    };
    let mut row = vec![0.0; width];
    for (y, (at, weights)) in rows.taps.iter().enumerate() {
        let [first, second, third, fourth] = at.map(|at| &widened[at * width..(at + 1) * width]);
        // Most rows have no larger pixel, and this loop is vectorized.
        let mut larger = false;
        for (x, pixel) in row.iter_mut().enumerate() {
            *pixel = sum([first[x], second[x], third[x], fourth[x]], weights);
            larger |= peak.is_below(*pixel);
        }
        if larger {
            for (x, &value) in row.iter().enumerate() {
                if peak.is_below(value) {
                    peak = Peak { x, y, value };
                }
            }
        }
    }
    peak
}

fn sum(pixels: [f32; 4], weights: &[f32; 4]) -> f32 {
    let [first, second, third, fourth] = pixels;
    first * weights[0] + second * weights[1] + third * weights[2] + fourth * weights[3]
}
