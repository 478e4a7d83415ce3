//! Maxima of quantized bins: a bin's rows first, then its columns.

use std::ops::Range;

use super::engine::Kernel;
use super::number::Sum;
use super::rows::{keep_larger, maxima};
use super::tile::Rows;
use crate::backend::host::Region;
use crate::geometry::axes::Axes;
use crate::geometry::convention::RegionBins;
use crate::geometry::plan::{Coordinate, hull};

/// Maxima of quantized bins.
pub struct Bins<S: Coordinate> {
    axes: Axes<S::BinRule>,
}

impl<S: Sum> Bins<S> {
    pub fn new(bins: &RegionBins, map: [usize; 2]) -> Self {
        Self {
            axes: Axes {
                rules: S::bin_rules(bins),
                output_size: bins.output_size,
                map,
            },
        }
    }
}

impl<S: Sum> Kernel<S> for Bins<S> {
    type Plan = [Vec<Range<usize>>; 2];

    fn outside(&self) -> S {
        S::default()
    }

    fn size_of_plan(&self) -> usize {
        let [rows, columns] = self.axes.output_size;
        2 * (rows + columns)
    }

    fn plan(&self, region: &Region<S>) -> [Vec<Range<usize>>; 2] {
        self.axes.plan([region.y, region.x], S::bin)
    }

    fn window(&self, plan: &[Vec<Range<usize>>; 2]) -> [Range<usize>; 2] {
        plan.each_ref().map(|bins| hull(bins.iter().cloned()))
    }

    #[inline(always)]
    fn compute<const L: usize>(
        &self,
        [y, x]: &[Vec<Range<usize>>; 2],
        output_rows: Range<usize>,
        columns: Range<usize>,
        rows: &impl Rows<S, L>,
        along_y: &mut [[S; L]],
        output: &mut [[S; L]],
    ) {
        for (output, bin_y) in output.chunks_exact_mut(x.len()).zip(&y[output_rows]) {
            maxima(along_y, bin_y.clone(), |row| rows.row(row, columns.clone()));
            for (output, bin_x) in output.iter_mut().zip(x) {
                let mut maximum = [S::LEAST; L];
                if bin_x.is_empty() || bin_y.is_empty() {
                    maximum = [S::default(); L];
                } else {
                    let pixels = bin_x.start - columns.start..bin_x.end - columns.start;
                    for pixel in &along_y[pixels] {
                        keep_larger(&mut maximum, pixel);
                    }
                }
                *output = maximum;
            }
        }
    }
}
