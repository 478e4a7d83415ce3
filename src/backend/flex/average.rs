//! The average over samples: a row of the output is a weighted sum of the window's rows, and an element
//! of it a weighted sum of that.

use std::ops::Range;

use super::engine::Kernel;
use super::number::Sum;
use super::rows::{add, weighted_sum};
use super::tile::Rows;
use crate::backend::host::Region;
use crate::geometry::axes::Axes;
use crate::geometry::convention::RegionSamples;
use crate::geometry::plan::{Coordinate, Weights};

/// The average over samples.
pub struct Average<S: Coordinate> {
    axes: Axes<S::AxisRule>,
    outside: S,
}

impl<S: Sum> Average<S> {
    pub fn new(sampling: &RegionSamples, map: [usize; 2]) -> Self {
        Self {
            axes: Axes {
                rules: [S::axis_rule(&sampling.y), S::axis_rule(&sampling.x)],
                output_size: sampling.output_size,
                map,
            },
            outside: S::from_f64(sampling.outside()),
        }
    }
}

impl<S: Sum> Kernel<S> for Average<S> {
    type Plan = [Weights<S>; 2];

    fn outside(&self) -> S {
        self.outside
    }

    fn size_of_plan(&self) -> usize {
        let [rows, columns] = self.axes.output_size;
        let [height, width] = self.axes.map;
        4 * (rows + columns) + height + width
    }

    fn plan(&self, region: &Region<S>) -> [Weights<S>; 2] {
        self.axes.plan([region.y, region.x], S::weigh)
    }

    fn window(&self, plan: &[Weights<S>; 2]) -> [Range<usize>; 2] {
        plan.each_ref().map(Weights::window)
    }

    #[inline(always)]
    fn compute<const L: usize>(
        &self,
        [y, x]: &[Weights<S>; 2],
        output_rows: Range<usize>,
        columns: Range<usize>,
        rows: &impl Rows<S, L>,
        along_y: &mut [[S; L]],
        output: &mut [[S; L]],
    ) {
        let zero = S::default();
        let width = x.pixels.len();
        for (output, (pixels, weights, &share_y)) in
            output.chunks_exact_mut(width).zip(y.elements().skip(output_rows.start))
        {
            weighted_sum(along_y, weights, |offset| {
                rows.row(pixels.start + offset, columns.clone())
            });
            for (output, (pixels, weights, &share_x)) in output.iter_mut().zip(x.elements()) {
                let mut total = [zero; L];
                if !pixels.is_empty() {
                    let pixels = pixels.start - columns.start..pixels.end - columns.start;
                    for (&weight, pixel) in weights.iter().zip(&along_y[pixels]) {
                        add(&mut total, weight, pixel);
                    }
                }
                if self.outside != zero {
                    let share = self.outside * (S::ONE - share_y * share_x);
                    total.iter_mut().for_each(|total| *total += share);
                }
                *output = total;
            }
        }
    }
}
