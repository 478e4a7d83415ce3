//! The maximum over samples: each sample of y gives a row of the window, each sample of x a number.

use std::ops::Range;

use super::engine::Kernel;
use super::number::Sum;
use super::rows::{add, keep_larger, weighted_sum};
use super::tile::Rows;
use crate::backend::host::Region;
use crate::geometry::axes::Axes;
use crate::geometry::convention::{Reduction, RegionSamples, Sampling};
use crate::geometry::plan::{Coordinate, Samples};

/// The maximum over samples.
pub struct Maximum<S: Coordinate> {
    axes: Axes<S::AxisRule>,
    /// The least number of samples of an element.
    samples: usize,
    /// Whether the pixels of a sample count one by one.
    apart: bool,
    /// Where a maximum starts.
    least: S,
    outside: S,
}

impl<S: Sum> Maximum<S> {
    pub fn new(sampling: &RegionSamples, map: [usize; 2]) -> Self {
        let least = match sampling.reduction {
            Reduction::MaxFromZero => S::default(),
            _ => S::LEAST,
        };
        Self {
            axes: Axes {
                rules: [S::axis_rule(&sampling.y), S::axis_rule(&sampling.x)],
                output_size: sampling.output_size,
                map,
            },
            samples: match sampling.y.sampling {
                Sampling::Fixed(samples) => samples,
                Sampling::Adaptive => 0,
                Sampling::Clamped { minimum, .. } => minimum,
            },
            apart: sampling.reduction == Reduction::MaxOfWeightedCorners,
            least,
            outside: S::from_f64(sampling.outside()),
        }
    }
}

impl<S: Sum> Kernel<S> for Maximum<S> {
    type Plan = [Samples<S>; 2];

    fn outside(&self) -> S {
        self.outside
    }

    fn size_of_plan(&self) -> usize {
        let [rows, columns] = self.axes.output_size;
        let [height, width] = self.axes.map;
        // An adaptive number of samples is at most two a pixel; four numbers are a sample.
        let samples = (rows + columns) * (self.samples + 1) + 2 * (height + width);
        if self.apart { 8 * samples } else { 4 * samples }
    }

    fn plan(&self, region: &Region<S>) -> [Samples<S>; 2] {
        let ends = [region.y, region.x];
        self.axes.plan(ends, |rule, ends, elements, size, plan| {
            S::sample(rule, ends, elements, size, self.apart, plan)
        })
    }

    fn window(&self, plan: &[Samples<S>; 2]) -> [Range<usize>; 2] {
        plan.each_ref().map(Samples::window)
    }

    #[inline(always)]
    fn compute<const L: usize>(
        &self,
        [y, x]: &[Samples<S>; 2],
        output_rows: Range<usize>,
        columns: Range<usize>,
        rows: &impl Rows<S, L>,
        along_y: &mut [[S; L]],
        output: &mut [[S; L]],
    ) {
        let width = x.samples.len();
        let elements_y = y.elements().skip(output_rows.start);
        for (output, (samples_y, complete_y)) in output.chunks_exact_mut(width).zip(elements_y) {
            output.fill([self.least; L]);
            for taps in samples_y {
                let pair = [taps.low, taps.high];
                weighted_sum(along_y, &[taps.low_weight, taps.high_weight], |tap| {
                    rows.row(pair[tap], columns.clone())
                });
                for (maximum, (samples_x, _)) in output.iter_mut().zip(x.elements()) {
                    for taps in samples_x {
                        let mut sample = [S::default(); L];
                        add(&mut sample, taps.low_weight, &along_y[taps.low - columns.start]);
                        add(&mut sample, taps.high_weight, &along_y[taps.high - columns.start]);
                        keep_larger(maximum, &sample);
                    }
                }
            }
            for (maximum, (samples_x, complete_x)) in output.iter_mut().zip(x.elements()) {
                if samples_y.is_empty() || samples_x.is_empty() {
                    *maximum = [self.outside; L];
                } else if !(complete_y && complete_x) {
                    keep_larger(maximum, &[self.outside; L]);
                }
            }
        }
    }
}
