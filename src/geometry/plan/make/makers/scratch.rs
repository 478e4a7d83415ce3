//! The weights of the pixels that an element reads, while its samples are added up.

use std::collections::BTreeMap;
use std::ops::Range;

use super::real::Real;
use crate::geometry::plan::axis::pixel_count;
use crate::geometry::plan::points::{PointWeights, Span};
use crate::geometry::point_grid::PARAMETERS;

/// The weights of some pixels of a window. Dense if every pixel of the window has an index; sparse if pixels get one as
/// they are read.
#[derive(Default)]
pub struct Scratch {
    window: [Range<usize>; 2],
    pub weights: Vec<Real>,
    /// The slopes of each index, if they are wanted.
    pub slopes: Vec<[Real; PARAMETERS]>,
    /// If dense: the columns of each row from the first to the last that was read.
    read: Vec<Range<usize>>,
    /// If sparse: the index of each pixel that was read.
    indices: Option<BTreeMap<[usize; 2], usize>>,
    has_slopes: bool,
}

/// A window is sparse if it has more pixels than this for each sample: dense, a window of 16,384 x 16,384 pixels takes
/// 1 GiB, even for two samples.
const SPARSE: usize = 256;

impl Scratch {
    /// Clears everything for `samples` samples in a window. Returns false if it has no pixel.
    pub fn open(&mut self, window: [Range<usize>; 2], samples: usize, has_slopes: bool) -> bool {
        let area = pixel_count(&window);
        let is_sparse = area > SPARSE.saturating_mul(samples);
        let dense = if is_sparse { 0 } else { area };
        self.weights.clear();
        self.weights.resize(dense, 0.0);
        self.slopes.clear();
        self.slopes
            .resize(if has_slopes { dense } else { 0 }, [0.0; PARAMETERS]);
        self.read.clear();
        self.read.resize(if is_sparse { 0 } else { window[0].len() }, 0..0);
        self.indices = is_sparse.then(BTreeMap::new);
        self.has_slopes = has_slopes;
        self.window = window;
        area > 0
    }

    /// The index of a pixel that is read.
    pub fn index(&mut self, row: usize, column: usize) -> usize {
        if let Some(indices) = &mut self.indices {
            let next = self.weights.len();
            let index = *indices.entry([row, column]).or_insert(next);
            if index == next {
                self.weights.push(0.0);
                self.slopes.extend(self.has_slopes.then_some([0.0; PARAMETERS]));
            }
            return index;
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

    /// Appends the spans that were read to a plan, row by row, with their weights divided.
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
        for (&[row, column], &index) in self.indices.iter().flatten() {
            match (last, plan.spans.last_mut()) {
                (Some(before), Some(span)) if before == [row, column.wrapping_sub(1)] => span.count += 1,
                _ => plan.spans.push(Span {
                    row: row as u32,
                    column: column as u32,
                    count: 1,
                }),
            }
            last = Some([row, column]);
            self.write_weights(index..index + 1, divisor, plan);
        }
    }

    fn write_weights(&self, indices: Range<usize>, divisor: Real, plan: &mut PointWeights<Real>) {
        let weights = self.weights[indices.clone()].iter();
        plan.weights.extend(weights.map(|weight| weight / divisor));
        if self.has_slopes {
            let slopes = self.slopes[indices].iter();
            plan.slopes
                .extend(slopes.map(|slopes| slopes.map(|slope| slope / divisor)));
        }
    }
}
