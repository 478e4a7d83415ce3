//! The average over samples: a row of the output is a weighted sum of the window's rows, and an element
//! of it a weighted sum of that.

use std::ops::Range;

use super::engine::Kernel;
use super::number::Sum;
use super::rows::{add, weighted_sum};
use super::tile::Rows;
use crate::backend::host::Region;
use crate::geometry::convention::RegionSamples;
use crate::geometry::plan::{Coordinate, Weights};

/// The average over samples.
pub struct Average<S: Coordinate> {
    output_size: [usize; 2],
    map: [usize; 2],
    rules: [S::AxisRule; 2],
    outside: S,
}

/// A region's weights.
#[derive(Default)]
pub struct Plan<S> {
    y: Weights<S>,
    x: Weights<S>,
}

impl<S: Sum> Average<S> {
    pub fn new(sampling: &RegionSamples, map: [usize; 2]) -> Self {
        Self {
            output_size: sampling.output_size,
            map,
            rules: [S::axis_rule(&sampling.y), S::axis_rule(&sampling.x)],
            outside: S::from_f64(sampling.out_of_bounds_value),
        }
    }
}

impl<S: Sum> Kernel<S> for Average<S> {
    type Plan = Plan<S>;

    fn outside(&self) -> S {
        self.outside
    }

    fn size_of_plan(&self) -> usize {
        let [rows, columns] = self.output_size;
        let [height, width] = self.map;
        4 * (rows + columns) + height + width
    }

    fn plan(&self, region: &Region<S>) -> Plan<S> {
        let mut plan = Plan::default();
        let [rows, columns] = self.output_size;
        let [height, width] = self.map;
        S::weigh(&self.rules[0], region.y, rows, height, &mut plan.y);
        S::weigh(&self.rules[1], region.x, columns, width, &mut plan.x);
        plan
    }

    fn window(&self, plan: &Plan<S>) -> [Range<usize>; 2] {
        [plan.y.window(), plan.x.window()]
    }

    #[inline(always)]
    fn compute<const L: usize>(
        &self,
        plan: &Plan<S>,
        columns: Range<usize>,
        rows: &impl Rows<S, L>,
        along_y: &mut [[S; L]],
        output: &mut [[S; L]],
    ) {
        let zero = S::default();
        let width = plan.x.pixels.len();
        for (output, (pixels, weights, &share_y)) in
            output.chunks_exact_mut(width).zip(plan.y.elements())
        {
            weighted_sum(along_y, weights, |offset| {
                rows.row(pixels.start + offset, columns.clone())
            });
            for (output, (pixels, weights, &share_x)) in output.iter_mut().zip(plan.x.elements()) {
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
