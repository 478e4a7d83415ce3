//! The weights of the pixels that an element reads, while its samples are added up.

use std::collections::BTreeMap;
use std::ops::Range;

use super::real::Real;
use crate::geometry::plan::{PointWeights, Span, pixel_count};
use crate::geometry::point_grid::PARAMETERS;

/// A window of pixels of which some have weights. It takes memory for all of them, or for those that are read where
/// these are few.
#[derive(Default)]
pub struct Scratch {
    window: [Range<usize>; 2],
    /// The weight of each place.
    pub weights: Vec<Real>,
    /// The slopes of each place, where they are wanted.
    pub slopes: Vec<[Real; PARAMETERS]>,
    /// The columns of each row that were read, where there is a place for each pixel.
    read: Vec<Range<usize>>,
    /// The place of each pixel that was read, where there is none for the others.
    places: Option<BTreeMap<[usize; 2], usize>>,
    has_slopes: bool,
}

/// Where a window has more pixels than this for each sample, its pixels get a place as they are read: two samples in a
/// region of 16,384 x 16,384 pixels would take 1 GiB.
const SPARSE: usize = 256;

impl Scratch {
    /// Forgets everything, and takes `samples` samples in a window; false where it has no pixel.
    pub fn open(&mut self, window: [Range<usize>; 2], samples: usize, has_slopes: bool) -> bool {
        let area = pixel_count(&window);
        let is_sparse = area > SPARSE.saturating_mul(samples);
        let places = if is_sparse { 0 } else { area };
        self.weights.clear();
        self.weights.resize(places, 0.0);
        self.slopes.clear();
        self.slopes
            .resize(if has_slopes { places } else { 0 }, [0.0; PARAMETERS]);
        self.read.clear();
        self.read.resize(if is_sparse { 0 } else { window[0].len() }, 0..0);
        self.places = is_sparse.then(BTreeMap::new);
        self.has_slopes = has_slopes;
        self.window = window;
        area > 0
    }

    /// The place of a pixel that is read.
    pub fn place(&mut self, row: usize, column: usize) -> usize {
        if let Some(places) = &mut self.places {
            let next = self.weights.len();
            let place = *places.entry([row, column]).or_insert(next);
            if place == next {
                self.weights.push(0.0);
                self.slopes.extend(self.has_slopes.then_some([0.0; PARAMETERS]));
            }
            return place;
        }
        let [rows, columns] = &self.window;
        let (row, column) = (row - rows.start, column - columns.start);
        let read = &mut self.read[row];
        *read = match read.len() {
            0 => column..column + 1,
            _ => read.start.min(column)..read.end.max(column + 1),
        };
        row * columns.len() + column
    }

    /// Writes the spans that were read, from the top to the bottom, their weights divided.
    pub fn write(&self, divisor: Real, plan: &mut PointWeights<Real>) {
        let [rows, columns] = &self.window;
        for (row, read) in rows.clone().zip(&self.read) {
            if read.is_empty() {
                continue;
            }
            plan.spans.push(Span {
                row: row as u32,
                column: (columns.start + read.start) as u32,
                count: read.len() as u32,
            });
            let first = (row - rows.start) * columns.len();
            self.write_weights(first + read.start..first + read.end, divisor, plan);
        }
        let mut last: Option<[usize; 2]> = None;
        for (&[row, column], &place) in self.places.iter().flatten() {
            match (last, plan.spans.last_mut()) {
                (Some(before), Some(span)) if before == [row, column.wrapping_sub(1)] => span.count += 1,
                _ => plan.spans.push(Span {
                    row: row as u32,
                    column: column as u32,
                    count: 1,
                }),
            }
            last = Some([row, column]);
            self.write_weights(place..place + 1, divisor, plan);
        }
    }

    fn write_weights(&self, places: Range<usize>, divisor: Real, plan: &mut PointWeights<Real>) {
        let weights = self.weights[places.clone()].iter();
        plan.weights.extend(weights.map(|weight| weight / divisor));
        if self.has_slopes {
            let slopes = self.slopes[places].iter();
            plan.slopes
                .extend(slopes.map(|slopes| slopes.map(|slope| slope / divisor)));
        }
    }
}
